import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The operators, the audit of their changes, and the refunds that they made themselves. */
export const createOperators = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table operators (
      name text collate "C" constraint operators_key primary key,
      role text not null,
      token_digest text not null constraint operators_token_key unique,
      created_at bigint not null,
      expires_at bigint
    )`

  // `before` and `after` are JSON as text.
  yield* sql`
    create table audit_records (
      audit_id uuid constraint audit_records_key primary key,
      at bigint not null,
      actor text not null,
      action text not null,
      target text,
      reason text,
      before text,
      after text,
      outcome text not null,
      failure text,
      constraint audit_records_outcome check (outcome in ('succeeded', 'failed'))
    )`
  yield* sql`create index audit_records_of_target on audit_records (target, audit_id) where target is not null`

  // No role may change a record, and none may delete it within a year.
  yield* sql`
    create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      raise exception 'audit_records is append-only' using errcode = 'insufficient_privilege';
    end $$`
  yield* sql`
    create trigger audit_records_unchanged before update or truncate on audit_records
    for each statement execute function refuse_audit_change()`
  yield* sql`
    create trigger audit_records_kept before delete on audit_records
    for each row when (old.at > epoch_millis() - 31536000000) execute function refuse_audit_change()`

  // Refunds by transfers that operators made. One refunds an operation, or a received transfer that no operation has;
  // `operation_id` is also set when an operation for that transfer is created later.
  yield* sql`
    create table manual_refunds (
      transfer_id text constraint manual_refunds_key primary key,
      transaction text not null,
      network text not null,
      asset text not null,
      wallet text not null,
      amount numeric(78, 0) not null,
      received_transaction text not null,
      received_amount numeric(78, 0) not null,
      operation_id uuid constraint manual_refunds_operation_key unique
        constraint manual_refunds_operation references operations,
      created_at bigint not null
    )`
  yield* sql`create index manual_refunds_received on manual_refunds (received_transaction)`
})
