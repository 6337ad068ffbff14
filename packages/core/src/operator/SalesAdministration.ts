import { Context, Effect, Layer } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { Sales } from "../payment/Sales.ts"
import type { SalesScope, SalesStop } from "../payment/SalesStop.ts"
import { SalesStopStore } from "../payment/SalesStopStore.ts"
import { recordChange } from "./Audit.ts"

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
      const { transact } = yield* Transactor
      const list = Effect.map(store.list, (stops) =>
        stops.map(({ at, reason, service }): SalesStopReport => ({ service, at: Timestamp.toIso(at), reason }))
      )

      /** Commits a change with its record, and applies it to this server. */
      const change = <A>(changing: Effect.Effect<A>) =>
        transact(
          Effect.gen(function* () {
            const before = yield* list
            const changed = yield* changing
            const stops = yield* list
            yield* recordChange(before, stops)
            return { changed, stops }
          })
        ).pipe(Effect.tap(() => sales.forget))

      return SalesAdministration.of({
        list,
        stop: Effect.fnUntraced(function* (service, reason) {
          const { stops } = yield* change(store.put({ service, reason, at: yield* Timestamp.now }))
          yield* Effect.logWarning(`sale of ${nameOf(service)} stopped by the operator: ${reason}`)
          return stops
        }),
        start: Effect.fnUntraced(function* (service) {
          const { changed: started, stops } = yield* change(store.remove(service))
          if (started) yield* Effect.logWarning(`sale of ${nameOf(service)} started by the operator`)
          return { started, stops }
        })
      })
    })
  )
}

const nameOf = (service: SalesScope): string => (service === "all" ? "all services" : service)
