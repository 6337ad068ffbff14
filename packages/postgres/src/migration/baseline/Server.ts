import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Functions, and the tables of the servers themselves. */
export const createServer = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Moments are bigints of epoch milliseconds everywhere, exactly as in the core: a finer unit would order rows by digits
  // that no client can see.
  yield* sql`
    create function epoch_millis() returns bigint language sql volatile
    return floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

  // Writes a megabyte that does not fit into memory to a temporary file. It fails if the disk of the database has no room
  // for it: then a commit that fits into the log succeeds, and most others don't.
  yield* sql`
    create function database_has_room() returns boolean
    language sql volatile set work_mem = '64kB' set temp_tablespaces = '' as $$
      with pages as materialized (select repeat('x', 8000) from generate_series(1, 128))
      select count(*) = 128 from pages
    $$`

  // One row per job, inserted when the job is first leased. The fence counts its runs.
  yield* sql`
    create table jobs (
      name text constraint jobs_key primary key,
      due_at bigint not null,
      leased_until bigint,
      fence integer not null,
      started_at bigint,
      succeeded_at bigint,
      failed_at bigint,
      failure text,
      failures bigint not null default 0,
      done bigint not null default 0
    ) with (fillfactor = 50)`

  // How many tokens are missing from each shared bucket of the rate limiters as of `updated_at`, and when the bucket is
  // full again at the latest. Unlogged: after a crash of the database every bucket may be full again, and no other table
  // is affected.
  yield* sql`
    create unlogged table rate_limits (
      rule text,
      subject text,
      burst double precision not null,
      per_second double precision not null,
      missing double precision not null,
      updated_at bigint not null,
      full_at bigint not null,
      constraint rate_limits_key primary key (rule, subject)
    ) with (fillfactor = 50)`
  yield* sql`create index rate_limits_full_at on rate_limits (full_at)`

  // The messages between servers, and the voice sessions of all servers. `phone_number_ids` has the numbers whose calls a
  // session answers, comma-separated; null for all. Neither table has rows that outlive a minute, so both are unlogged: a
  // commit does not wait for the disk, and a crash of the database empties them.
  yield* sql`
    create unlogged table server_messages (
      message_id bigint generated always as identity constraint server_messages_key primary key,
      server_id uuid not null,
      body text not null,
      expires_at bigint not null
    )`
  yield* sql`create index server_messages_of_server on server_messages (server_id, message_id)`
  yield* sql`create index server_messages_expiring on server_messages (expires_at)`
  yield* sql`
    create unlogged table agent_sessions (
      session_id uuid constraint agent_sessions_key primary key,
      tenant_id uuid not null,
      server_id uuid not null,
      expires_at bigint not null,
      phone_number_ids text
    )`
  yield* sql`create index agent_sessions_of_tenant on agent_sessions (tenant_id)`
})
