import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Tenants and their sign-ins. */
export const createTenants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The moment and id of the tenant's last event are here too, so that a transaction that holds the row's lock knows the
  // next createdAt and eventId without another read. Both columns of a suspension are set, or neither.
  yield* sql`
    create table tenants (
      tenant_id uuid constraint tenants_key primary key,
      wallet text not null constraint tenants_wallet_key unique,
      token_version integer not null,
      created_at bigint not null,
      last_event_at bigint,
      last_event_id uuid,
      suspended_at bigint,
      suspension_reason text,
      token_trust text not null default 'unproven',
      constraint tenants_wallet_folded check (wallet = lower(wallet))
    ) with (fillfactor = 70)`

  // The sign-in messages that wallets have used, each by its nonce, until a job deletes them some time after they expired.
  // Only wallets with purchases add rows.
  yield* sql`
    create table sign_ins (
      tenant_id uuid constraint sign_ins_tenant references tenants,
      nonce text,
      expires_at bigint not null,
      constraint sign_ins_key primary key (tenant_id, nonce)
    )`
  yield* sql`create index sign_ins_expiring on sign_ins (expires_at)`
})
