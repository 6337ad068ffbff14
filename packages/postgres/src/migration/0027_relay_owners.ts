import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `phone_number_ids`: the numbers whose calls a voice session answers, comma-separated; null for all.
 * `redeemed_relay_hash`: the hash of the last token that opened a relay of the call, which has the call now.
 */
export const addRelayOwners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table agent_sessions add column phone_number_ids text`
  yield* sql`alter table calls add column redeemed_relay_hash text`
})
