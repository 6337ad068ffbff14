import type { Sharing, Transactor } from "@agentos/core"
import { Cause, Effect, Option } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { DatabaseFailure, toDefect } from "./DatabaseFailure.ts"
import type { RunShared } from "./SharedTransactions.ts"

/** How often a transaction that failed with a transient error is retried. */
const RETRIES = 3

/** Distinguishes failures of the effect inside a transaction from those of the transaction itself. */
class Inside<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** Returns the reason for the caller: the effect's own failure, or the database's error as a defect. */
const toOutside = <E>(reason: Cause.Reason<Inside<E> | SqlError.SqlError>): Cause.Reason<E> => {
  if (Cause.isInterruptReason(reason)) return reason
  if (Cause.isDieReason(reason)) {
    return SqlError.isSqlError(reason.defect) ? Cause.makeDieReason(toDefect(reason.defect)) : reason
  }
  return reason.error instanceof Inside
    ? Cause.makeFailReason(reason.error.error).annotate(Cause.reasonAnnotations(reason))
    : Cause.makeDieReason(toDefect(reason.error))
}

const isTransient = (reason: Cause.Reason<unknown>): boolean =>
  Cause.isDieReason(reason) && reason.defect instanceof DatabaseFailure && reason.defect.isTransient

/**
 * Runs an effect in a transaction, or as part of the open one. `runShared` runs those that may share one.
 *
 * A deadlock (40P01) or a serialization failure (40001) is retried up to 3 times: the server has then undone
 * everything, and by the contract of the port nothing inside has taken effect outside. A lost connection is not
 * retried: the caller has to find out whether a COMMIT without an answer took place.
 */
export const makeTransact = (sql: SqlClient.SqlClient, runShared?: RunShared): Transactor["Service"]["transact"] => {
  const attempt = <A, E, R>(effect: Effect.Effect<A, Inside<E>, R>, retries: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(sql.withTransaction(effect), (cause) => {
      const reasons = cause.reasons.map((reason) => toOutside(reason))
      return reasons.some(isTransient) && retries > 0
        ? attempt(effect, retries - 1)
        : Effect.failCause(Cause.fromReasons(reasons))
    })
  const alone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    attempt(
      Effect.mapError(effect, (error) => new Inside(error)),
      RETRIES
    )
  return <A, E, R>(effect: Effect.Effect<A, E, R>, sharing?: Sharing): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (open): Effect.Effect<A, E, R> => {
      if (Option.isSome(open)) return effect
      if (sharing === undefined || runShared === undefined) return alone(effect)
      return Effect.flatMap(runShared(sharing.key, effect), (exit) => (exit === "alone" ? alone(effect) : exit))
    })
}
