import { CallGroup } from "@agentos/core"
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, Effect, Exit, Option, Predicate, type Scope } from "effect"
import { SqlClient, type SqlConnection, SqlError } from "effect/sql"
import type { ConnectionOf } from "./Connecting.ts"
import { toDefect } from "./DatabaseFailure.ts"

/** Limit of effects in one transaction. */
const GROUP_LIMIT = 64

/**
 * How long a statement of a shared transaction waits for a lock. After that each effect runs alone, and only the one that
 * needs the lock waits.
 */
const SHARED_LOCK_TIMEOUT = "50ms"

/** An effect with its key: two of the same key do not share a transaction. */
interface Keyed {
  readonly key: string
  readonly effect: Effect.Effect<unknown, unknown>
}

/** The exit of an effect, or "alone" if it has to run again in its own transaction. */
type Answer = Exit.Exit<unknown, unknown> | "alone"

/** An effect that waits for its result. */
type Call = CallGroup.Call<Keyed, Answer, never>

/** The effects of a transaction did not all succeed, so that none is committed. */
class NotShared {
  readonly _tag = "NotShared"
  readonly exits: ReadonlyArray<Exit.Exit<unknown, unknown>>
  constructor(exits: ReadonlyArray<Exit.Exit<unknown, unknown>>) {
    this.exits = exits
  }
}

/** Runs an effect in a shared transaction. Returns its exit, or "alone" if it has to run again in its own transaction. */
export type RunShared = <A, E, R>(
  key: string,
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<Exit.Exit<A, E> | "alone", never, R>

/**
 * Opens a connection for transactions that concurrent effects share. Effects that are called while a transaction is open
 * run in the next one, all at the same time: statements that they send together travel in one packet, and are answered
 * in one. A commit costs as much for all of them as for one.
 */
export const makeShared = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  connectionOf: ConnectionOf
): Effect.fn.Return<RunShared, SqlError.SqlError, Scope.Scope> {
  const pool = yield* PgPool.make({
    ...connectionOf({ name: "shared", settings: { lock_timeout: SHARED_LOCK_TIMEOUT } }),
    maxConnections: 1,
    // One transaction at a time, whose statements are not held up by each other.
    multiplex: true,
    multiplexConcurrency: 1
  })
  const withTransaction = SqlClient.makeWithTransaction<SqlClient.TransactionConnection, SqlConnection.Connection>({
    transactionService: sql.transactionService,
    spanAttributes: [],
    acquireConnection: (restore) => Effect.map(restore(pool.get), pipelining),
    begin: (conn) => conn.execute("BEGIN", [], undefined),
    commit: (conn) => Effect.flatMap(conn.executeRaw("COMMIT", []), requireCommitted),
    rollback: (conn) => conn.execute("ROLLBACK", [], undefined),
    savepoint: (conn, id) => conn.execute(`SAVEPOINT shared_${id}`, [], undefined),
    rollbackSavepoint: (conn, id) => conn.execute(`ROLLBACK TO SAVEPOINT shared_${id}`, [], undefined)
  })

  const runGroup = Effect.fnUntraced(function* (calls: ReadonlyArray<Call>) {
    let isCommitting = false
    const together = Effect.flatMap(
      Effect.forEach(calls, ({ item }) => Effect.exit(item.effect), { concurrency: "unbounded" }),
      (exits) => {
        if (exits.some(Exit.isFailure)) return Effect.fail(new NotShared(exits))
        isCommitting = true
        return Effect.succeed(exits)
      }
    )
    const group = yield* Effect.exit(withTransaction(together))
    for (const [index, { answer }] of calls.entries()) answer(Exit.succeed(answerOf(group, index, isCommitting)))
  })

  const grouped = CallGroup.answering<Keyed, Answer, never, never>(
    {
      limit: GROUP_LIMIT,
      work: Effect.fnUntraced(function* (calls) {
        for (const group of distinct(calls)) yield* runGroup(group)
      }),
      failed: (cause) => Exit.succeed(Exit.failCause(cause))
    },
    Effect.runFork
  )

  return <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const caller = yield* Effect.context<R>()
        const inside = Effect.flatMap(Effect.context<never>(), (transaction) =>
          Effect.provideContext(effect, Context.merge(caller, transaction))
        )
        return (yield* grouped({ key, effect: inside })) as Exit.Exit<A, E> | "alone"
      })
    )
})

/** Splits calls into groups in which each key is named once, in order. */
const distinct = (calls: ReadonlyArray<Call>): ReadonlyArray<ReadonlyArray<Call>> => {
  const groups: Array<Map<string, Call>> = []
  for (const call of calls) {
    const group = groups.find((one) => !one.has(call.item.key))
    if (group === undefined) groups.push(new Map([[call.item.key, call]]))
    else group.set(call.item.key, call)
  }
  return groups.map((group) => [...group.values()])
}

/**
 * Returns the answer to a call of a group. The failure of an effect counts only if it was alone: it may have seen what
 * another one of the group has not committed either.
 */
const answerOf = (
  group: Exit.Exit<ReadonlyArray<Exit.Exit<unknown, unknown>>, NotShared | SqlError.SqlError>,
  index: number,
  isCommitting: boolean
): Answer => {
  if (Exit.isSuccess(group)) return group.value[index]!
  const failure = Cause.findErrorOption(group.cause)
  if (Option.isSome(failure) && failure.value instanceof NotShared) {
    const [only, ...others] = failure.value.exits
    return only !== undefined && others.length === 0 && Exit.isFailure(only) && !Cause.hasDies(only.cause)
      ? only
      : "alone"
  }
  // The effects have succeeded. It is unknown whether the COMMIT without an answer took place.
  return isCommitting
    ? Exit.die(Option.match(failure, { onNone: () => Cause.squash(group.cause), onSome: defectOf }))
    : "alone"
}

const defectOf = (error: NotShared | SqlError.SqlError): unknown =>
  error instanceof NotShared ? error : toDefect(error)

/** PostgreSQL answers ROLLBACK to the COMMIT of an aborted transaction. */
const requireCommitted = (result: unknown): Effect.Effect<void, SqlError.SqlError> =>
  Predicate.hasProperty(result, "command") && result.command === "COMMIT"
    ? Effect.void
    : Effect.fail(
        new SqlError.SqlError({
          reason: new SqlError.UnknownError({ cause: result, message: "COMMIT ended an aborted transaction" })
        })
      )

/** The connection as stores use it. Unlike a reserved one, it sends a statement before the one before it is answered. */
const pipelining = (connection: PgConnection.PgConnection): SqlConnection.Connection => {
  const rows = (sql: string, params: ReadonlyArray<unknown>, prepare = true) =>
    Effect.map(connection.query(sql, params, prepare), (result) => result.rows)
  return {
    execute: (sql, params) => rows(sql, params),
    executeRaw: (sql, params) => connection.query(sql, params),
    executeValues: (sql, params) => connection.queryValues(sql, params),
    executeUnprepared: (sql, params) => rows(sql, params, false),
    executeValuesUnprepared: (sql, params) => connection.queryValues(sql, params, false),
    executeStream: (sql, params) => connection.stream(sql, params)
  }
}
