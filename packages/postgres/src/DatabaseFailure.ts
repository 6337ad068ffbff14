import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

/**
 * The database refused or could not be reached.
 *
 * It is the error of opening a database. Later it is a defect: no port names a
 * failure of its store, since no caller can do anything about it but fail too.
 */
export class DatabaseFailure extends Schema.TaggedError<DatabaseFailure>()("DatabaseFailure", {
  /** The server's own words, without the values of any statement. */
  message: Schema.String,
  /** SQLSTATE (PostgreSQL manual, appendix A), where the server said it. */
  code: Schema.UndefinedOr(Schema.String),
  /** The constraint that a statement broke. */
  constraint: Schema.UndefinedOr(Schema.String),
  cause: Schema.Defect()
}) {
  /** Whether the server rolled the transaction back for its own reasons: done again from its beginning, it may succeed. */
  get isTransient(): boolean {
    return this.code === SERIALIZATION_FAILURE || this.code === DEADLOCK_DETECTED
  }
}

const SERIALIZATION_FAILURE = "40001"
const DEADLOCK_DETECTED = "40P01"
/** The server ends the session, or takes none: 57P01 to 57P05. */
const SHUTDOWN = "57P"

const textOf = (cause: unknown, field: "code" | "constraint" | "message"): string | undefined => {
  if (typeof cause !== "object" || cause === null || !(field in cause)) return undefined
  const value: unknown = Reflect.get(cause, field)
  return typeof value === "string" ? value : undefined
}

/** What the driver reported, in the words of this package. */
export const fromSqlError = (error: SqlError.SqlError): DatabaseFailure => {
  const { reason } = error
  const code = textOf(reason.cause, "code")
  const said = [reason.message, textOf(reason.cause, "message")].filter((text) => text !== undefined).join(": ")
  const isUnreachable = reason._tag === "ConnectionError" || code?.startsWith(SHUTDOWN) === true
  const prefix = isUnreachable ? "the database can't be reached" : "the database refused"
  return new DatabaseFailure({
    message: `${prefix}: ${said}${code === undefined ? "" : ` (${code})`}`,
    code,
    constraint: textOf(reason.cause, "constraint"),
    cause: error
  })
}

/** The same effect, a failure of the database being a defect. */
export const orDie = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, never, R> =>
  Effect.catch(statement, (error) => Effect.die(fromSqlError(error)))
