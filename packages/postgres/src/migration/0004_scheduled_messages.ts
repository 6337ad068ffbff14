import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Messages that are sent later. */
export const createScheduledMessages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Null for a message that the relay refused temporarily when it was sent at once.
  yield* sql`alter table message_retries add column send_at bigint`
})
