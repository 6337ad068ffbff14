import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The last failed attempt at an operation. It counts only while the operation is in `failed_state`: older servers keep it. */
export const addFailedAttempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table operations
      add column failed_state text, add column failed_attempts integer,
      add column failed_at bigint, add column failed_reason text`
})
