import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores the bounces and complaints that count towards a pause, each reporter once: a recipient, or a domain with a
 * leading `@`. The counters `bounced` and `complained` of `mail_sending` are no longer used.
 */
export const createMailFeedback = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table mail_feedback (
      tenant_id uuid constraint mail_feedback_tenant references tenants,
      reason text,
      reporter text,
      message_id uuid not null,
      created_at bigint not null,
      constraint mail_feedback_key primary key (tenant_id, reason, reporter)
    )`
  yield* sql`alter table mail_sending add column recipients_before integer not null default 0`
})
