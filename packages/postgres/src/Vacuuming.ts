import { Effect, Schedule } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A table is vacuumed when its dead rows exceed this number plus a tenth of its live rows. */
const LEFT_BEHIND = 10_000
const LOOK_EVERY = "1 minute"

/** Bytes of write-ahead log after which a checkpoint lets the database delete or reuse its files. */
const LOG_BYTES = 64 * 1024 * 1024

/**
 * Replaces autovacuum, for which an embedded database has no process. Without it, a search for a tenant's open
 * events would step over all the events that the tenant ever had. It takes about a second per 100,000 rows and
 * blocks the database meanwhile, so it runs only when a table has many dead rows.
 */
export const vacuumWhenDue = (sql: SqlClient.SqlClient): Effect.Effect<never> =>
  Effect.andThen(vacuum(sql), checkpoint(sql)).pipe(
    Effect.catch((error) => Effect.logWarning("vacuuming the embedded database failed; retrying", error)),
    Effect.andThen(Effect.sleep(LOOK_EVERY)),
    Effect.repeat(Schedule.forever),
    Effect.andThen(Effect.never)
  )

/** Vacuums each table that has many dead rows, and returns the names of these tables. */
export const vacuum = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  leftBehind = LEFT_BEHIND
): Effect.fn.Return<ReadonlyArray<string>, SqlError.SqlError> {
  const due = yield* sql<{ readonly relname: string }>`
    select relname from pg_stat_user_tables where n_dead_tup > ${leftBehind} + n_live_tup / 10 order by relname`
  for (const { relname } of due) yield* sql`vacuum ${sql(relname)}`
  return due.map(({ relname }) => relname)
})

/**
 * Replaces the checkpointer, for which an embedded database has no process either: without checkpoints its log would keep all
 * that was ever written. Returns whether a checkpoint was due.
 */
export const checkpoint = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<boolean, SqlError.SqlError> {
  const [row] = yield* sql<{ readonly due: boolean }>`
    select pg_current_wal_insert_lsn() - redo_lsn > ${LOG_BYTES} as due from pg_control_checkpoint()`
  if (row?.due !== true) return false
  yield* sql`checkpoint`
  return true
})
