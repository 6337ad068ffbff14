import { Context, Effect, Layer } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Sales } from "../payment/Sales.ts"
import type { SalesScope, SalesStop } from "../payment/SalesStop.ts"
import { SalesStopStore } from "../payment/SalesStopStore.ts"

/** A stop for the operator, in its wire format. */
export interface SalesStopReport extends Omit<SalesStop, "at"> {
  /** Start of the stop, in ISO 8601. */
  readonly at: string
}

/** The operator's control of sales. */
export class SalesAdministration extends Context.Service<
  SalesAdministration,
  {
    /** Returns the stops that are in force: none if everything is on sale. */
    readonly list: Effect.Effect<ReadonlyArray<SalesStopReport>>
    /**
     * Stops the sale of a service, or of all: every server refuses new purchases within 5 s, this one at once. Operations
     * that are claimed continue. A repeated call changes the reason.
     */
    readonly stop: (service: SalesScope, reason: string) => Effect.Effect<ReadonlyArray<SalesStopReport>>
    /**
     * Ends the stop of a service, or that of all services; stops of single services stay. `started` is false if there was
     * no such stop.
     */
    readonly start: (
      service: SalesScope
    ) => Effect.Effect<{ readonly started: boolean; readonly stops: ReadonlyArray<SalesStopReport> }>
  }
>()("@agentos/core/operator/SalesAdministration") {
  static readonly layer = Layer.effect(
    SalesAdministration,
    Effect.gen(function* () {
      const store = yield* SalesStopStore
      const sales = yield* Sales
      const list = Effect.map(store.list, (stops) =>
        stops.map(({ at, reason, service }): SalesStopReport => ({ service, at: Timestamp.toIso(at), reason }))
      )

      return SalesAdministration.of({
        list,
        stop: Effect.fnUntraced(function* (service, reason) {
          yield* store.put({ service, reason, at: yield* Timestamp.now })
          yield* sales.forget
          yield* Effect.logWarning(`sale of ${nameOf(service)} stopped by the operator: ${reason}`)
          return yield* list
        }),
        start: Effect.fnUntraced(function* (service) {
          const started = yield* store.remove(service)
          yield* sales.forget
          if (started) yield* Effect.logWarning(`sale of ${nameOf(service)} started by the operator`)
          return { started, stops: yield* list }
        })
      })
    })
  )
}

const nameOf = (service: SalesScope): string => (service === "all" ? "all services" : service)
