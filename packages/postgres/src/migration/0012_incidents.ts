import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The conditions that operators must handle, each until its operators know that it is gone. */
export const createIncidents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table incidents (
      kind text,
      subject text,
      incident_id uuid not null,
      summary text not null,
      action text not null,
      opened_at bigint not null,
      seen_at bigint not null,
      resolved_at bigint,
      informed text[] not null,
      attempts integer not null,
      attempt_at bigint,
      constraint incidents_key primary key (kind, subject)
    )`
})
