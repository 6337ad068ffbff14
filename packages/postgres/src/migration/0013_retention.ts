import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The periods of single tenants, and the deletion of old audit records. */
export const createRetention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A null `age` keeps the data permanently. A few rows: of tenants with a period of their own.
  yield* sql`
    create table tenant_retentions (
      tenant_id uuid constraint tenant_retentions_tenant references tenants,
      data text,
      age bigint,
      constraint tenant_retentions_key primary key (tenant_id, data)
    )`

  // The only way to delete audit records, of which it takes none of the last year. Its name in the stack opens the trigger
  // below: a setting could be set by everyone, and a role is often that of the server.
  yield* sql`
    create function remove_audit_records(until bigint, most bigint) returns bigint
    language plpgsql security definer set search_path from current as $$
    declare removed bigint;
    begin
      delete from audit_records where audit_id = any(array(
        select audit_id from audit_records
        where audit_id < (lpad(to_hex(greatest(until + 1, 0)), 12, '0') || repeat('0', 20))::uuid
          and at <= least(until, epoch_millis() - 31536000000)
        order by audit_id limit most
      ));
      get diagnostics removed = row_count;
      return removed;
    end $$`
  yield* sql`
    create function refuse_audit_deletion() returns trigger language plpgsql as $$
    declare stack text;
    begin
      get diagnostics stack = pg_context;
      if old.at > epoch_millis() - 31536000000 or stack !~ 'function remove_audit_records\\(bigint,bigint\\) ' then
        raise exception 'audit_records is append-only' using errcode = 'insufficient_privilege';
      end if;
      return old;
    end $$`
  yield* sql`
    create or replace trigger audit_records_kept before delete on audit_records
    for each row execute function refuse_audit_deletion()`
})
