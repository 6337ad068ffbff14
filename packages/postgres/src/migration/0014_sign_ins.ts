import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Stores the sign-in messages that wallets have used, each by its nonce, until a job deletes them some time after
 * they expired. Only wallets with purchases add rows.
 */
export const createSignIns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table sign_ins (
      tenant_id uuid constraint sign_ins_tenant references tenants,
      nonce text,
      expires_at bigint not null,
      constraint sign_ins_key primary key (tenant_id, nonce)
    )`
  yield* sql`create index sign_ins_expiring on sign_ins (expires_at)`
})
