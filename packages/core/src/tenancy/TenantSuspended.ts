import { Effect, Option, Schema } from "effect"
import { countRefusal } from "../limits/Refusals.ts"
import type { Tenant, TenantId } from "./Tenant.ts"
import type { TenantStore } from "./TenantStore.ts"

/** The operator has suspended the tenant. The tenant can only read. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", {
  reason: Schema.String
}) {}

/** Fails for a suspended tenant. */
export const requireActive = ({ suspension }: Tenant): Effect.Effect<void, TenantSuspended> =>
  suspension === undefined
    ? Effect.void
    : Effect.andThen(countRefusal("tenant_suspended"), new TenantSuspended({ reason: suspension.reason }))

/**
 * Returns whether the tenant is suspended now, and counts a refusal if so. Call it under the tenant's lock if needed.
 */
export const isSuspended = Effect.fnUntraced(function* (tenants: TenantStore["Service"], tenantId: TenantId) {
  const tenant = yield* tenants.find(tenantId)
  const suspended = Option.exists(tenant, ({ suspension }) => suspension !== undefined)
  if (suspended) yield* countRefusal("tenant_suspended")
  return suspended
})
