create table tenant_retentions (
      tenant_id uuid constraint tenant_retentions_tenant references tenants,
      data text,
      age bigint,
      constraint tenant_retentions_key primary key (tenant_id, data)
    );

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
    end $$;

create function refuse_audit_deletion() returns trigger language plpgsql as $$
    declare stack text;
    begin
      get diagnostics stack = pg_context;
      if old.at > epoch_millis() - 31536000000 or stack !~ 'function remove_audit_records\(bigint,bigint\) ' then
        raise exception 'audit_records is append-only' using errcode = 'insufficient_privilege';
      end if;
      return old;
    end $$;

create or replace trigger audit_records_kept before delete on audit_records
    for each row execute function refuse_audit_deletion();

