import { Effect } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { statfs } from "node:fs/promises"
import { Database } from "./Database.ts"
import { fromSqlError, orDie } from "./DatabaseFailure.ts"
import { type DatabaseRisk, readRisks } from "./DatabaseRisks.ts"
import { schemaState, type SchemaState, TABLES } from "./Migrations.ts"
import * as Parameter from "./Parameter.ts"

export interface DatabaseSession {
  readonly processId: number
  /** The name that its program gave it. */
  readonly application: string
  /** For how long it has been in this state. */
  readonly seconds: number
}

/** A statement that has many or slow executions, with `$1` for its values. */
export interface SlowStatement {
  readonly statement: string
  readonly calls: number
  readonly meanMillis: number
}

/** What an operator should know of a database that serves. */
export interface DatabaseDiagnosis extends SchemaState {
  readonly version: string
  readonly risks: ReadonlyArray<DatabaseRisk>
  readonly sizeBytes: number
  /** The disk of its files; undefined if they are on another machine, or this role may not know where. */
  readonly disk: { readonly path: string; readonly freeBytes: number; readonly totalBytes: number } | undefined
  /** Sessions that wait for a lock, longest first, and the processes that hold it. */
  readonly waiting: ReadonlyArray<DatabaseSession & { readonly blockedBy: ReadonlyArray<number> }>
  /** Sessions in a transaction without a statement, longest first. */
  readonly idle: ReadonlyArray<DatabaseSession>
  /** Tables with more dead rows than a vacuum leaves. */
  readonly bloated: ReadonlyArray<{ readonly table: string; readonly dead: number; readonly live: number }>
  /** The slowest statements of this role; undefined without pg_stat_statements. */
  readonly slow: ReadonlyArray<SlowStatement> | undefined
  /** The processes of servers, by their listening connections. */
  readonly servers: ReadonlyArray<{ readonly version: string; readonly address: string; readonly since: string }>
}

const SESSIONS_MAX = 10
const SLOW_MAX = 3
const SLOW_MILLIS = 500
const STATEMENT_LENGTH = 100
/** A table is vacuumed once a fifth of its rows is dead. */
const DEAD_ROWS_MIN = 10_000
const DEAD_SHARE = 0.4

/** Reads the free space where the files of the database are, if they are on this machine. */
const readDisk = Effect.fnUntraced(function* (directory: string | null) {
  if (directory === null) return undefined
  return yield* Effect.tryPromise(async () => {
    const { bavail, blocks, bsize } = await statfs(directory)
    return { path: directory, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  }).pipe(Effect.orElseSucceed(() => undefined))
})

/** The extension is missing, or the server has not loaded it. */
const readSlow = Effect.gen(function* () {
  const { sql } = yield* Database
  const [extension] = yield* orDie(sql<{ readonly schema: string }>`
    select extnamespace::regnamespace::text as schema from pg_extension where extname = 'pg_stat_statements'`)
  if (extension === undefined) return undefined
  // Other statements can contain their values, such as a password.
  return yield* sql<SlowStatement>`
    select left(regexp_replace(query, '\\s+', ' ', 'g'), ${Parameter.integer(STATEMENT_LENGTH)}::int) as statement,
      calls::float8 as calls, mean_exec_time as "meanMillis"
    from ${sql.literal(extension.schema)}.pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and userid = (select oid from pg_roles where rolname = current_user) and query ~* '^\\s*(select|insert|update|delete|with)\\M'
      and mean_exec_time > ${Parameter.integer(SLOW_MILLIS)}::int
    order by mean_exec_time desc limit ${Parameter.integer(SLOW_MAX)}`.pipe(Effect.orElseSucceed(() => undefined))
})

/** Reads the state of the database by bounded queries, which wait for no lock. `directory` is that of an embedded one. */
export const diagnoseDatabase = Effect.fnUntraced(function* (directory: string | null) {
  const { sql } = yield* Database
  const read = Effect.all({
    state: schemaState,
    // An embedded database is known to risk data, and has no settings.
    risks: directory === null ? readRisks : Effect.succeed([]),
    facts: sql<{ readonly version: string; readonly bytes: number; readonly files: string | null }>`
      select current_setting('server_version') as version, pg_database_size(current_database())::float8 as bytes,
        case when coalesce(host(inet_server_addr()), '127.0.0.1') in ('127.0.0.1', '::1')
          then (select setting from pg_settings where name = 'data_directory') end as files`,
    waiting: sql<DatabaseDiagnosis["waiting"][number]>`
      select pid as "processId", application_name as application,
        extract(epoch from clock_timestamp() - state_change)::float8 as seconds, pg_blocking_pids(pid) as "blockedBy"
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and backend_type = 'client backend'
      order by seconds desc limit ${Parameter.integer(SESSIONS_MAX)}`,
    idle: sql<DatabaseSession>`
      select pid as "processId", application_name as application,
        extract(epoch from clock_timestamp() - state_change)::float8 as seconds
      from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'
      order by seconds desc limit ${Parameter.integer(SESSIONS_MAX)}`,
    bloated: sql<DatabaseDiagnosis["bloated"][number]>`
      select relname::text as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live
      from pg_stat_user_tables
      where relid in (select to_regclass(name) from unnest(${Parameter.texts(TABLES)}) as name)
        and n_dead_tup > ${Parameter.integer(DEAD_ROWS_MIN)} and n_dead_tup > ${sql.literal(String(DEAD_SHARE))} * n_live_tup
      order by n_dead_tup desc`,
    servers: sql<DatabaseDiagnosis["servers"][number]>`
      select substring(application_name from ' events (\\S+)$') as version,
        coalesce(host(client_addr), 'this machine') as address,
        to_char(backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
      from pg_stat_activity
      where datname = current_database() and application_name ~ ' events \\S+$' order by backend_start`
  })
  const found = yield* read.pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.catch((error) => Effect.die(SqlError.isSqlError(error) ? fromSqlError(error) : error))
  )
  const { facts, state, ...others } = found
  const { bytes: sizeBytes = 0, files = null, version = "" } = facts[0] ?? {}
  const [disk, slow] = yield* Effect.all([readDisk(directory ?? files), readSlow], { concurrency: 2 })
  return { ...state, ...others, version, sizeBytes, disk, slow } satisfies DatabaseDiagnosis as DatabaseDiagnosis
})
