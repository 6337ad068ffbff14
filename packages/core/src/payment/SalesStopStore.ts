import { Context, type Effect } from "effect"
import type { SalesScope, SalesStop } from "./SalesStop.ts"

/** The port that stores which sales the operator has stopped. */
export class SalesStopStore extends Context.Service<
  SalesStopStore,
  {
    /** Lets one change at a time continue until its transaction ends. */
    readonly lock: Effect.Effect<void>
    /** Returns the stops in ascending order of their scope. */
    readonly list: Effect.Effect<ReadonlyArray<SalesStop>>
    /** Stores a stop. Of one that exists for the scope, only the reason changes. */
    readonly put: (stop: SalesStop) => Effect.Effect<void>
    /** Removes the stop of the scope. Returns false if there was none. */
    readonly remove: (scope: SalesScope) => Effect.Effect<boolean>
  }
>()("@agentos/core/payment/SalesStopStore") {}
