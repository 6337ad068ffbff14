import type { Transactor } from "@agentos/core"
import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { type Announcements, makeListening, makeLocal } from "./Announcements.ts"
import { connect, connecting, type ConnectionOf, type SettingsIn } from "./Connecting.ts"
import { type ConnectionTarget, readConnectionUrl } from "./ConnectionUrl.ts"
import { DatabaseFailure, type DatabaseUnsuitable, fromSqlError } from "./DatabaseFailure.ts"
import { type DatabaseRisk, readRisks } from "./DatabaseRisks.ts"
import {
  type AppliedStep,
  emptyState,
  migrate,
  SchemaOutdated,
  type SchemaState,
  schemaState,
  sqlOf
} from "./Migrations.ts"
import { type DirectoryInUse, hasDatabase, openPGlite } from "./PGliteDatabase.ts"
import { openPGliteStream } from "./PGliteStream.ts"
import { checkServer } from "./ServerCheck.ts"
import { makeShared } from "./SharedTransactions.ts"
import { makeTransact } from "./Transaction.ts"
import { vacuumWhenDue } from "./Vacuuming.ts"

/** An open database at the current schema version, used by every store of this package. */
export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /**
     * Client for the few statements that deliver events, which run many times a second. It keeps their plans,
     * and does not wait for a connection behind requests. It does not take part in the transactions of `sql`.
     */
    readonly delivery: SqlClient.SqlClient
    readonly announcements: Announcements
    /** See `Transactor`. */
    readonly transact: Transactor["Service"]["transact"]
  }
>()("@agentos/postgres/Database") {}

/** Options of a PostgreSQL server, version 14 or later, with the encoding UTF8. */
export interface PostgresOptions {
  /**
   * A URL as libpq reads it: `postgres://user:password@host:port/database?sslmode=…`. Several hosts may be named: the
   * first one that accepts writes is used. Parameters that are not supported are refused. A connection pooler in between
   * must keep a session for each connection.
   */
  readonly url: Redacted.Redacted
  /**
   * Limit of connections for statements and transactions, 10 by default; two more deliver events, one listens for
   * them, and one runs transactions that paid operations share.
   */
  readonly maxConnections?: number | undefined
  /** Processes with these options, this one included, whose connections the limits of the database must allow: 1 by default. */
  readonly processes?: number | undefined
  /**
   * Time after which the server cancels a statement: 10 seconds by default. A connection on which no byte comes for two
   * seconds longer is closed, since the server, or a hop on the way, no longer answers on it.
   */
  readonly statementTimeout?: Duration.Input | undefined
  /**
   * Time without a statement after which the server ends a transaction: 10 seconds by default. Nothing outside
   * the database is called inside a transaction. So only a process that has stalled exceeds this time, while
   * others wait for its locks.
   */
  readonly idleInTransactionTimeout?: Duration.Input | undefined
  /** Time limit for opening a connection: 5 seconds by default. */
  readonly connectTimeout?: Duration.Input | undefined
  /** The server's name in pg_stat_activity: `agentos` by default. */
  readonly applicationName?: string | undefined
  /** The version of the program, which follows the name of the connection that listens; by default none. */
  readonly version?: string | undefined
  /** Whether opening an older schema migrates it, as by default, or fails with `SchemaOutdated`. */
  readonly migrates?: boolean | undefined
}

/** Options of an embedded database in this process. */
export interface PGliteOptions {
  /**
   * Directory of the database, created if missing and used by one process at a time. Default: in memory, lost
   * at the end.
   */
  readonly directory?: string | undefined
  /**
   * Bytes of its disk that must be free, 64 MiB by default. Statements fail while fewer are, and work again when there is
   * room.
   */
  readonly diskReserveBytes?: number | undefined
  /** Whether opening creates the database and migrates it, as by default, or fails with `SchemaOutdated`. */
  readonly migrates?: boolean | undefined
}

/**
 * Plans must be good without statistics: those of a new or fast-growing table are wrong, an embedded database has no
 * process that gathers any, and a connection may keep a plan that it made for an empty table. Every statement has an
 * index whose order it is meant to be read in. A scan of the whole table, or of all that an index finds, only looks
 * cheaper to a planner that misjudges the number of rows. `pnpm bench planner` measures each statement with and
 * without these settings; docs/design/decisions.md has the figures.
 *
 * No statement is long enough for JIT compilation to pay off.
 */
