import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Event webhooks, one for a tenant, and their last attempts. While an endpoint is leased, `due_at` is the end of the
 * lease, so that one index finds those that are due and those whose server died. Types and retries are JSON: they are
 * only read whole. The events of a tenant have no index by webhook: `seen_event_id` is the tenant's newest event at the
 * beginning of the last turn, and tells whether there are others.
 */
export const createEventWebhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table event_webhooks (
      tenant_id uuid constraint event_webhooks_key primary key constraint event_webhooks_tenant references tenants,
      webhook_id uuid not null constraint event_webhooks_webhook_key unique,
      url text not null,
      types text,
      state text not null,
      secret_key_id integer not null,
      secret_version integer not null,
      previous_key_id integer,
      previous_version integer,
      previous_valid_until bigint,
      created_at bigint not null,
      updated_at bigint not null,
      paused_at bigint,
      retries text not null default '[]',
      failures integer not null default 0,
      fence integer not null default 1,
      leased_until bigint,
      due_at bigint,
      resting boolean not null default false,
      seen_event_id uuid,
      constraint event_webhooks_state check (state in ('active', 'paused'))
    ) with (fillfactor = 70)`
  yield* sql`create index event_webhooks_due on event_webhooks (due_at) where due_at is not null`
  yield* sql`
    create table event_webhook_attempts (
      webhook_id uuid constraint event_webhook_attempts_webhook
        references event_webhooks (webhook_id) on delete cascade,
      delivery_id uuid,
      event_id uuid not null,
      type text not null,
      attempt integer not null,
      created_at bigint not null,
      duration_millis integer not null,
      outcome text not null,
      response_status integer,
      error text,
      next_attempt_at bigint,
      constraint event_webhook_attempts_key primary key (webhook_id, delivery_id)
    )`
})
