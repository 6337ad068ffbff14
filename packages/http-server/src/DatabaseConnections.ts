import { Context, type Effect } from "effect"

/** What a database says of the connections to it. */
export interface DatabaseConnectionCount {
  /** As the database calls it: `active`, `idle`, `idle in transaction`. One of a few. */
  readonly state: string
  readonly count: number
}

/**
 * How the connections to the database of this server are counted, those of other servers included; undefined where
 * there are none, as in memory. An operator is shown it.
 */
export const DatabaseConnections = Context.Reference<
  | Effect.Effect<{
      /** How many it takes at most. */
      readonly limit: number
      readonly byState: ReadonlyArray<DatabaseConnectionCount>
    }>
  | undefined
>("@agentos/http-server/DatabaseConnections", { defaultValue: () => undefined })
