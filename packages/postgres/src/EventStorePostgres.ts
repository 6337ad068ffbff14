import { EventStore } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { Database } from "./Database.ts"
import { makeAcknowledging } from "./event/EventAcknowledging.ts"
import { makeAppend } from "./event/EventAppending.ts"
import { type EventDatabase, makeEventDatabase } from "./event/EventDatabase.ts"
import { makeDelivery } from "./event/EventDelivery.ts"
import { makeEnding } from "./event/EventEnding.ts"
import { makeLeasing } from "./event/EventLeasing.ts"
import { makeReading } from "./event/EventReading.ts"

const makeStatements = (database: EventDatabase) => ({
  append: makeAppend(database),
  ...makeReading(database),
  ...makeLeasing(database),
  ...makeDelivery(database),
  ...makeAcknowledging(database),
  ...makeEnding(database)
})
type Statements = ReturnType<typeof makeStatements>

/**
 * Events on SQL. Reads `EventPolicy` when it is built.
 *
 * Each method is one statement, but for `acknowledgeAll` (which waits for what is being appended
 * first) and where there is more of the past to write down than one statement should. Calls of
 * `append` that overlap share one.
 * Events are locked in the order of tenant, createdAt and eventId everywhere, so
 * that no two statements wait for each other.
 */
export const layer: Layer.Layer<EventStore, never, Database> = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const database = yield* makeEventDatabase
    const { delivery, sql } = yield* Database
    const statements = makeStatements(database)
    const delivering = makeStatements({ ...database, sql: delivery })
    /** By the connections for it, unless it is to be part of the caller's transaction. */
    const deliver = <A>(run: (statements: Statements) => Effect.Effect<A>): Effect.Effect<A> =>
      Effect.flatMap(Effect.serviceOption(sql.transactionService), (open) =>
        run(Option.isSome(open) ? statements : delivering)
      )
    return EventStore.of({
      ...statements,
      latestEach: (tenantIds) => deliver((on) => on.latestEach(tenantIds)),
      countReplayableEach: (tenantIds, limit) => deliver((on) => on.countReplayableEach(tenantIds, limit)),
      leaseEach: (requests) => deliver((on) => on.leaseEach(requests)),
      renew: (sessionIds) => deliver((on) => on.renew(sessionIds)),
      acknowledgeEach: (acknowledgements) => deliver((on) => on.acknowledgeEach(acknowledgements))
    })
  })
)
