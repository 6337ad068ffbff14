import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Calls that were extended before count as extended by 0 s. Only inbound calls, which could not be extended, use it. */
export const addCallExtensions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table calls add column extended_seconds integer not null default 0`
})
