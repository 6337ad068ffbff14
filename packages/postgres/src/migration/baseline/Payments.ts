import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Paid operations, the ledger, and the transactions of gas wallets. */
export const createPayments = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // `operations_proof_key` ensures that an authorization buys one thing, and `operations_idempotency_key` that a key
  // identifies one operation. Rows are never deleted, so neither can be used again.
  //
  // `proof`, `terms`, `input`, `plan`, the answer and the receipt (the value of PAYMENT-RESPONSE with its signature) are
  // text, since a retry is answered byte for byte. The columns beside `proof` are the authorization's key as it is compared:
  // in lower case. The ledger names a token in lower case too.
  //
  // `due_at` is set until an operation is final, and never after. It alone decides which operations are in the queue of
  // the completion job, so the database refuses an open operation without it: no job would ever take that operation.
  //
  // Every update of an operation moves its entry in `operations_due`, and searches step over the dead entries until they
  // are vacuumed. So the table is vacuumed after a few thousand dead rows, however large it is.
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
      refund_nonce text,
      due_at bigint,
      receipt text,
      constraint operations_proof_key unique (network, asset, payer, nonce),
      constraint operations_idempotency_key unique (payer, endpoint, idempotency_key),
      constraint operations_folded check (asset = lower(asset) and payer = lower(payer) and nonce = lower(nonce)),
      constraint operations_due_unless_final
        check ((due_at is null) = (state in ('fulfilled', 'unpaid', 'refunded')))
    ) with (
      fillfactor = 80,
      autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_vacuum_threshold = 2000
    )`
  // Contains no final operations.
  yield* sql`create index operations_due on operations (due_at, operation_id) where due_at is not null`
  // Serves the comparison with the chain.
  yield* sql`create index operations_paid on operations (operation_id) where transaction is not null`
  // Contains all columns that operations are summed by, since the rows themselves are about fifty times as large. It is led
  // by a column that no statement filters by, and its other columns are not search keys. If the state led it, a planner that
  // expects few operations in that state would choose it to find a single operation.
  yield* sql`create index operations_totals on operations (created_at) include (state, network, asset, amount)`

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

  // The account nonces of each gas wallet. The lock of its row hands them out one after the other.
  yield* sql`
    create table gas_wallets (
      network text,
      address text,
      next_account_nonce bigint not null,
      constraint gas_wallets_key primary key (network, address),
      constraint gas_wallets_folded check (address = lower(address))
    ) with (fillfactor = 50)`

  // The transactions that the chain has not yet included, so the table stays small. The versions of one are two parallel
  // arrays, hashes and bytes, oldest first.
  yield* sql`
    create table gas_transactions (
      network text,
      address text,
      account_nonce bigint,
      reference text not null,
      hashes text[] not null,
      bytes text[] not null,
      created_at bigint not null,
      signed_at bigint not null,
      constraint gas_transactions_key primary key (network, address, account_nonce),
      constraint gas_transactions_reference_key unique (network, address, reference),
      constraint gas_transactions_wallet foreign key (network, address) references gas_wallets,
      constraint gas_transactions_versions check (cardinality(hashes) = cardinality(bytes) and cardinality(hashes) > 0)
    )`
})
