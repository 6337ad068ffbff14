import { SettingName } from "@agentos/core"
import type { PgConnection } from "@effect/sql-pg"
import { Array, Effect, Schedule, type Scope } from "effect"
import { SqlError } from "effect/sql"
import type { SettingsIn } from "./Connecting.ts"
import { DatabaseUnsuitable, fromSqlError, unsuitable } from "./DatabaseFailure.ts"
import { TABLES } from "./Migrations.ts"

/** The first version whose SQL the migrations use. */
const MAJOR_MIN = 14
/** The check whether the disk has room writes a temporary file of a megabyte. */
const TEMPORARY_KIB_MIN = 2_048
/** Time for a connection to be opened and to answer, beside the others of a server. */
const OPEN_WITHIN = "5 seconds"
const ATTEMPTS = 5
const RETRY_INTERVAL = "200 millis"
/** The server processes of closed connections end by then. */
const CLOSED_WITHIN = "2 seconds"
/** Between them, sessions change places whether a pooler hands out the connection that was used last or first. */
const SESSION_ROUNDS: ReadonlyArray<readonly [first: 0 | 1, second: 0 | 1]> = [
  [0, 1],
  [0, 1],
  [1, 0],
  [1, 0]
]

export interface ServerNeeds {
  /** Settings that the sessions must have, by name. */
  readonly settings: Readonly<Record<string, string>>
  /** Connections of this process. */
  readonly connections: number
  /** Processes that are configured like this one, itself included. */
  readonly processes: number
}

type Row = Readonly<Record<string, unknown>>
type Opening = Effect.Effect<PgConnection.PgConnection, SqlError.SqlError, Scope.Scope>

const FACTS = `
  select current_setting('server_version_num')::int as version_number,
    current_setting('server_version') as version,
    current_setting('server_encoding') as encoding,
    pg_is_in_recovery() as is_standby,
    current_setting('transaction_read_only') = 'on' as is_read_only,
    (select setting::int from pg_settings where name = 'temp_file_limit') as temporary_limit,
    pg_backend_pid() as process_id,
    session_user::text as role,
    current_database()::text as database,
    current_schema()::text as schema,
    has_schema_privilege(current_schema(), 'create') as may_create,
    (select rolsuper from pg_roles where rolname = session_user) as is_superuser,
    (select rolconnlimit from pg_roles where rolname = session_user) as role_limit,
    (select datconnlimit from pg_database where datname = current_database()) as database_limit,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int as server_limit`

const PROCESS_ID = "select pg_backend_pid() as process_id"

/** The table whose rows no role changes. */
const AUDIT_TABLE = "audit_records"

const RIGHTS = `
  select relname::text as name, pg_has_role(relowner, 'usage') as is_owner,
    has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and (relname = '${AUDIT_TABLE}' or has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
      as may_use
  from pg_class
  where oid in (select to_regclass(name) from unnest(array[${TABLES.map((name) => `'${name}'`).join(", ")}]) as name)
  order by 1`

const text = (row: Row, name: string): string => String(row[name])
const number = (row: Row, name: string): number => Number(row[name])

/** Refuses a server that can't store or change what this program does. */
const requireServer = (facts: Row): DatabaseUnsuitable | undefined => {
  const version = text(facts, "version")
  if (number(facts, "version_number") < MAJOR_MIN * 10_000)
    return unsuitable(`PostgreSQL ${version} is too old`, `Use PostgreSQL ${MAJOR_MIN} or later.`)
  if (facts["encoding"] !== "UTF8")
    return unsuitable(
      `the database ${text(facts, "database")} has the encoding ${text(facts, "encoding")}`,
      "Create a database with: create database … encoding 'UTF8' template template0."
    )
  if (facts["is_standby"] === true)
    return unsuitable(
      "the server is a standby, which accepts no writes",
      "Name the primary in DATABASE_URL, or all servers: postgres://…@first,second/…?target_session_attrs=read-write."
    )
  if (facts["is_read_only"] === true)
    return unsuitable(
      "transactions are read-only by default (default_transaction_read_only)",
      "Turn it off for the server, the database or the role: alter role … reset default_transaction_read_only."
    )
  const temporaryLimit = number(facts, "temporary_limit")
  if (temporaryLimit >= 0 && temporaryLimit < TEMPORARY_KIB_MIN)
    return unsuitable(
      `temporary files are limited to ${temporaryLimit} kB (temp_file_limit)`,
      `Allow ${TEMPORARY_KIB_MIN} kB or more: alter role … set temp_file_limit = '${TEMPORARY_KIB_MIN}kB'.`
    )
  if (facts["schema"] === null)
    return unsuitable(
      "the search path names no schema that exists and may be used (search_path)",
      "Create the schema, or grant usage on it to the user of DATABASE_URL."
    )
  return undefined
}

