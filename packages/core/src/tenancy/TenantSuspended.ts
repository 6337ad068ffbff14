import { Effect, Option, Schema } from "effect"
import { countRefusal } from "../limits/Refusals.ts"
import type { Tenant, TenantId } from "./Tenant.ts"
import type { TenantStore } from "./TenantStore.ts"

/** The operator has suspended the tenant: it can read, and do nothing else. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", {
  reason: Schema.String
}) {}

/** Fails for a suspended tenant. */
export const requireActive = ({ suspension }: Tenant): Effect.Effect<void, TenantSuspended> =>
  suspension === undefined
    ? Effect.void
    : Effect.andThen(countRefusal("tenant_suspended"), new TenantSuspended({ reason: suspension.reason }))

/** Whether the tenant is suspended at this moment; where it matters under its lock. Counts a refusal if it is. */
export const isSuspended = Effect.fnUntraced(function* (tenants: TenantStore["Service"], tenantId: TenantId) {
  const tenant = yield* tenants.find(tenantId)
  const suspended = Option.exists(tenant, ({ suspension }) => suspension !== undefined)
  if (suspended) yield* countRefusal("tenant_suspended")
  return suspended
})
