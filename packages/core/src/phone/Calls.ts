import { Context, Effect, Layer } from "effect"
import type { ResourceNotFound, ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import type { Call } from "./Call.ts"
import { CallStore } from "./CallStore.ts"
import { ownedCall } from "./OwnedCall.ts"
import type { Turn } from "./Transcript.ts"

/** The read access of a tenant to its calls. All of it is free. */
export class Calls extends Context.Service<
  Calls,
  {
    readonly get: (tenant: Tenant, callId: string) => Effect.Effect<Call, ResourceNotFound | ResourceNotOwned>
    /** Returns the call and its transcript so far. */
    readonly transcript: (
      tenant: Tenant,
      callId: string
    ) => Effect.Effect<
      { readonly call: Call; readonly turns: ReadonlyArray<Turn> },
      ResourceNotFound | ResourceNotOwned
    >
  }
>()("@agentos/core/phone/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const calls = yield* CallStore
      return Calls.of({
        get: (tenant, callId) => ownedCall(calls, tenant, callId),
        transcript: Effect.fnUntraced(function* (tenant, callId) {
          const call = yield* ownedCall(calls, tenant, callId)
          return { call, turns: yield* calls.turns(callId) }
        })
      })
    })
  )
}
