import { EventSignal } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Wake-ups from the event store of the same database, after each commit. */
export const layer = Layer.effect(
  EventSignal,
  Effect.map(MemoryDatabase, ({ listeners }) =>
    EventSignal.of({
      listen: (wake) =>
        Effect.acquireRelease(
          Effect.sync(() => void listeners.add(wake)),
          () => Effect.sync(() => void listeners.delete(wake))
        )
    })
  )
)
