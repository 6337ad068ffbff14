import { Context, type Effect } from "effect"
import type { SalesScope, SalesStop } from "./SalesStop.ts"

/** The port that stores which sales the operator has stopped. */
export class SalesStopStore extends Context.Service<
  SalesStopStore,
  {
    /** Returns the stops in ascending order of their service. */
    readonly list: Effect.Effect<ReadonlyArray<SalesStop>>
    /** Stores a stop. Of one that exists for the service, only the reason changes. */
    readonly put: (stop: SalesStop) => Effect.Effect<void>
    /** Removes the stop of the service. Returns false if there was none. */
    readonly remove: (service: SalesScope) => Effect.Effect<boolean>
  }
>()("@agentos/core/payment/SalesStopStore") {}
