import { PgClient, type PgConnection } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { type Migrator, SqlClient, SqlError } from "effect/sql"
import { type Announcements, makeListening, makeLocal } from "./Announcements.ts"
import { DatabaseFailure, fromSqlError } from "./DatabaseFailure.ts"
import type { DirectoryInUse } from "./DirectoryLock.ts"
import { migrate } from "./Migrations.ts"
import { openPGlite } from "./PGliteDatabase.ts"
import { openPGliteStream } from "./PGliteStream.ts"
import { makeTransact } from "./Transaction.ts"
import { vacuumWhenDue } from "./Vacuuming.ts"

/** An open database at the present schema, which every store of this package works on. */
export class Database extends Context.Service<
  Database,
  {
    readonly sql: SqlClient.SqlClient
    /**
     * For the few statements that deliver events, which are many a second: they keep their plans, and do not wait
     * for a connection behind requests. It knows nothing of the transactions of `sql`.
     */
    readonly delivery: SqlClient.SqlClient
    readonly announcements: Announcements
    /** See `Transactor`. */
    readonly transact: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@agentos/postgres/Database") {}

/** A PostgreSQL server, of version 14 or later. */
export interface PostgresOptions {
  /**
   * As libpq reads it: `postgres://user:password@host:port/database?sslmode=…`. A pooler in between must
   * keep sessions, for LISTEN, and hand on the settings that a connection begins with.
   */
  readonly url: Redacted.Redacted
  /** Connections for statements and transactions, 10 unless said; two more deliver events, and one listens for them. */
  readonly maxConnections?: number | undefined
  /** After how long the server gives up a statement: 30 seconds unless said. */
  readonly statementTimeout?: Duration.Input | undefined
  /**
   * After how long without a statement the server ends a transaction: 10 seconds unless said. Nothing is asked outside
   * within one, so only a process that stands still lets so much time pass, and others wait for what it has locked.
   */
  readonly idleInTransactionTimeout?: Duration.Input | undefined
  /** How long opening a connection may take: 5 seconds unless said. */
  readonly connectTimeout?: Duration.Input | undefined
  /** What pg_stat_activity calls this server: `agentos` unless said. */
  readonly applicationName?: string | undefined
}

/** A database in this process. */
export interface PGliteOptions {
  /** Where it is kept, by one process at a time; made where there is none. Left out: in memory, and gone at the end. */
  readonly directory?: string | undefined
}

/**
 * Plans must be right without statistics: those of a new or fast-growing table are
 * wrong, and in an embedded database nobody gathers any.
 *
 * - A plan is made for each execution. One that is kept was right for the tables as
 *   they were: a table that was empty then is searched from end to end ever after.
 * - Every statement has an index whose order it is meant to be read in. Reading all of
 *   a table, or all that an index finds before the first row is known, only ever looks
 *   cheaper to a planner that is mistaken about how much there is.
 * - No statement is so long that compiling it would pay.
 */
const PLANNING = {
  plan_cache_mode: "force_custom_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  jit: "off"
}

/**
 * Of statements that take a thousandth of a second, a half goes into planning. Those that deliver events are written so that there is
 * one index for each step of theirs, of which no plan can make a mistake whenever it is made; so it may be kept.
 */
const PLANNING_ONCE = { ...PLANNING, plan_cache_mode: "force_generic_plan" }
const DELIVERY_CONNECTIONS = 2

/** Mail of 25 MiB comes back in one message, beside what else there is in its row. */
const MESSAGE_LIMIT = 128 * 1024 * 1024

/**
 * How many statements share a connection, each going out before the one before
 * it is answered. Reads get several times as fast; a slow statement holds up
 * those behind it, so they are few. Transactions have a connection to themselves.
 */
const PIPELINE = 8

const millis = (duration: Duration.Input): string => `${Duration.toMillis(Duration.fromInputUnsafe(duration))}`

/** Opens a pool to a PostgreSQL server, and migrates it. */
export const layerPostgres = (options: PostgresOptions): Layer.Layer<Database, DatabaseFailure> => {
  const connection: PgConnection.Config = {
    url: options.url,
    applicationName: options.applicationName ?? "agentos",
    connectTimeout: options.connectTimeout ?? "5 seconds",
    keepAlive: "15 seconds",
    maxMessageSize: MESSAGE_LIMIT,
    startupParameters: {
      ...PLANNING,
      statement_timeout: millis(options.statementTimeout ?? "30 seconds"),
      idle_in_transaction_session_timeout: millis(options.idleInTransactionTimeout ?? "10 seconds")
    }
  }
  return makeLayer(
    Effect.gen(function* () {
      const sql = yield* PgClient.make({
        ...connection,
        maxConnections: options.maxConnections ?? 10,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      const delivery = yield* PgClient.make({
        ...connection,
        startupParameters: { ...connection.startupParameters, ...PLANNING_ONCE },
        applicationName: `${connection.applicationName} delivery`,
        maxConnections: DELIVERY_CONNECTIONS,
        multiplex: true,
        multiplexConcurrency: PIPELINE
      })
      return { sql, delivery, announcements: yield* makeListening(sql, connection) }
    }).pipe(Effect.catchTags(openFailures))
  )
}

/** The default of 128 MB is part of this process, touched as a whole at startup. Files are cached by the system, too. */
const EMBEDDED_MEMORY = { shared_buffers: "32MB" }

/**
 * Opens an embedded database, and migrates it. It has one connection: a
 * transaction waits until the one before it is over.
 *
 * What was committed outlives this process, however it ends. It does not outlive
 * a loss of power: PGlite hands its writes to the operating system and no further.
 */
export const layerPGlite = (options: PGliteOptions = {}): Layer.Layer<Database, DatabaseFailure | DirectoryInUse> =>
  makeLayer(
    Effect.gen(function* () {
      const database = yield* openPGlite(options.directory, { ...PLANNING, ...EMBEDDED_MEMORY })
      const sql = yield* PgClient.make({
        stream: () => openPGliteStream(database),
        ssl: false,
        username: "postgres",
        database: "postgres",
        maxMessageSize: MESSAGE_LIMIT,
        // A pool of one, so that a session that broke is opened again.
        maxConnections: 1,
        minConnections: 1
      })
      yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
      yield* Effect.forkScoped(vacuumWhenDue(sql))
      return { sql, delivery: sql, announcements: makeLocal(sql) }
    }).pipe(Effect.catchTags(openFailures))
  )

/** What went wrong while a database was opened, in the words of this package. */
const openFailures = {
  SqlError: (error: SqlError.SqlError) => Effect.fail(fromSqlError(error)),
  MigrationError: (error: Migrator.MigrationError) =>
    Effect.fail(
      SqlError.isSqlError(error.cause)
        ? fromSqlError(error.cause)
        : new DatabaseFailure({ message: error.message, code: undefined, constraint: undefined, cause: error })
    )
}

const makeLayer = <E, R>(open: Effect.Effect<Omit<typeof Database.Service, "transact">, E, R>) =>
  Layer.effect(
    Database,
    Effect.map(open, (database) => Database.of({ ...database, transact: makeTransact(database.sql) }))
  ).pipe(Layer.provide(Reactivity.layer))
