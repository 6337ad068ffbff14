import { SalesStopStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Stopped sales in memory. */
export const layer = Layer.effect(
  SalesStopStore,
  Effect.map(MemoryDatabase, ({ run, tables: { salesStops } }) =>
    SalesStopStore.of({
      list: run(() => salesStops.rows().toSorted((a, b) => (a.service < b.service ? -1 : 1))),
      put: (stop) =>
        run(() => {
          salesStops.set(stop.service, { ...stop, at: salesStops.get(stop.service)?.at ?? stop.at })
        }),
      remove: (service) =>
        run(() => {
          const stopped = salesStops.has(service)
          salesStops.delete(service)
          return stopped
        })
    })
  )
)
