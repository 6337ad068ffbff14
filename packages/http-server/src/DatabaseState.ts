import { Context, type Effect } from "effect"

/** The number of database connections in one state. */
export interface DatabaseConnectionCount {
  /** The database's own name of the state, such as `active`, `idle` or `idle in transaction`. One of a few. */
  readonly state: string
  readonly count: number
}

/** The size of a table with its indexes and the values that are stored apart from its rows. */
export interface TableSize {
  readonly name: string
  readonly bytes: number
}

/** The state of this server's database, which operators see; undefined without a database, as in memory. */
export const DatabaseState = Context.Reference<
  | Effect.Effect<{
      /** The connections to the database, including those of other servers; undefined if it is embedded. */
      readonly connections:
        | {
            /** The maximum number of connections that the database accepts. */
            readonly limit: number
            readonly byState: ReadonlyArray<DatabaseConnectionCount>
          }
        | undefined
      /** Of each table of this program. */
      readonly tables: ReadonlyArray<TableSize>
    }>
  | undefined
>("@agentos/http-server/DatabaseState", { defaultValue: () => undefined })
