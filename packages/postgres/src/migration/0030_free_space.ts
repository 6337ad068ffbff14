import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `database_has_room` writes a megabyte that does not fit into memory to a temporary file. It fails if the disk of the
 * database has no room for it: then a commit that fits into the log succeeds, and most others don't.
 */
export const createFreeSpaceCheck = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function database_has_room() returns boolean
    language sql volatile set work_mem = '64kB' set temp_tablespaces = '' as $$
      with pages as materialized (select repeat('x', 8000) from generate_series(1, 128))
      select count(*) = 128 from pages
    $$`
})
