import { Context, type Effect } from "effect"
import type { TenantId, WalletAddress } from "../tenancy/Tenant.ts"

/** The counts of a tenant. */
export interface TenantContents {
  readonly mailboxes: number
  readonly messages: number
  readonly events: number
  readonly calls: number
  readonly numbers: number
  readonly operations: number
}

/** The work that must end before a tenant can be erased. */
export interface ErasureObstacles {
  readonly openOperations: number
  /** Numbers that the carrier has not released, and calls that have not ended. */
  readonly numbers: number
  readonly liveCalls: number
  /** Mails that were accepted for its mailboxes, and are not delivered. */
  readonly waitingMails: number
}

/** The port that erases the content and the personal data of a tenant. */
export class TenantErasureStore extends Context.Service<
  TenantErasureStore,
  {
    readonly countContents: (tenantId: TenantId) => Effect.Effect<TenantContents>
    readonly findObstacles: (tenantId: TenantId) => Effect.Effect<ErasureObstacles>
    /**
     * Erases up to `limit` rows of each kind, and returns how many in all: 0 once nothing is left. Call it in a transaction that
     * holds the tenant's lock, if nothing prevents the erasure.
     *
     * What stays is the tenant with its wallet, and of each operation the service, the state, the amount, the token, the nonces,
     * the transactions and the times: what the ledger is compared with. No one else gets the addresses of its mailboxes. Mail that other tenants also received stays with them.
     */
    readonly erase: (
      tenant: { readonly tenantId: TenantId; readonly wallet: WalletAddress },
      limit: number
    ) => Effect.Effect<number>
  }
>()("@agentos/core/operator/TenantErasureStore") {}
