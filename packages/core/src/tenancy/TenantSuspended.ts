import { Effect, Schema } from "effect"
import { countRefusal } from "../limits/Refusals.ts"
import type { Tenant } from "./Tenant.ts"

/** The operator has suspended the tenant. The tenant can only read. */
export class TenantSuspended extends Schema.TaggedError<TenantSuspended>()("TenantSuspended", {
  reason: Schema.String
}) {}

/** Fails for a suspended tenant. */
export const requireActive = ({ suspension }: Tenant): Effect.Effect<void, TenantSuspended> =>
  suspension === undefined
    ? Effect.void
    : Effect.andThen(countRefusal("tenant_suspended"), new TenantSuspended({ reason: suspension.reason }))

/** Returns whether the tenant exists and is suspended, and counts a refusal if so. */
export const isSuspended = (tenant: Tenant | undefined): Effect.Effect<boolean> =>
  tenant?.suspension === undefined ? Effect.succeed(false) : Effect.as(countRefusal("tenant_suspended"), true)
