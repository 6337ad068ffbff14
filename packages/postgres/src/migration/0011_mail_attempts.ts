import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What operators see of waiting mail. An attempt whose number is recorded here has ended, so its row is not leased: the time
 * beside it is that of the next attempt. Without that, as older servers write it, the row counts as leased until then.
 */
export const addMailAttempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    alter table inbound_mails
      add column failure text, add column failed_attempt integer, add column replayed_after integer`
  yield* sql`alter table message_retries add column ended_attempt integer, add column outcome text`
})
