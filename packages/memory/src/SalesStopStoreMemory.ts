import { SalesStopStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Stopped sales in memory. */
export const layer = Layer.effect(
  SalesStopStore,
  Effect.map(MemoryDatabase, ({ run, tables: { salesStops } }) =>
    SalesStopStore.of({
      // Transactions run one after the other.
      lock: Effect.void,
      list: run(() => salesStops.rows().toSorted((a, b) => (a.scope < b.scope ? -1 : 1))),
      put: (stop) =>
        run(() => {
          salesStops.set(stop.scope, { ...stop, at: salesStops.get(stop.scope)?.at ?? stop.at })
        }),
      remove: (scope) =>
        run(() => {
          const stopped = salesStops.has(scope)
          salesStops.delete(scope)
          return stopped
        })
    })
  )
)
