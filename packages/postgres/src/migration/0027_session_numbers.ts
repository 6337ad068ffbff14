import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The numbers whose calls a voice session answers, comma-separated; null for all. */
export const addSessionNumbers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table agent_sessions add column phone_number_ids text`
})
