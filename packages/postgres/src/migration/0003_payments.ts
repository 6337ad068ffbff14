import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `operations_proof_key` ensures that an authorization buys one thing, and `operations_idempotency_key` that a
 * key identifies one operation. Rows are never deleted, so neither can be used again.
 *
 * `proof`, `terms`, `input`, `plan` and the answer are text, since a retry is answered byte for byte. The
 * columns beside `proof` are the authorization's key as it is compared: in lower case.
 */
export const createPayments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table operations (
      operation_id uuid constraint operations_key primary key,
      tenant_id uuid not null constraint operations_tenant references tenants,
      service_id text not null,
      endpoint text not null,
      idempotency_key text not null,
      fingerprint text not null,
      request_id text not null,
      network text not null,
      asset text not null,
      payer text not null,
      nonce text not null,
      amount numeric(78, 0) not null,
      proof text not null,
      terms text not null,
      input text not null,
      plan text not null,
      state text not null,
      nonce_read_at_block numeric(78, 0),
      transaction text,
      refund_transaction text,
      failure text,
      answer_created boolean,
      answer_body text,
      answer_slots text,
      fence integer not null,
      leased_until bigint,
      created_at bigint not null,
      updated_at bigint not null,
      constraint operations_proof_key unique (network, asset, payer, nonce),
      constraint operations_idempotency_key unique (payer, endpoint, idempotency_key),
      constraint operations_folded check (asset = lower(asset) and payer = lower(payer) and nonce = lower(nonce))
    ) with (fillfactor = 80)`
  yield* sql`
    create table ledger_entries (
      ledger_entry_id bigint generated always as identity constraint ledger_entries_key primary key,
      operation_id uuid not null constraint ledger_entries_operation references operations,
      account text not null,
      network text not null,
      asset text not null,
      amount numeric(78, 0) not null,
      created_at bigint not null
    )`
  yield* sql`create index ledger_entries_operation_order on ledger_entries (operation_id)`
})
