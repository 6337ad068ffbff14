import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The counts of refused mails of mailboxes. */
export const addRefusedMails = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // JSON as text; null for a mailbox whose mail was never refused.
  yield* sql`alter table mailboxes add column refused text`
})
