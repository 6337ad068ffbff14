import { Cause, Effect, Option } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import { DatabaseFailure, fromSqlError } from "./DatabaseFailure.ts"

/** How often a transaction is begun again that the server rolled back for its own reasons. */
const RETRIES = 3

/** Keeps the failures of what runs inside a transaction apart from those of the transaction itself. */
class Inside<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** The reason as the caller is to see it: a failure of its own, or else what the database said, as a defect. */
const toOutside = <E>(reason: Cause.Reason<Inside<E> | SqlError.SqlError>): Cause.Reason<E> => {
  if (Cause.isInterruptReason(reason)) return reason
  if (Cause.isDieReason(reason)) {
    return SqlError.isSqlError(reason.defect) ? Cause.makeDieReason(fromSqlError(reason.defect)) : reason
  }
  return reason.error instanceof Inside
    ? Cause.makeFailReason(reason.error.error).annotate(Cause.reasonAnnotations(reason))
    : Cause.makeDieReason(fromSqlError(reason.error))
}

const isTransient = (reason: Cause.Reason<unknown>): boolean =>
  Cause.isDieReason(reason) && reason.defect instanceof DatabaseFailure && reason.defect.isTransient

/**
 * Runs an effect in a transaction, or, within one, as part of it.
 *
 * A deadlock (40P01) or a serialization failure (40001) is tried again a few
 * times: the server has then undone everything, and by the promise of the port
 * nothing inside reached the outside. A connection lost is not: whether a COMMIT
 * that was never answered took place is for the caller to find out.
 */
export const makeTransact = (sql: SqlClient.SqlClient) => {
  const attempt = <A, E, R>(effect: Effect.Effect<A, Inside<E>, R>, retries: number): Effect.Effect<A, E, R> =>
    Effect.catchCause(sql.withTransaction(effect), (cause) => {
      const reasons = cause.reasons.map((reason) => toOutside(reason))
      return reasons.some(isTransient) && retries > 0
        ? attempt(effect, retries - 1)
        : Effect.failCause(Cause.fromReasons(reasons))
    })
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.serviceOption(sql.transactionService), (open) =>
      Option.isSome(open)
        ? effect
        : attempt(
            Effect.mapError(effect, (error) => new Inside(error)),
            RETRIES
          )
    )
}
