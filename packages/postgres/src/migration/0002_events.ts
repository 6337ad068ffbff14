import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Of a tenant's events, those that can still be delivered are few, those that
 * failed are fewer, and those that are over are many, and kept. What works on
 * the few finds them by indexes that know nothing of the many. Each has a column
 * of its own, which is the tenant while the event belongs there: no planner,
 * however wrong its statistics, can take another index for a shorter way. For
 * the same reason `tenant_id` leads one index alone.
 *
 * Payloads are text: JSON comes back as it went in, U+0000 included, which
 * jsonb refuses. Every event is updated at least twice, so pages keep room
 * for that, and the rows left behind are cleared away before they are many.
 * No foreign key to the tenant: whoever appends holds the tenant's row.
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
