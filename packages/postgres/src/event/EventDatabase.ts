import { EventPolicy } from "@agentos/core"
import { Effect } from "effect"
import { storeClock } from "../ClockOffset.ts"
import { Database } from "../Database.ts"

/** The services that all statements on events use. */
export const makeEventDatabase = Effect.gen(function* () {
  return { ...(yield* Database), ...(yield* storeClock), policy: yield* EventPolicy }
})

export type EventDatabase = Effect.Success<typeof makeEventDatabase>

/**
 * The same for statements that do not wait until their commit is on disk, each alone in its transaction. If the database crashes in
 * the next moments, they have not happened. A later commit that waits makes them durable.
 */
export const withoutFlush = (database: EventDatabase): EventDatabase => {
  const { now, sql } = database
  const clock = () => sql`clock as materialized (select ${now()} as now, set_config('synchronous_commit', 'off', true))`
  return { ...database, clock }
}
