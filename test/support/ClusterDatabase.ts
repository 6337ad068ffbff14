import { Database, layerPostgres } from "@agentos/postgres"
import { Effect, Redacted } from "effect"

/** The same server's address with another database. */
export const databaseUrl = (serverUrl: string, database: string): string => {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.toString()
}

/** Runs statements one after the other, outside a transaction; answers the rows of the last. */
export const execute = (url: string, ...statements: ReadonlyArray<string>): Promise<ReadonlyArray<Row>> =>
  Effect.gen(function* () {
    const { sql } = yield* Database
    let rows: ReadonlyArray<Row> = []
    for (const statement of statements) rows = yield* sql.unsafe<Row>(statement)
    return rows
  }).pipe(
    Effect.provide(layerPostgres({ url: Redacted.make(url), maxConnections: 1, applicationName: "test" })),
    Effect.runPromise
  )

export type Row = Readonly<Record<string, unknown>>
