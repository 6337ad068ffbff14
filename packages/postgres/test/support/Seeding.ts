import { OperationSample, StoreClock } from "@agentos/core/contract-tests"
import { Timestamp } from "@agentos/core"
import { Database } from "@agentos/postgres"
import { Effect } from "effect"

/**
 * Runs statements that fill tables, in one transaction without time limits: bulk inserts take longer than
 * requests may.
 */
export const seeding = <A, E, R>(statements: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, ({ sql }) =>
    sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 0`, statements))
  )

export const { LEASE } = OperationSample

/** Claims an operation of a new tenant with a lease of `LEASE`. */
export const claimed = OperationSample.claimed().pipe(
  Effect.provideService(StoreClock, { now: Timestamp.now, advance: () => Effect.die("the clock can't be set") })
)
