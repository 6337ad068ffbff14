import { Effect, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** Rows left behind by updates that a table may hold, beside a tenth of those that are in it, before they are cleared away. */
const LEFT_BEHIND = 10_000
const LOOK_EVERY = "1 minute"

/**
 * Does what autovacuum does on a server, which an embedded database has no process
 * for: without it, who looks for a tenant's open events would step over every one
 * that there ever was. It takes about a second per 100,000 rows, in which
 * nothing else happens, so it waits until that has become worth it.
 */
export const vacuumWhenDue = (sql: SqlClient.SqlClient): Effect.Effect<never> =>
  vacuum(sql).pipe(
    Effect.catch((error) => Effect.logWarning("the embedded database was not cleared up", error)),
    Effect.andThen(Effect.sleep(LOOK_EVERY)),
    Effect.repeat(Schedule.forever),
    Effect.andThen(Effect.never)
  )

/** Clears away what was left behind in each table where it has become much. */
export const vacuum = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  leftBehind = LEFT_BEHIND
): Effect.fn.Return<ReadonlyArray<string>, SqlError.SqlError> {
  const due = yield* sql<{ readonly relname: string }>`
    select relname from pg_stat_user_tables where n_dead_tup > ${leftBehind} + n_live_tup / 10 order by relname`
  for (const { relname } of due) yield* sql`vacuum ${sql(relname)}`
  return due.map(({ relname }) => relname)
})
