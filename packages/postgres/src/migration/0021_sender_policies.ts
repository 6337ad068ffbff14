import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** `sender_policy` is JSON as text; null for a mailbox that receives mail from anyone. */
export const addSenderPolicies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table mailboxes add column sender_policy text`
})