/** Refuses limits below the number of connections that the server opens. Only max_connections applies to a superuser. */
const requireLimits = (
  facts: Row,
  { connections, processes }: ServerNeeds,
  settingName: (option: string) => string
): DatabaseUnsuitable | undefined => {
  const needed = connections * processes
  const limits = [
    ["connection limit of the role", "role_limit", `alter role … connection limit ${needed}`],
    ["connection limit of the database", "database_limit", `alter database … connection limit ${needed}`],
    [
      "maximum of the server without its reserve (max_connections)",
      "server_limit",
      `max_connections in postgresql.conf`
    ]
  ] as const
  for (const [name, column, change] of limits) {
    const limit = number(facts, column)
    if (limit < 0 || limit >= needed || (facts["is_superuser"] === true && column !== "server_limit")) continue
    const each = processes === 1 ? "" : ` (${connections} for each of ${processes} workers)`
    return unsuitable(
      `the server needs ${needed} connections${each}, and the ${name} is ${limit}`,
      `Raise it (${change}), or lower ${settingName("maxConnections")}.`
    )
  }
  return undefined
}

const hasSettings = Effect.fnUntraced(function* (
  session: PgConnection.PgConnection,
  settings: Readonly<Record<string, string>>
) {
  const names = Object.keys(settings).map((name) => `'${name}'`)
  const { rows } = yield* session.query(
    `select name, setting from pg_settings where name in (${names.join(", ")})`,
    [],
    false
  )
  return rows.every((row) => settings[text(row, "name")] === row["setting"])
})

/**
 * Refuses a pooler that hands a session from transaction to transaction to another server process: prepared statements,
 * settings, LISTEN and locks would be lost. Two sessions open a transaction each, in different orders.
 */
const requireSessions = (first: PgConnection.PgConnection, second: PgConnection.PgConnection) =>
  Effect.gen(function* () {
    const sessions = [first, second] as const
    const processes = [new Set<unknown>(), new Set<unknown>()] as const
    for (const order of SESSION_ROUNDS) {
      for (const index of order) {
        const { rows } = yield* Effect.andThen(
          sessions[index].query("begin", [], false),
          sessions[index].query("select pg_backend_pid() as process_id", [], false)
        )
        processes[index].add(rows[0]?.process_id)
      }
      for (const index of order) yield* sessions[index].query("commit", [], false)
    }
    if (
      new Set(processes.flatMap((seen) => [...seen])).size === processes.length &&
      processes.every((seen) => seen.size === 1)
    )
      return
    return yield* unsuitable(
      "a connection pooler gives each transaction another session (transaction mode)",
      "Use its session mode (PgBouncer: pool_mode = session), or name the PostgreSQL server in DATABASE_URL."
    )
  })

const processIdOf = (session: PgConnection.PgConnection) =>
  Effect.map(session.query(PROCESS_ID, [], false), ({ rows }) => Number(rows[0]?.["process_id"]))

/**
 * Opens the connections of a server at the same time, and closes them. Fails if they are not all open and answering in
 * time. Afterwards the server process of none is left, so that they do not count against a limit any more.
 */
const requireConnections = Effect.fnUntraced(function* (
  open: Opening,
  session: PgConnection.PgConnection,
  wanted: number,
  isDirect: boolean
) {
  const settingName = yield* SettingName
  const opened: Array<number> = []
  // A pooler needs a transaction to give a session a connection of its own.
  const openOne = Effect.tap(
    Effect.flatMap(open, (one) =>
      Effect.andThen(isDirect ? Effect.void : one.query("begin", [], false), processIdOf(one))
    ),
    (processId) => Effect.sync(() => opened.push(processId))
  )
  yield* Effect.scoped(
    Effect.forEach(Array.range(2, wanted), () => openOne, { concurrency: "unbounded", discard: true })
  ).pipe(
    // The server processes of connections that were closed before may still end.
    Effect.retry({ times: ATTEMPTS, schedule: Schedule.spaced(RETRY_INTERVAL) }),
    Effect.timeoutOrElse({ duration: OPEN_WITHIN, orElse: () => Effect.fail("one had no answer in time") }),
    Effect.mapError((error) => {
      const reason = typeof error === "string" ? error : fromSqlError(error).message
      return new DatabaseUnsuitable({
        problem: `the server needs ${wanted} connections, and not all could be opened: ${reason}`,
        fix:
          "Raise the limit of PostgreSQL, of the role or of the connection pooler, end other programs, or lower " +
          `${settingName("maxConnections")}.`,
        isPermanent: false
      })
    })
  )
  if (!isDirect || opened.length === 0) return
  const left = `select from pg_stat_activity where pid in (${opened.join(", ")})`
  yield* session
    .query(left, [], false)
    .pipe(
      Effect.repeat({ until: ({ rows }) => rows.length === 0, schedule: Schedule.spaced("10 millis") }),
      Effect.timeoutOption(CLOSED_WITHIN)
    )
})