const PLANNING = { enable_seqscan: "off", enable_bitmapscan: "off", jit: "off" }

/**
 * Settings of the delivery connections: a plan is made once, since planning takes as long as executing these
 * statements. Each of their steps has exactly one usable index, so the plan is right whenever it is made.
 */
const PLANNING_ONCE = { ...PLANNING, plan_cache_mode: "force_generic_plan" }
const DELIVERY_CONNECTIONS = 2

/** Bytes. Mail of 25 MiB is returned in one message, together with the other columns of its row. */
const MESSAGE_LIMIT = 128 * 1024 * 1024

/**
 * Limit of statements that share a connection, each sent before the previous one is answered. Reads become
 * several times as fast. A slow statement delays those behind it, so the limit is low. Each transaction has a
 * connection of its own.
 */
const PIPELINE = 8

const millisOf = (duration: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(duration))
const millis = (duration: Duration.Input): string => `${millisOf(duration)}`

const STATEMENT_TIMEOUT = "10 seconds"
/** Time in milliseconds in which the answer to a canceled statement arrives. */
const ANSWER_MARGIN_MILLIS = 2_000

const POOL = 10
/** Connections beside the pool: those that deliver, the one that listens, and the one of shared transactions. */
const OTHER_CONNECTIONS = DELIVERY_CONNECTIONS + 2

/**
 * Settings of every session. The stores are written for these, whatever the server, the database or the role sets: a shorter
 * wait for a lock would fail requests, and an end of idle sessions would close connections that listen.
 */
const settingsOf = (options: PostgresOptions): Readonly<Record<string, string>> => ({
  ...PLANNING,
  default_transaction_isolation: "read committed",
  lock_timeout: "0",
  idle_session_timeout: "0",
  statement_timeout: millis(options.statementTimeout ?? STATEMENT_TIMEOUT),
  idle_in_transaction_session_timeout: millis(options.idleInTransactionTimeout ?? "10 seconds")
})

const connectionTo = (options: PostgresOptions, target: ConnectionTarget) => {
  const applicationName = options.applicationName ?? target.applicationName ?? "agentos"
  return (settingsIn: SettingsIn): ConnectionOf =>
    ({ answerTimeout, name, settings }) =>
      connecting({
        target,
        config: {
          applicationName: name === undefined ? applicationName : `${applicationName} ${name}`,
          connectTimeout: options.connectTimeout ?? target.connectTimeout ?? "5 seconds",
          keepAlive: "15 seconds",
          maxMessageSize: MESSAGE_LIMIT,
          answerTimeout
        },
        settings: { ...settingsOf(options), ...settings },
        settingsIn
      })
}

/** Opens connections for a migration, which may take longer than any other statement. */
const openForMigration = (connectionOf: ConnectionOf) => PgClient.make({ ...connectionOf({}), maxConnections: 2 })

