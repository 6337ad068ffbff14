import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A row counts the declined calls of one caller to one number within a minute, and is deleted after a quiet one. */
export const createDeclinedCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table declined_calls (
      phone_number_id uuid,
      caller text,
      tenant_id uuid not null,
      declined_count integer not null,
      provider_call_id text not null,
      declined_at bigint not null,
      due_at bigint not null,
      constraint declined_calls_key primary key (phone_number_id, caller)
    ) with (fillfactor = 50, autovacuum_vacuum_threshold = 2000)`
  yield* sql`create index declined_calls_due on declined_calls (due_at)`
})
