import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whether the turns of an ended call were deleted; null: they were not. */
export const addRemovedTurns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table calls add column turns_removed boolean`
})