const withClient = <A, E>(connectionOf: ConnectionOf, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.scoped(
    Effect.flatMap(openForMigration(connectionOf), (sql) => Effect.provideService(effect, SqlClient.SqlClient, sql))
  )

/** Checks the database against the needs of a server. Fails with the first need that is not met. */
const prepare = Effect.fnUntraced(function* (options: PostgresOptions) {
  const target = yield* readConnectionUrl(options.url)
  const connectionsWith = connectionTo(options, target)
  const { pending, settingsIn } = yield* checkServer(
    (settingsIn) => connect(connectionsWith(settingsIn)({})),
    {
      settings: settingsOf(options),
      connections: (options.maxConnections ?? POOL) + OTHER_CONNECTIONS,
      processes: options.processes ?? 1
    },
    (settingsIn) =>
      withClient(connectionsWith(settingsIn), schemaState).pipe(
        Effect.map(({ pending }) => pending),
        Effect.catchTag("MigrationError", openFailures.MigrationError)
      )
  )
  return { connectionOf: connectionsWith(settingsIn), pending }
})

/**
 * Opens a pool to a PostgreSQL server and migrates the database. Fails with `DatabaseUnsuitable` if the database can't
 * serve: wrong version or encoding, read-only, missing rights, too few connections, a pooler without sessions, tables of
 * another program.
 */
export const layerPostgres = (
  options: PostgresOptions
): Layer.Layer<Database, DatabaseFailure | DatabaseUnsuitable | SchemaOutdated> => {
  const answerTimeout = millisOf(options.statementTimeout ?? STATEMENT_TIMEOUT) + ANSWER_MARGIN_MILLIS
  return makeLayer(
    Effect.gen(function* () {
      const { connectionOf, pending } = yield* prepare(options)
      // A role that may not migrate can serve a database that is up to date.
      if (pending.length > 0)
        yield* options.migrates === false ? new SchemaOutdated({ pending }) : withClient(connectionOf, migrate)
      const serving: ConnectionOf = (kind) => connectionOf({ answerTimeout, ...kind })
      const sql = yield* PgClient.make({
        ...serving({}),
        maxConnections: options.maxConnections ?? POOL,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      const delivery = yield* PgClient.make({
        ...serving({ name: "delivery", settings: PLANNING_ONCE }),
        maxConnections: DELIVERY_CONNECTIONS,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      const transact = makeTransact(sql, yield* makeShared(sql, serving))
      return { sql, delivery, transact, announcements: yield* makeListening(sql, serving, options.version) }
    }).pipe(Effect.catchTags(openFailures))
  )
}

/**
 * The default of 128 MB of buffers would be allocated in this process at startup; the operating system caches the files as
 * well. The log keeps a few segments of 16 MB after a checkpoint.
 */
const EMBEDDED = { shared_buffers: "32MB", min_wal_size: "32MB", max_wal_size: "64MB" }

const openEmbedded = Effect.fnUntraced(function* ({ directory, diskReserveBytes }: PGliteOptions) {
  const engine = yield* openPGlite(directory, { ...PLANNING, ...EMBEDDED }, diskReserveBytes)
  return yield* PgClient.make({
    stream: () => openPGliteStream(engine),
    ssl: false,
    username: "postgres",
    database: "postgres",
    maxMessageSize: MESSAGE_LIMIT,
    // A pool of one connection reopens a session that broke.
    maxConnections: 1,
    minConnections: 1
  })
})

/**
 * Opens an embedded database and migrates it. It has one connection: a transaction waits until the one before
 * it has ended. Fails with `DatabaseUnsuitable` if another program created it.
 *
 * Committed data survives the end of this process, however it ends. It may not survive a loss of power: PGlite
 * writes to the operating system and does not sync to disk.
 */
export const layerPGlite = (
  options: PGliteOptions = {}
): Layer.Layer<Database, DatabaseFailure | DatabaseUnsuitable | DirectoryInUse | SchemaOutdated> =>
  makeLayer(
    Effect.gen(function* () {
      const { directory, migrates = true } = options
      if (!migrates && !existsIn(directory)) yield* requireCurrent(yield* emptyState)
      const sql = yield* openEmbedded(options)
      const prepared = migrates ? migrate : Effect.flatMap(schemaState, requireCurrent)
      yield* Effect.provideService(prepared, SqlClient.SqlClient, sql)
      yield* Effect.forkScoped(vacuumWhenDue(sql))
      return { sql, delivery: sql, transact: makeTransact(sql), announcements: makeLocal(sql) }
    }).pipe(Effect.catchTags(openFailures))
  )

const existsIn = (directory: string | undefined): boolean => directory !== undefined && hasDatabase(directory)

const requireCurrent = ({ pending }: SchemaState): Effect.Effect<void, SchemaOutdated> =>
  pending.length > 0 ? Effect.fail(new SchemaOutdated({ pending })) : Effect.void

/** The schema of a database, for commands that run before a server or beside it. */
export interface SchemaMaintenance<E = DatabaseFailure> {
  /** Checks the URL and the files that it names. Connects to nothing. */
  readonly validate: Effect.Effect<void, E>
  /** Tries all uses of the database by a server, as its start does. Creates and changes nothing. */
  readonly check: Effect.Effect<void, E>
  /** Reads the version of PostgreSQL, null if the embedded database does not exist yet. Creates and changes nothing. */
  readonly read: Effect.Effect<SchemaState & { readonly version: string | null }, E>
  /** Reads what an operator should know of a server that can serve; nothing of an embedded database. */
  readonly risks: Effect.Effect<ReadonlyArray<DatabaseRisk>, E>
  /** Returns the SQL that `migrate` would run. Creates and changes nothing. */
  readonly sql: Effect.Effect<string, E>
  /** Migrates the database. Returns the migrations that ran. */
  readonly migrate: Effect.Effect<ReadonlyArray<AppliedStep>, E>
}

/** Turns the errors of the driver and the migrator into those of this package. */
const withOpenFailures = <A, E>(
  effect: Effect.Effect<A, Migrator.MigrationError | SqlError.SqlError | E, Reactivity.Reactivity>
): Effect.Effect<A, DatabaseFailure | E> =>
  effect.pipe(
    Effect.provide(Reactivity.layer),
    Effect.catchIf(SqlError.isSqlError, (error) => Effect.fail(fromSqlError(error))),
    Effect.catchIf((error) => error instanceof Migrator.MigrationError, openFailures.MigrationError)
  ) as Effect.Effect<A, DatabaseFailure | E>

const maintain = <E>(
  open: Effect.Effect<SqlClient.SqlClient, SqlError.SqlError | E, Scope.Scope | Reactivity.Reactivity>
): Pick<SchemaMaintenance<DatabaseFailure | DatabaseUnsuitable | E>, "read" | "risks" | "migrate"> => {
  const using = <A>(
    effect: Effect.Effect<A, Migrator.MigrationError | SqlError.SqlError | DatabaseUnsuitable, SqlClient.SqlClient>
  ) =>
    withOpenFailures<A, DatabaseUnsuitable | E>(
      Effect.scoped(Effect.flatMap(open, (sql) => Effect.provideService(effect, SqlClient.SqlClient, sql)))
    )
  const read = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string }>`select current_setting('server_version') as version`
    return { version: row?.version ?? "", ...(yield* schemaState) }
  })
  return { read: using(read), risks: using(readRisks), migrate: using(migrate) }
}

/** The schema of a database on a PostgreSQL server. */
export const maintainPostgres = (options: PostgresOptions): SchemaMaintenance<DatabaseFailure | DatabaseUnsuitable> => {
  const prepared = prepare({ ...options, maxConnections: 2 - OTHER_CONNECTIONS })
  const maintained = maintain(Effect.flatMap(prepared, ({ connectionOf }) => openForMigration(connectionOf)))
  return {
    validate: Effect.asVoid(readConnectionUrl(options.url)),
    check: withOpenFailures<void, DatabaseFailure | DatabaseUnsuitable>(Effect.asVoid(prepare(options))),
    sql: Effect.flatMap(maintained.read, sqlOf),
    ...maintained
  }
}

/** The schema of an embedded database, which has no other user meanwhile. */
export const maintainPGlite = (
  options: PGliteOptions
): SchemaMaintenance<DatabaseFailure | DatabaseUnsuitable | DirectoryInUse> => {
  const { migrate, read: readExisting } = maintain(openEmbedded(options))
  const { directory } = options
  const read = Effect.suspend(() =>
    existsIn(directory) ? readExisting : Effect.map(emptyState, (state) => ({ version: null, ...state }))
  )
  return {
    validate: Effect.void,
    check: Effect.void,
    risks: Effect.succeed([]),
    sql: Effect.flatMap(read, sqlOf),
    migrate,
    read
  }
}

/** Converts the errors of opening a database into `DatabaseFailure`. */
const openFailures = {
  SqlError: (error: SqlError.SqlError) => Effect.fail(fromSqlError(error)),
  MigrationError: (error: Migrator.MigrationError) =>
    Effect.fail(
      SqlError.isSqlError(error.cause)
        ? fromSqlError(error.cause)
        : new DatabaseFailure({
            message: error.message,
            code: undefined,
            constraint: undefined,
            isUnavailable: false,
            cause: error
          })
    )
}

const makeLayer = <E, R>(open: Effect.Effect<typeof Database.Service, E, R>) =>
  Layer.effect(Database, open).pipe(Layer.provide(Reactivity.layer))
