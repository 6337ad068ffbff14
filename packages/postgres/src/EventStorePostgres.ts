import { EventStore } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { Database } from "./Database.ts"
import { makeAcknowledging } from "./event/EventAcknowledging.ts"
import { makeAppend } from "./event/EventAppending.ts"
import { type EventDatabase, makeEventDatabase, withoutFlush } from "./event/EventDatabase.ts"
import { makeEnding } from "./event/EventEnding.ts"
import { makeLeasing } from "./event/EventLeasing.ts"
import { makeReading } from "./event/EventReading.ts"

const makeStatements = (database: EventDatabase) => ({
  append: makeAppend(database),
  ...makeReading(database),
  ...makeLeasing(database),
  ...makeAcknowledging(database),
  ...makeEnding(database)
})
type Statements = ReturnType<typeof makeStatements>

/**
 * The event store on SQL. Reads `EventPolicy` when it is built.
 *
 * Each method is one statement, with two exceptions: `acknowledgeAll` first waits for appends in progress, and
 * large backlogs of expired events are updated in several statements. Overlapping calls of `append` share a
 * statement. Events are always locked in the order of tenant, createdAt and eventId, so that no two statements
 * deadlock.
 */
export const layer: Layer.Layer<EventStore, never, Database> = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const database = yield* makeEventDatabase
    const { delivery, sql } = yield* Database
    const statements = makeStatements(database)
    const onDelivery = { ...database, sql: delivery }
    // A lease that a crash of the database undoes is only given again, and the acknowledgement of its event makes it durable.
    const delivering: Statements = { ...makeStatements(onDelivery), ...makeLeasing(withoutFlush(onDelivery)) }
    /** Runs on the delivery connections, unless the caller has an open transaction. */
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
