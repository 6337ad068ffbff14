import { StoreUnavailable } from "@agentos/core"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

/**
 * The database refused a request or could not be reached.
 *
 * It is the error of opening a database. Later it is a defect: no port declares a failure of its store, since a
 * caller can only fail too.
 */
export class DatabaseFailure extends Schema.TaggedError<DatabaseFailure>()("DatabaseFailure", {
  /** The server's own message in one line, without the values of any statement. */
  message: Schema.String,
  /** SQLSTATE (PostgreSQL manual, appendix A), if the server reported one. */
  code: Schema.UndefinedOr(Schema.String),
  /** Name of the constraint that a statement violated. */
  constraint: Schema.UndefinedOr(Schema.String),
  /** Whether the server can't be reached, or can't execute or commit statements of any kind at the moment. */
  isUnavailable: Schema.Boolean,
  cause: Schema.Defect()
}) {
  /** True if the server rolled the transaction back and it may succeed when run again from its beginning. */
  get isTransient(): boolean {
    return this.code === SERIALIZATION_FAILURE || this.code === DEADLOCK_DETECTED
  }
}

const SERIALIZATION_FAILURE = "40001"
const DEADLOCK_DETECTED = "40P01"
/** Class of the codes 57P01 to 57P05: the server ends the session, or accepts no new one. */
const SHUTDOWN = "57P"
/**
 * Codes and classes of a server that is reached and can't work: its disk, memory or connections are exhausted (53), it can't read
 * or write its files (58), it is a standby or read-only (25006), or it canceled a statement that took too long (57014).
 */
const DISABLED = ["53", "58", "25006", "57014"]

const textOf = (cause: unknown, field: "code" | "constraint" | "message" | "where"): string | undefined => {
  if (typeof cause !== "object" || cause === null || !(field in cause)) return undefined
  const value: unknown = Reflect.get(cause, field)
  return typeof value === "string" ? value : undefined
}

/** Returns the function of the database in which a statement failed, for example that of a trigger. */
const functionOf = (cause: unknown): string | undefined =>
  /^PL\/pgSQL function [^\n]+/m.exec(textOf(cause, "where") ?? "")?.[0]

/** Converts an error of the driver. */
export const fromSqlError = (error: SqlError.SqlError): DatabaseFailure => {
  const { reason } = error
  const code = textOf(reason.cause, "code")
  // The messages of OpenSSL end with a line break.
  const said = [reason.message, textOf(reason.cause, "message"), functionOf(reason.cause)]
    .filter((text) => text !== undefined)
    .map((text) => text.trim().replaceAll(/\s*\n\s*/g, " "))
    .join(": ")
  const isUnreachable = reason._tag === "ConnectionError" || code?.startsWith(SHUTDOWN) === true
  const prefix = isUnreachable ? "the database can't be reached" : "the database refused"
  return new DatabaseFailure({
    message: `${prefix}: ${said}${code === undefined ? "" : ` (${code})`}`,
    code,
    constraint: textOf(reason.cause, "constraint"),
    isUnavailable: isUnreachable || DISABLED.some((prefix) => code?.startsWith(prefix) === true),
    cause: error
  })
}

/** Converts an error of the driver into the defect that the ports die with. */
export const toDefect = (error: SqlError.SqlError): DatabaseFailure | StoreUnavailable => {
  const failure = fromSqlError(error)
  if (!failure.isUnavailable) return failure
  // A server that shuts down may have committed before.
  const isUndone = failure.code !== undefined && !failure.code.startsWith(SHUTDOWN)
  return new StoreUnavailable({ message: failure.message, isUndone, cause: failure })
}

/** Turns a failure of the database into a defect. */
export const orDie = <A, R>(statement: Effect.Effect<A, SqlError.SqlError, R>): Effect.Effect<A, never, R> =>
  Effect.catch(statement, (error) => Effect.die(toDefect(error)))

/** The database, or the way to it, can't serve as configured. It is an error of opening a database, never a defect. */
export class DatabaseUnsuitable extends Schema.TaggedError<DatabaseUnsuitable>()("DatabaseUnsuitable", {
  /** The unsuitable property, in one line without a final period. */
  problem: Schema.String,
  /** The change that the operator should make, as a sentence. */
  fix: Schema.String,
  /** False if the same configuration may work later: other programs use the connections. */
  isPermanent: Schema.Boolean
}) {
  override get message(): string {
    return `the database can't be used: ${this.problem}. ${this.fix}`
  }
}

/** An unsuitable database that stays so until an operator changes something. */
export const unsuitable = (problem: string, fix: string): DatabaseUnsuitable =>
  new DatabaseUnsuitable({ problem, fix, isPermanent: true })
