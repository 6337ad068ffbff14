import { DatabaseClock, DatabaseState } from "@agentos/http-server"
import type { Database, DatabaseDiagnosis, Postgres, SchemaMaintenance } from "@agentos/postgres"
import { Context, Duration, Effect, Layer, Redacted } from "effect"

export type StoragePorts = Layer.Success<typeof Postgres.layer>

/** Diagnoses the database of a storage that has one, for its operator. */
export const StorageDiagnosis = Context.Reference<Effect.Effect<DatabaseDiagnosis> | undefined>(
  "@agentos/agentos/StorageDiagnosis",
  {
    defaultValue: () => undefined
  }
)

/** Where everything is stored: `postgres(…)`, `pglite(…)` or `memory()`. */
export interface Storage {
  /** Whether several servers may use it, so that limits are shared through it. */
  readonly isShared: boolean
  readonly layer: Layer.Layer<StoragePorts, unknown>
  /** Reads and migrates its schema without opening it; undefined if it has none. */
  readonly schema: Effect.Effect<SchemaMaintenance<unknown>> | undefined
}

export interface PostgresSettings {
  /** Maximum number of connections of this process. */
  readonly maxConnections?: number | undefined
  /** Processes with these settings, this one included, whose connections the database must allow: 1 by default. */
  readonly processes?: number | undefined
  /** Maximum time of a statement, and of an idle transaction, in seconds. */
  readonly statementTimeoutSeconds?: number | undefined
  readonly idleTransactionTimeoutSeconds?: number | undefined
  /** The version of the program, by which the servers of a database see each other. */
  readonly version?: string | undefined
  /** Whether opening it creates or migrates its tables, as by default, or fails unless they are up to date. */
  readonly migrates?: boolean | undefined
}

const loadPostgres = Effect.promise(() => import("@agentos/postgres"))
/** Reads about the database with the services of its layer. */
const onDatabase = <A>(read: Effect.Effect<A, never, Database>) =>
  Effect.map(Effect.context<Database>(), (context) => Effect.provideContext(read, context))
const seconds = (count: number | undefined) => (count === undefined ? undefined : Duration.seconds(count))

/**
 * A PostgreSQL server, named by a URL that begins with `postgres://` or `postgresql://`. Any number of servers may share
 * it. Opening it creates its tables and brings them up to date, and warns about settings that risk losing data. It fails
 * with `DatabaseUnsuitable`, which names the reason and the fix, if the database can't serve.
 */
export const postgres = (url: string | Redacted.Redacted<string>, settings: PostgresSettings = {}): Storage => {
  const options = {
    url: typeof url === "string" ? Redacted.make(url) : url,
    maxConnections: settings.maxConnections,
    processes: settings.processes,
    statementTimeout: seconds(settings.statementTimeoutSeconds),
    idleInTransactionTimeout: seconds(settings.idleTransactionTimeoutSeconds),
    version: settings.version,
    migrates: settings.migrates
  }
  return {
    isShared: true,
    schema: Effect.map(loadPostgres, ({ maintainPostgres }) => maintainPostgres(options)),
    layer: Layer.unwrap(
      Effect.map(
        loadPostgres,
        ({ countConnections, databaseRisks, databaseTime, diagnoseDatabase, layerPostgres, Postgres, tableSizes }) => {
          const warnOfRisks = Layer.effectDiscard(
            Effect.gen(function* () {
              for (const { fix, problem } of yield* databaseRisks) yield* Effect.logWarning(`${problem}. ${fix}`)
            })
          )
          const state = Layer.effect(
            DatabaseState,
            onDatabase(Effect.all({ connections: countConnections, tables: tableSizes }))
          )
          const diagnosis = Layer.effect(StorageDiagnosis, onDatabase(diagnoseDatabase(null)))
          const clock = Layer.effect(
            DatabaseClock,
            Effect.map(onDatabase(databaseTime), (time) => ({
              source: "database",
              read: Effect.map(time, (now) => ({ earliest: now, latest: now }))
            }))
          )
          return Layer.mergeAll(Postgres.layer, state, diagnosis, clock, warnOfRisks).pipe(
            Layer.provide(layerPostgres(options))
          )
        }
      )
    )
  }
}

/**
 * PostgreSQL embedded in this process, with its files in a directory that one process uses at a time. It can lose
 * committed data when the machine loses power: use a server for real payments.
 */
export const pglite = (directory: string, { migrates }: Pick<PostgresSettings, "migrates"> = {}): Storage => ({
  isShared: false,
  schema: Effect.map(loadPostgres, ({ maintainPGlite }) => maintainPGlite({ directory })),
  layer: Layer.unwrap(
    Effect.map(loadPostgres, ({ diagnoseDatabase, layerPGlite, Postgres, tableSizes }) =>
      Layer.mergeAll(
        Postgres.layer,
        Layer.effect(
          DatabaseState,
          onDatabase(Effect.map(tableSizes, (tables) => ({ connections: undefined, tables })))
        ),
        Layer.effect(StorageDiagnosis, onDatabase(diagnoseDatabase(directory)))
      ).pipe(Layer.provide(layerPGlite({ directory, migrates })))
    )
  )
})

/** The memory of this process: everything is lost with it. For tests and trials. */
export const memory = (): Storage => ({
  isShared: false,
  schema: undefined,
  layer: Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@agentos/memory")),
      ({ Memory }) => Memory.layer
    )
  )
})
