import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Of a tenant's events, few can still be delivered, fewer have failed, and many are final and kept. Statements
 * on the few use indexes that do not contain the many. Each of these indexes has a column of its own, which
 * equals the tenant while the event belongs to the index. So a planner with wrong statistics cannot mistake
 * another index for a cheaper one. For the same reason `tenant_id` leads only one index.
 *
 * Payloads are text: JSON is returned as it was stored, including U+0000, which jsonb refuses. Every event is
 * updated at least twice, so pages keep free space for that, and dead rows are vacuumed before they are many.
 * There is no foreign key to the tenant: an append holds the lock of the tenant's row.
 */
export const createEvents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
})
