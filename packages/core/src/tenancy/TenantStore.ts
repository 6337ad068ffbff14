import { Context, Effect, Option } from "effect"
import type { Tenant, TenantId, TenantSuspension, WalletAddress } from "./Tenant.ts"

/** The port that keeps tenants. */
export class TenantStore extends Context.Service<
  TenantStore,
  {
    /**
     * The tenant of `candidate.wallet`: the one that exists, or `candidate` made
     * so. Two callers at once get the same one. Locks the tenant as `lock` does,
     * so it is called inside a transaction.
     */
    readonly ensure: (candidate: Tenant) => Effect.Effect<Tenant>
    readonly find: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** The token versions of tenants; one that does not exist or is suspended is left out. */
    readonly findTokenVersions: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<ReadonlyMap<TenantId, number>>
    readonly findByWallet: (wallet: WalletAddress) => Effect.Effect<Option.Option<Tenant>>
    /**
     * Locks tenants (in ascending order, whatever the order given) until the
     * transaction ends. Whoever changes what a tenant owns holds this lock first.
     */
    readonly lock: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<void>
    /** Makes every credential of the tenant invalid; gives the tenant as it is then. */
    readonly revokeTokens: (tenantId: TenantId) => Effect.Effect<Option.Option<Tenant>>
    /** Suspends the tenant, or with null ends its suspension; returns the tenant as it is then. */
    readonly setSuspension: (
      tenantId: TenantId,
      suspension: TenantSuspension | null
    ) => Effect.Effect<Option.Option<Tenant>>
  }
>()("@agentos/core/tenancy/TenantStore") {}
