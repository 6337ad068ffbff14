import { IncidentStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey } from "./Tables.ts"

/** Incidents in memory. */
export const layer = Layer.effect(
  IncidentStore,
  Effect.map(MemoryDatabase, ({ run, tables: { incidents } }) =>
    IncidentStore.of({
      list: run(() =>
        incidents
          .rows()
          .toSorted((a, b) => a.openedAt - b.openedAt || (`${a.kind} ${a.subject}` < `${b.kind} ${b.subject}` ? -1 : 1))
      ),
      put: (incident) =>
        run(() => {
          incidents.set(compositeKey(incident.kind, incident.subject), incident)
        }),
      remove: ({ kind, subject }) =>
        run(() => {
          incidents.delete(compositeKey(kind, subject))
        })
    })
  )
)
