import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ClockOffset } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import { readRisks } from "./DatabaseRisks.ts"
import { TABLES } from "./Migrations.ts"
import * as Parameter from "./Parameter.ts"

/**
 * Reads the time of the database, in milliseconds since the Unix epoch, as the stores use it. Outside of transactions it is
 * taken between the moment that the statement is sent and its answer.
 */
export const databaseTime = Effect.gen(function* () {
  const { sql } = yield* Database
  const offset = yield* ClockOffset
  const rows = yield* orDie(sql<{ readonly millis: number }>`select epoch_millis()::float8 as millis`)
  return Number(rows[0]?.millis) + offset()
})

interface ConnectionRow {
  readonly state: string
  readonly count: number
  readonly connections_max: number
}

/**
 * Counts the client connections to the database, from any program, by state (`active`, `idle`, `idle in
 * transaction`; `unknown` where this role may not see it). Also returns `limit`, the number that the server
 * allows for all its databases.
 */
export const countConnections = Effect.gen(function* () {
  const { sql } = yield* Database
  const rows = yield* orDie(sql<ConnectionRow>`
    select coalesce(state, 'unknown') as state, count(*)::int as count,
      current_setting('max_connections')::int as connections_max
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
    group by 1 order by 1`)
  return {
    limit: rows[0]?.connections_max ?? 0,
    byState: rows.map(({ count, state }) => ({ state, count }))
  }
})

/**
 * Returns the size of each table with its indexes and the values that are stored apart from its rows, as its last vacuum left
 * it in the catalog. Opens no table and no file, so it waits for no lock and takes as long for a large database.
 */
export const tableSizes = Effect.gen(function* () {
  const { sql } = yield* Database
  return yield* orDie(sql<{ readonly name: string; readonly bytes: number }>`
    with heaps as (
      select relname as name, unnest(array[oid, reltoastrelid]) as heap
      from pg_class where oid in (select to_regclass(name) from unnest(${Parameter.texts(TABLES)}) as name)
    ), parts as (
      select name, heap as part from heaps
      union all select name, indexrelid from heaps join pg_index on indrelid = heap
    )
    select name::text, (sum(relpages::bigint) * current_setting('block_size')::int)::float8 as bytes
    from parts join pg_class on oid = part group by name order by name`)
})

/** What an operator should know of a database that serves: see `readRisks`. */
export const databaseRisks = Effect.flatMap(Database, ({ sql }) =>
  orDie(Effect.provideService(readRisks, SqlClient.SqlClient, sql))
)
