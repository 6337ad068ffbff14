import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Phone numbers and calls. Those that jobs read are few beside those that are final, and are found by indexes that do not
 * contain the many. Each of these indexes has a column of its own, which is null where the row does not belong to the
 * index. So a planner with wrong statistics cannot mistake another index for a cheaper one. For the same reason
 * `tenant_id` and `phone_number_id` each lead at most one index without a condition.
 */
export const createPhone = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The state of a phone number: `operation_id` names the purchase that has chosen it; null means that it belongs to an
  // unreleased number. The whole state is in one row, so that one lock settles a race. The row is deleted when the choice is
  // given up or the number is released.
  yield* sql`
    create table held_numbers (
      number text constraint held_numbers_key primary key,
      operation_id uuid constraint held_numbers_operation_key unique
    )`

  yield* sql`
    create table phone_numbers (
      phone_number_id uuid constraint phone_numbers_key primary key,
      tenant_id uuid not null constraint phone_numbers_tenant references tenants,
      agent_id uuid not null,
      number text not null,
      country text not null,
      provider_number_id text not null,
      agent_name text not null,
      agent_webhook_url text not null,
      description text,
      begin_message text,
      voice text,
      language text,
      state text not null,
      suspension text,
      started_at bigint not null,
      expires_at bigint not null,
      notice_days integer,
      notice_at bigint,
      purchased_seconds integer not null,
      used_seconds integer not null,
      callback_key_id integer not null,
      callback_version integer not null,
      created_at bigint not null,
      released_at bigint,
      unreleased_number text generated always as (case when state <> 'released' then number end) stored,
      unreleased_id uuid generated always as (case when state <> 'released' then phone_number_id end) stored,
      suspended_id uuid generated always as (case state when 'suspended' then phone_number_id end) stored,
      notice_due_at bigint generated always as (case state when 'active' then notice_at end) stored,
      expiry_due_at bigint generated always as (case state when 'active' then expires_at end) stored,
      constraint phone_numbers_state check (state in ('active', 'suspended', 'released')),
      constraint phone_numbers_notice check ((notice_days is null) = (notice_at is null))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    )`
  yield* sql`create index phone_numbers_order on phone_numbers (tenant_id, created_at, phone_number_id)`
  yield* sql`
    create unique index phone_numbers_unreleased_number on phone_numbers (unreleased_number)
    where unreleased_number is not null`
  yield* sql`
    create index phone_numbers_unreleased on phone_numbers (unreleased_id) where unreleased_id is not null`
  yield* sql`create index phone_numbers_suspended on phone_numbers (suspended_id) where suspended_id is not null`
  yield* sql`
    create index phone_numbers_notice_due on phone_numbers (notice_due_at, phone_number_id)
    where notice_due_at is not null`
  yield* sql`
    create index phone_numbers_expiry_due on phone_numbers (expiry_due_at, phone_number_id)
    where expiry_due_at is not null`

  // A live call without `watch_at` would never be polled or ended, so the database refuses it. `relay_token_hash` is that of
  // the token that may open a relay of the call, and `redeemed_relay_hash` that of the last one that did, which has the call
  // now.
  yield* sql`
    create table calls (
      call_id uuid constraint calls_key primary key,
      tenant_id uuid not null constraint calls_tenant references tenants,
      phone_number_id uuid not null constraint calls_number references phone_numbers,
      agent_id uuid not null,
      direction text not null,
      from_number text not null,
      to_number text not null,
      state text not null,
      provider_call_id text constraint calls_provider_key unique,
      greeting text,
      authorized_seconds integer not null,
      hang_up_reason text,
      end_reason text,
      connected_seconds integer not null,
      watch_at bigint,
      created_at bigint not null,
      answered_at bigint,
      ended_at bigint,
      relay_token_hash text,
      turn_count integer not null default 0,
      live_number_id uuid generated always as (case when state <> 'ended' then phone_number_id end) stored,
      extended_seconds integer not null default 0,
      redeemed_relay_hash text,
      constraint calls_state check (state in ('queued', 'ringing', 'in_progress', 'ended')),
      constraint calls_watched_until_ended check ((watch_at is null) = (state = 'ended'))
    ) with (
      fillfactor = 85,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    )`
  yield* sql`create index calls_watched on calls (watch_at, call_id) where watch_at is not null`
  yield* sql`create index calls_live on calls (live_number_id, created_at, call_id) where live_number_id is not null`
  yield* sql`create unique index calls_relay on calls (relay_token_hash) where relay_token_hash is not null`
  // Serves the list of a tenant's recent outbound calls, newest first.
  yield* sql`create index calls_outbound on calls (tenant_id, created_at, call_id) where direction = 'outbound'`
  // Serve the lists of a tenant's calls and of a number's calls, newest first. Every row is in both: their conditions are
  // written as in no other statement, so that no other statement uses them.
  yield* sql`create index calls_listed on calls (tenant_id, created_at, call_id) where connected_seconds >= 0`
  yield* sql`create index calls_of_number on calls (phone_number_id, created_at, call_id) where authorized_seconds >= 0`

  yield* sql`
    create table call_grants (
      operation_id uuid constraint call_grants_key primary key,
      call_id uuid not null constraint call_grants_call references calls,
      seconds integer not null
    )`
  yield* sql`
    create table call_turns (
      call_id uuid constraint call_turns_call references calls,
      turn_index integer,
      role text not null,
      text text not null,
      created_at bigint not null,
      constraint call_turns_key primary key (call_id, turn_index)
    )`

  // A row counts the declined calls of one caller to one number within a minute, and is deleted after a quiet one.
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