/** Refuses a role that may not create, change or use the tables. */
const requireRights = Effect.fnUntraced(function* (
  session: PgConnection.PgConnection,
  facts: Row,
  pending: ReadonlyArray<string>
) {
  const [role, schema] = [text(facts, "role"), text(facts, "schema")]
  const { rows } = yield* session.query(RIGHTS, [], false)
  const named = (right: string) => rows.filter((row) => row[right] !== true).map((row) => text(row, "name"))
  const notOwned = pending.length === 0 ? [] : named("is_owner")
  if (pending.length > 0 && facts["may_create"] !== true)
    return yield* unsuitable(
      `the role ${role} may not create tables in the schema ${schema}, and ${pending.length} migrations are pending`,
      `Grant it: grant create on schema ${schema} to ${role}. Or run agentos-server migrate as another role.`
    )
  if (notOwned.length > 0)
    return yield* unsuitable(
      `the role ${role} does not own the tables ${listed(notOwned)}, and ${pending.length} migrations are pending`,
      "Run agentos-server migrate as the role that owns them, or make this role a member of that one."
    )
  const notUsable = named("may_use")
  if (notUsable.length === 0) return
  return yield* unsuitable(
    `the role ${role} may not read and change the tables ${listed(notUsable)}`,
    `Grant it: grant select, insert, update, delete on all tables in schema ${schema} to ${role}.`
  )
})

/** Names a few, and counts the others. */
const listed = (names: ReadonlyArray<string>): string =>
  names.length <= 3 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`

/** A pooler refuses a setting in the packet that opens a connection, and so does a server that is too old to have it. */
const isUnsupportedParameter = (error: SqlError.SqlError): boolean => {
  const { code, message } = fromSqlError(error)
  return code === "42704" || (code === "08P01" && message.includes("parameter"))
}

const isDenied = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && fromSqlError(error).code === "42501"

/** The findings of the check. */
export interface ServerFound {
  /** How settings reach the sessions. */
  readonly settingsIn: SettingsIn
  readonly pending: ReadonlyArray<string>
}

/**
 * Tries all that a server needs of its database, with sessions like its own. Fails with the first thing that is missing.
 * Changes nothing. Each start does this, and so does `check-config`.
 */
export const checkServer = <E, R>(
  openWith: (settingsIn: SettingsIn) => Opening,
  needs: ServerNeeds,
  readPending: (settingsIn: SettingsIn) => Effect.Effect<ReadonlyArray<string>, E, R>
): Effect.Effect<ServerFound, DatabaseUnsuitable | E | SqlError.SqlError, R> =>
  Effect.gen(function* () {
    const keepsSettings = yield* openWith("startup").pipe(
      Effect.flatMap((session) => hasSettings(session, needs.settings)),
      Effect.catchIf(isUnsupportedParameter, () => Effect.succeed(false)),
      Effect.scoped
    )
    const settingsIn: SettingsIn = keepsSettings ? "startup" : "statement"
    const open = openWith(settingsIn)
    const session = yield* open
    const facts: Row = (yield* session.query(FACTS, [], false)).rows[0] ?? {}
    const refusal = requireServer(facts) ?? requireLimits(facts, needs, yield* SettingName)
    if (refusal !== undefined) return yield* refusal
    // A pooler gives its clients process ids of its own.
    const isDirect = facts["process_id"] === session.processId
    if (!isDirect) yield* Effect.scoped(Effect.flatMap(open, (second) => requireSessions(session, second)))
    const pending = yield* readPending(settingsIn)
    yield* requireRights(session, facts, pending)
    yield* requireConnections(open, session, needs.connections, isDirect)
    return { settingsIn, pending }
  }).pipe(
    Effect.scoped,
    Effect.catchIf(isDenied, (error) =>
      Effect.fail(unsuitable(fromSqlError(error).message, "Grant the missing rights to the user of DATABASE_URL."))
    )
  )
