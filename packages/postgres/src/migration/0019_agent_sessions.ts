import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The voice sessions of all servers, and the messages between servers. Neither outlives a minute, so both tables are
 * unlogged: a commit does not wait for the disk, and a crash of the database empties them.
 */
export const createAgentSessions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create unlogged table agent_sessions (
      session_id uuid constraint agent_sessions_key primary key,
      tenant_id uuid not null,
      server_id uuid not null,
      expires_at bigint not null
    )`
  yield* sql`create index agent_sessions_of_tenant on agent_sessions (tenant_id)`
  yield* sql`
    create unlogged table server_messages (
      message_id bigint generated always as identity constraint server_messages_key primary key,
      server_id uuid not null,
      body text not null,
      expires_at bigint not null
    )`
  yield* sql`create index server_messages_of_server on server_messages (server_id, message_id)`
  yield* sql`create index server_messages_expiring on server_messages (expires_at)`
})
