import { EventStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import type { Database } from "./Database.ts"
import { makeAcknowledging } from "./event/EventAcknowledging.ts"
import { makeAppend } from "./event/EventAppending.ts"
import { makeEventDatabase } from "./event/EventDatabase.ts"
import { makeDelivery } from "./event/EventDelivery.ts"
import { makeLeasing } from "./event/EventLeasing.ts"
import { makeReading } from "./event/EventReading.ts"

/**
 * Events on SQL. Reads `EventPolicy` when it is built.
 *
 * Each method is one statement, but for `append` (which locks, then stores) and
 * where there is more of the past to write down than one statement should.
 * Events are locked in the order of tenant, createdAt and eventId everywhere, so
 * that no two statements wait for each other.
 */
export const layer: Layer.Layer<EventStore, never, Database> = Layer.effect(
  EventStore,
  Effect.map(makeEventDatabase, (database) =>
    EventStore.of({
      append: makeAppend(database),
      ...makeReading(database),
      ...makeLeasing(database),
      ...makeDelivery(database),
      ...makeAcknowledging(database)
    })
  )
)
