import { Effect, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** An index on a table that may be large and is in use. */
export interface ConcurrentIndex {
  /** Never given to another index, nor is its definition ever changed. */
  readonly name: string
  /** What follows the name in `create index`. */
  readonly definition: string
}

/** Of whoever builds an index, for as long as the session lasts. Says "indexes" to whoever looks into pg_locks. */
const ADVISORY_LOCK = 0x696e6478
/** How often it is looked whether another server has built an index. */
const LOOK_EVERY = "250 millis"
/** A build that takes longer is told of: the server waits for it before it serves. */
const SAY_AFTER = "5 seconds"

/**
 * Builds the indexes that are not there, one after the other, while others read and write their tables: PostgreSQL does
 * that outside transactions, in a time that grows with the table, once all transactions are over that were open.
 *
 * Of several servers one builds, and the others wait until it has. They ask whether it has, and never wait in a
 * statement: one that waited would itself be waited for. What a server left unfinished that died is built anew.
 */
export const buildIndexes = (
  indexes: ReadonlyArray<ConcurrentIndex>
): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.forEach(
    indexes,
    (index) => Effect.repeat(build(index), { until: (isBuilt) => isBuilt, schedule: Schedule.spaced(LOOK_EVERY) }),
    { discard: true }
  )

/** Builds an index unless another server is building one; answers whether it is there. */
const build = ({ definition, name }: ConcurrentIndex) =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connection = yield* sql.reserve
      const run = (statement: string) => connection.executeUnprepared(statement, [], undefined)
      const isTrue = (statement: string) =>
        Effect.map(run(`select (${statement}) as answer`), ([row]) => row?.answer === true)
      const isValid = isTrue(`select indisvalid from pg_index where indexrelid = to_regclass('${name}')`)

      if (yield* isValid) return true
      if (!(yield* isTrue(`pg_try_advisory_lock(${ADVISORY_LOCK})`))) return false
      // Where the connection is lost, so is the lock.
      yield* Effect.addFinalizer(() => Effect.ignore(run(`select pg_advisory_unlock(${ADVISORY_LOCK})`)))
      if (yield* isValid) return true
      yield* Effect.forkScoped(
        Effect.delay(Effect.logInfo(`building the index ${name}, which takes a while`), SAY_AFTER)
      )
      yield* run("set statement_timeout = 0")
      yield* Effect.addFinalizer(() => Effect.ignore(run("reset statement_timeout")))
      yield* run(`drop index concurrently if exists ${name}`)
      yield* run(`create index concurrently ${name} ${definition}`)
      return true
    })
  )
