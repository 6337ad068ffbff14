import { Context, Effect, Option } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Tenant, TenantId, TenantSuspension, TokenTrust, WalletAddress } from "./Tenant.ts"

export class TenantStore extends Context.Service<
  TenantStore,
  {
    /**
     * Returns the tenant of `candidate.wallet`: the existing one, or `candidate` after storing it. Concurrent callers
     * get the same one. Locks the tenant like `lock`, so it must be called inside a transaction.
     */
    readonly ensure: (candidate: Tenant) => Effect.Effect<Tenant>
    readonly find: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** Returns the token versions of tenants. Omits tenants that do not exist or are suspended. */
    readonly findTokenVersions: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<ReadonlyMap<TenantId, number>>
    readonly findByWallet: (wallet: WalletAddress) => Effect.Effect<Option.Option<Tenant>>
    /**
     * Returns up to `limit` tenants by descending id, which begins with the time of the first payment. With `matching`, those with
     * this wallet or id, a mailbox with this address or local part, or this number, unless it is released.
     */
    readonly list: (query: {
      readonly matching?: string | undefined
      /** Only tenants that are older than the one with this id. */
      readonly before?: string | undefined
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Tenant>>
    /**
     * Locks tenants, in ascending order for any given order, until the transaction ends. Every change to a tenant's
     * resources must take this lock first. Returns those that exist, as they are under the lock, in that order.
     */
    readonly lock: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<ReadonlyArray<Tenant>>
    /** Revokes every credential of the tenant. Returns the updated tenant. */
    readonly revokeTokens: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** Sets whether the wallet is known to hold the current access token. Returns the updated tenant. */
    readonly setTokenTrust: (tenantId: TenantId, trust: TokenTrust) => Effect.Effect<Option.Option<Tenant>>
    /**
     * Records that the tenant's wallet used the sign-in message with this nonce. Returns false if it was used before.
     * Concurrent callers with one message: one of them gets true, unless its transaction is rolled back.
     */
    readonly useSignIn: (signIn: {
      readonly tenantId: TenantId
      readonly nonce: string
      readonly expiresAt: Timestamp
    }) => Effect.Effect<boolean>
    /**
     * Deletes up to `limit` records of sign-in messages that expired at least `age` milliseconds ago. Returns how many.
     */
    readonly deleteSignIns: (age: number, limit: number) => Effect.Effect<number>
    /** Suspends the tenant, or ends its suspension if null. Returns the updated tenant. */
    readonly setSuspension: (
      tenantId: TenantId,
      suspension: TenantSuspension | null
    ) => Effect.Effect<Option.Option<Tenant>>
  }
>()("@agentos/core/tenancy/TenantStore") {}
