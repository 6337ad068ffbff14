import { Context, type Effect } from "effect"

/** The number of database connections in one state. */
export interface DatabaseConnectionCount {
  /** The database's own name of the state, such as `active`, `idle` or `idle in transaction`. One of a few. */
  readonly state: string
  readonly count: number
}

/**
 * Counts the connections to this server's database, including those of other servers; undefined without a database,
 * as in memory. Operators see the result.
 */
export const DatabaseConnections = Context.Reference<
  | Effect.Effect<{
      /** The maximum number of connections that the database accepts. */
      readonly limit: number
      readonly byState: ReadonlyArray<DatabaseConnectionCount>
    }>
  | undefined
>("@agentos/http-server/DatabaseConnections", { defaultValue: () => undefined })
