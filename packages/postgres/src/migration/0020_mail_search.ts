import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `search` has the terms by which a message is found; null until the job `message-search` fills it in, for messages of
 * older versions.
 */
export const createMailSearch = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table messages add column search tsvector`
})
