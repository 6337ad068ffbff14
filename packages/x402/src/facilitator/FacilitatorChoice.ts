import type { GasTransactionStore } from "@agentos/core"
import { Effect, type Scope } from "effect"
import type { OfferedNetwork } from "../PaymentNetwork.ts"
import type { Facilitator } from "./Facilitator.ts"
import * as FacilitatorHttp from "./FacilitatorHttp.ts"
import * as FacilitatorOkx from "./FacilitatorOkx.ts"

/** Makes the facilitator that a network is configured with. Its background work ends with the scope. */
export const make = Effect.fnUntraced(function* (
  offered: OfferedNetwork
): Effect.fn.Return<Facilitator, never, GasTransactionStore | Scope.Scope> {
  const config = offered.config.facilitator
  switch (config.kind) {
    case "self": {
      // It takes longer to load than all the rest of this package, and most servers do not need it.
      const FacilitatorSelf = yield* Effect.promise(() => import("./FacilitatorSelf.ts"))
      return yield* FacilitatorSelf.make(offered, config)
    }
    case "okx":
      return FacilitatorOkx.make(config)
    default:
      return FacilitatorHttp.make(config)
  }
})
