import { Database, layerPostgres, type PostgresOptions } from "@agentos/postgres"
import { Effect, ManagedRuntime, Redacted } from "effect"

/** Returns the URL of another database on the same server. */
export const databaseUrl = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.toString()
}

/** A connection from the test. */
export interface OpenDatabase {
  /** Runs statements in order, outside a transaction; returns the rows of the last. */
  readonly execute: (...statements: ReadonlyArray<string>) => Promise<ReadonlyArray<Row>>
  readonly close: () => Promise<void>
}

export const openDatabase = (url: string, options: Pick<PostgresOptions, "statementTimeout"> = {}): OpenDatabase => {
  const runtime = ManagedRuntime.make(
    layerPostgres({ url: Redacted.make(url), maxConnections: 1, applicationName: "test", ...options })
  )
  return {
    execute: (...statements) =>
      runtime.runPromise(
        Effect.gen(function* () {
          const { sql } = yield* Database
          let rows: ReadonlyArray<Row> = []
          for (const statement of statements) rows = yield* sql.unsafe<Row>(statement)
          return rows
        })
      ),
    close: () => runtime.dispose()
  }
}

/** Runs statements on a connection that is closed afterwards. */
export const execute = async (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<Row>> => {
  const database = openDatabase(url)
  try {
    return await database.execute(...statements)
  } finally {
    await database.close()
  }
}

export type Row = Readonly<Record<string, unknown>>
