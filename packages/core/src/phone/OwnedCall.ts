import { Effect } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import type { ResourceNotFound, ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import type { Call } from "./Call.ts"
import type { CallStore } from "./CallStore.ts"

/** Returns the tenant's own call. A paid service on a call is never offered without a tenant. */
export const ownedCall = (
  store: CallStore["Service"],
  tenant: Tenant | null,
  callId: string
): Effect.Effect<Call, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a call was called without a tenant"))
    : Effect.flatMap(store.find(tenant.tenantId, callId), (found) => orFail(found, "call", callId))
