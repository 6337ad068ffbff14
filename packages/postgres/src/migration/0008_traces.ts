import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The trace of the request that claimed an operation. */
export const addTraces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table operations add column trace text`
})
