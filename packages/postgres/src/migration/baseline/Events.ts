import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Events, and the webhooks that receive them. */
export const createEvents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Of a tenant's events, few can still be delivered, fewer have failed, and many are final and kept. Statements on the few
  // use indexes that do not contain the many. Each of these indexes has a column of its own, which equals the tenant while
  // the event belongs to the index. So a planner with wrong statistics cannot mistake another index for a cheaper one. For
  // the same reason `tenant_id` leads only one index.
  //
  // Payloads are text: JSON is returned as it was stored, including U+0000, which jsonb refuses. Every event is updated at
  // least twice, so pages keep free space for that, and dead rows are vacuumed before they are many. There is no foreign
  // key to the tenant: an append holds the lock of the tenant's row.
  yield* sql`
    create table events (
      event_id uuid constraint events_key primary key,
      tenant_id uuid not null,
      type text not null,
      source text not null,
      service text not null,
      resource_id text not null,
      agent_id text not null,
      payload text not null,
      dedupe_key text not null,
      status text not null default 'pending',
      created_at bigint not null,
      expires_at bigint not null,
      open_tenant_id uuid generated always as (
        case when status in ('pending', 'delivered') then tenant_id end
      ) stored,
      failed_tenant_id uuid generated always as (case status when 'failed' then tenant_id end) stored,
      delivered_at bigint,
      acknowledged_at bigint,
      delivery_count integer not null default 0,
      lapses integer not null default 0,
      session_id text,
      delivery_id uuid,
      leased_until bigint,
      constraint events_dedupe_key unique (dedupe_key, tenant_id),
      constraint events_status check (status in ('pending', 'delivered', 'acknowledged', 'expired', 'failed'))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    )`
  yield* sql`create index events_order on events (tenant_id, created_at, event_id)`
  yield* sql`
    create index events_open on events (open_tenant_id, created_at, event_id) where open_tenant_id is not null`
  yield* sql`
    create index events_failed on events (failed_tenant_id, created_at, event_id) where failed_tenant_id is not null`
  yield* sql`create index events_session on events (session_id) where session_id is not null`
  // Serves the job that marks events as expired: it contains only open events, ordered by expiry. Its condition is written
  // as in no other statement, so that no other statement uses it to find open events.
  yield* sql`create index events_expiring on events (expires_at) where open_tenant_id = tenant_id`

  // Deleted agents whose open events have not all expired yet. There is no foreign key to the tenant: a deletion holds the
  // lock of the tenant's row.
  yield* sql`
    create table deleted_agents (
      tenant_id uuid,
      agent_id text,
      constraint deleted_agents_key primary key (tenant_id, agent_id)
    )`

  // Event webhooks, one for a tenant. While an endpoint is leased, `due_at` is the end of the lease, so that one index
  // finds those that are due and those whose server died. Types and retries are JSON: they are only read whole. The events
  // of a tenant have no index by webhook: `seen_event_id` is the tenant's newest event at the beginning of the last turn,
  // and tells whether there are others. `has_answered` tells whether the endpoint has ever answered 2xx: some slots of each
  // server are reserved for those that do.
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
      has_answered boolean not null default false,
      constraint event_webhooks_state check (state in ('active', 'paused'))
    ) with (fillfactor = 70)`
  yield* sql`create index event_webhooks_due on event_webhooks (due_at) where due_at is not null`

  // The last attempts of each webhook.
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
