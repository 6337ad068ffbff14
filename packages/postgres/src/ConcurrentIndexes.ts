import { Duration, Effect, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** An index on a table that may be large and is in use. */
export interface ConcurrentIndex {
  /** Never reused for another index; its definition never changes either. */
  readonly name: string
  /** The part of `create index` after the name. */
  readonly definition: string
}

/**
 * Advisory lock of the session that builds an index. The number spells "indx" in ASCII, to be recognized in
 * pg_locks.
 */
const ADVISORY_LOCK = 0x696e6478
/** Interval between checks whether another server has built the index. */
const LOOK_EVERY = "250 millis"
/** A build that takes longer than this is logged, since the server waits for it before it serves requests. */
const SAY_AFTER = "5 seconds"

/**
 * Builds the missing indexes one after the other, while other sessions read and write their tables. PostgreSQL
 * does that outside transactions: it first waits for all transactions that were open, and takes time in
 * proportion to the table.
 *
 * If several servers start at once, one builds and the others wait. They poll and never wait inside a
 * statement, because the build would wait for the end of that statement in turn. An index that a server died
 * while building is built anew. Returns the indexes that this call built, with the duration of each.
 */
export const buildIndexes = (
  indexes: ReadonlyArray<ConcurrentIndex>
): Effect.Effect<
  ReadonlyArray<{ readonly index: ConcurrentIndex; readonly millis: number }>,
  SqlError.SqlError,
  SqlClient.SqlClient
> =>
  Effect.map(
    Effect.forEach(indexes, (index) =>
      Effect.map(
        Effect.timed(
          Effect.repeat(build(index), { until: (state) => state !== "busy", schedule: Schedule.spaced(LOOK_EVERY) })
        ),
        ([duration, state]) => (state === "built" ? [{ index, millis: Duration.toMillis(duration) }] : [])
      )
    ),
    (built) => built.flat()
  )

export const indexStatement = ({ definition, name }: ConcurrentIndex): string =>
  `create index concurrently ${name} ${definition}`

/** Builds an index unless it is valid already, or another server is building it. */
const build = (index: ConcurrentIndex) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { name } = index
      const sql = yield* SqlClient.SqlClient
      const connection = yield* sql.reserve
      const run = (statement: string) => connection.executeUnprepared(statement, [], undefined)
      const isTrue = (statement: string) =>
        Effect.map(run(`select (${statement}) as answer`), ([row]) => row?.answer === true)
      const isValid = isTrue(`select indisvalid from pg_index where indexrelid = to_regclass('${name}')`)

      if (yield* isValid) return "valid" as const
      if (!(yield* isTrue(`pg_try_advisory_lock(${ADVISORY_LOCK})`))) return "busy" as const
      // Losing the connection releases the lock as well.
      yield* Effect.addFinalizer(() => Effect.ignore(run(`select pg_advisory_unlock(${ADVISORY_LOCK})`)))
      if (yield* isValid) return "valid" as const
      yield* Effect.forkScoped(
        Effect.delay(Effect.logInfo(`building the index ${name}; this can take minutes`), SAY_AFTER)
      )
      yield* run("set statement_timeout = 0")
      yield* Effect.addFinalizer(() => Effect.ignore(run("reset statement_timeout")))
      yield* run(`drop index concurrently if exists ${name}`)
      yield* run(indexStatement(index))
      return "built" as const
    })
  )
