import { Context, Effect } from "effect"
import { Database } from "./Database.ts"
import * as Parameter from "./Parameter.ts"

/**
 * Returns how many milliseconds the stores' clock is ahead of the database's; called before each statement. The
 * offset is 0, unless a test moves time. It moves every moment that a store takes from its own clock: leases,
 * expiry, createdAt of events, updatedAt of operations.
 */
export const ClockOffset = Context.Reference<() => number>("@agentos/postgres/ClockOffset", {
  defaultValue: () => () => 0
})

/**
 * Fragments of statements that read the stores' clock. `now` is the moment of its evaluation. `clock` begins a
 * statement with a table whose one row holds the moment `now`, so that all of the statement uses one moment. It is
 * read as `(select now from clock)`, which is evaluated once and keeps the order of an index; a join would not.
 */
export const storeClock = Effect.gen(function* () {
  const { sql } = yield* Database
  const offset = yield* ClockOffset
  const now = () => sql`(epoch_millis() + ${Parameter.integer(offset())})`
  return { now, clock: () => sql`clock as materialized (select ${now()} as now)` }
})
