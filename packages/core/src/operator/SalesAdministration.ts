import { Context, Effect, Layer } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { Sales } from "../payment/Sales.ts"
import { isNetwork, type SalesScope, type SalesStop } from "../payment/SalesStop.ts"
import { SalesStopStore } from "../payment/SalesStopStore.ts"
import { recordChange } from "./Audit.ts"

/** A stop for the operator, in its wire format. */
export interface SalesStopReport extends Pick<SalesStop, "reason"> {
  /** A service, or `all`. Absent if payments on a network are stopped. */
  readonly service?: string
  readonly network?: string
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
     * Stops the sale of a service or of all, or payments on a network: every server refuses new purchases within 5 s, this one
     * at once. Operations that are claimed continue. A repeated call changes the reason.
     */
    readonly stop: (scope: SalesScope, reason: string) => Effect.Effect<ReadonlyArray<SalesStopReport>>
    /**
     * Ends the stop of a scope; other stops stay, also when that of all services ends. `started` is false if there was no
     * such stop.
     */
    readonly start: (
      scope: SalesScope
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
        stops.map(({ at, reason, scope }): SalesStopReport => ({
          ...(isNetwork(scope) ? { network: scope } : { service: scope }),
          at: Timestamp.toIso(at),
          reason
        }))
      )

      /** Commits a change with its record, and applies it to this server. */
      const change = <A>(changing: Effect.Effect<A>) =>
        transact(
          Effect.gen(function* () {
            yield* store.lock
            const before = yield* list
            const changed = yield* changing
            const stops = yield* list
            yield* recordChange(before, stops)
            return { changed, stops }
          })
        ).pipe(Effect.tap(() => sales.forget))

      return SalesAdministration.of({
        list,
        stop: Effect.fnUntraced(function* (scope, reason) {
          const { stops } = yield* change(store.put({ scope, reason, at: yield* Timestamp.now }))
          yield* Effect.logWarning(`${nameOf(scope)} stopped by the operator: ${reason}`)
          return stops
        }),
        start: Effect.fnUntraced(function* (scope) {
          const { changed: started, stops } = yield* change(store.remove(scope))
          if (started) yield* Effect.logWarning(`${nameOf(scope)} started by the operator`)
          return { started, stops }
        })
      })
    })
  )
}

const nameOf = (scope: SalesScope): string =>
  isNetwork(scope) ? `payments on ${scope}` : `sale of ${scope === "all" ? "all services" : scope}`
