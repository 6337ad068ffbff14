import type { Transactor } from "@agentos/core"
import { PgClient, type PgConnection } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, type Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, SqlError } from "effect/sql"
import { type Announcements, makeListening, makeLocal } from "./Announcements.ts"
import { DatabaseFailure, fromSqlError } from "./DatabaseFailure.ts"
import type { DirectoryInUse } from "./DirectoryLock.ts"
import { emptyState, migrate, type SchemaState, schemaState } from "./Migrations.ts"
import { hasDatabase, openPGlite } from "./PGliteDatabase.ts"
import { openPGliteStream } from "./PGliteStream.ts"
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

/** Options of a PostgreSQL server, version 14 or later. */
export interface PostgresOptions {
  /**
   * A URL as libpq reads it: `postgres://user:password@host:port/database?sslmode=…`. A connection pooler in
   * between must support sessions, for LISTEN, and pass on the startup parameters of a connection.
   */
  readonly url: Redacted.Redacted
  /**
   * Limit of connections for statements and transactions, 10 by default; two more deliver events, one listens for
   * them, and one runs transactions that paid operations share.
   */
  readonly maxConnections?: number | undefined
  /**
   * Time after which the server cancels a statement: 10 seconds by default. A connection on which no byte comes for two
   * seconds longer is closed, since the server, or what is between, does not answer on it any more.
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
}

/** Options of an embedded database in this process. */
export interface PGliteOptions {
  /**
   * Directory of the database, created if missing and used by one process at a time. Default: in memory, lost
   * at the end.
   */
  readonly directory?: string | undefined
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

const connectionTo = (options: PostgresOptions): PgConnection.Config => ({
  url: options.url,
  applicationName: options.applicationName ?? "agentos",
  connectTimeout: options.connectTimeout ?? "5 seconds",
  keepAlive: "15 seconds",
  maxMessageSize: MESSAGE_LIMIT,
  startupParameters: {
    ...PLANNING,
    statement_timeout: millis(options.statementTimeout ?? STATEMENT_TIMEOUT),
    idle_in_transaction_session_timeout: millis(options.idleInTransactionTimeout ?? "10 seconds")
  }
})

/** Opens connections for a migration, which may take longer than any other statement. */
const openForMigration = (options: PostgresOptions) => PgClient.make({ ...connectionTo(options), maxConnections: 2 })

/** Opens a pool to a PostgreSQL server and migrates the database. */
export const layerPostgres = (options: PostgresOptions): Layer.Layer<Database, DatabaseFailure> => {
  const answerTimeout = millisOf(options.statementTimeout ?? STATEMENT_TIMEOUT) + ANSWER_MARGIN_MILLIS
  const connection = { ...connectionTo(options), answerTimeout }
  return makeLayer(
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.flatMap(openForMigration(options), (sql) => Effect.provideService(migrate, SqlClient.SqlClient, sql))
      )
      const sql = yield* PgClient.make({
        ...connection,
        maxConnections: options.maxConnections ?? 10,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      const delivery = yield* PgClient.make({
        ...connection,
        startupParameters: { ...connection.startupParameters, ...PLANNING_ONCE },
        applicationName: `${connection.applicationName} delivery`,
        maxConnections: DELIVERY_CONNECTIONS,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      const transact = makeTransact(sql, yield* makeShared(sql, connection))
      return { sql, delivery, transact, announcements: yield* makeListening(sql, connection) }
    }).pipe(Effect.catchTags(openFailures))
  )
}

/**
 * The default of 128 MB would be allocated in this process at startup. The operating system caches the files as
 * well.
 */
const EMBEDDED_MEMORY = { shared_buffers: "32MB" }

const openEmbedded = Effect.fnUntraced(function* ({ directory }: PGliteOptions) {
  const database = yield* openPGlite(directory, { ...PLANNING, ...EMBEDDED_MEMORY })
  return yield* PgClient.make({
    stream: () => openPGliteStream(database),
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
 * it has ended.
 *
 * Committed data survives the end of this process, however it ends. It may not survive a loss of power: PGlite
 * writes to the operating system and does not sync to disk.
 */
export const layerPGlite = (options: PGliteOptions = {}): Layer.Layer<Database, DatabaseFailure | DirectoryInUse> =>
  makeLayer(
    Effect.gen(function* () {
      const sql = yield* openEmbedded(options)
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      yield* Effect.forkScoped(vacuumWhenDue(sql))
      return { sql, delivery: sql, transact: makeTransact(sql), announcements: makeLocal(sql) }
    }).pipe(Effect.catchTags(openFailures))
  )

/** The schema of a database, for commands that run before a server or beside it. */
export interface SchemaMaintenance<E = DatabaseFailure> {
  /** Reads the version of PostgreSQL, null if the embedded database does not exist yet. Creates and changes nothing. */
  readonly read: Effect.Effect<SchemaState & { readonly version: string | null }, E>
  /** Migrates the database. Returns the names of the migrations that ran. */
  readonly migrate: Effect.Effect<ReadonlyArray<string>, E>
}

const maintain = <E>(
  open: Effect.Effect<SqlClient.SqlClient, SqlError.SqlError | E, Scope.Scope | Reactivity.Reactivity>
): SchemaMaintenance<DatabaseFailure | E> => {
  const using = <A>(effect: Effect.Effect<A, Migrator.MigrationError | SqlError.SqlError, SqlClient.SqlClient>) =>
    Effect.flatMap(open, (sql) => Effect.provideService(effect, SqlClient.SqlClient, sql)).pipe(
      Effect.scoped,
      Effect.provide(Reactivity.layer),
      Effect.catchIf(SqlError.isSqlError, (error) => Effect.fail(fromSqlError(error))),
      Effect.catchIf((error) => error instanceof Migrator.MigrationError, openFailures.MigrationError)
    )
  const read = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string }>`select current_setting('server_version') as version`
    return { version: row?.version ?? "", ...(yield* schemaState) }
  })
  return { read: using(read), migrate: using(migrate) }
}

/** The schema of a database on a PostgreSQL server. */
export const maintainPostgres = (options: PostgresOptions): SchemaMaintenance =>
  maintain<never>(openForMigration(options))

/** The schema of an embedded database, which has no other user meanwhile. */
export const maintainPGlite = (options: PGliteOptions): SchemaMaintenance<DatabaseFailure | DirectoryInUse> => {
  const { migrate, read } = maintain(openEmbedded(options))
  const { directory } = options
  const exists = Effect.sync(() => directory !== undefined && hasDatabase(directory))
  return {
    migrate,
    read: Effect.flatMap(exists, (found) =>
      found ? read : Effect.map(emptyState, (state) => ({ version: null, ...state }))
    )
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
