import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores the outbound messages with recipients that the relay refused temporarily. `due_at` is the end of the lease
 * while an attempt runs. A retry refers to its message without a foreign key, so that the deletion of a large mailbox
 * checks nothing for each message: the retry of a deleted message ends at its next attempt.
 */
export const createMessageRetries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table message_retries (
      message_id uuid constraint message_retries_key primary key,
      tenant_id uuid not null constraint message_retries_tenant references tenants,
      attempts integer not null,
      due_at bigint not null
    )`
  yield* sql`create index message_retries_due on message_retries (due_at, message_id)`
})
