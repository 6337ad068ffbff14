import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who answered a call, as the carrier recognized it. */
export const addAnsweredBy = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table calls add column answered_by text`
})
