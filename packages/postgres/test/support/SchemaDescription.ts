import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What makes a schema, one line each, from the catalogs (PostgreSQL manual, "System Catalogs"). */
const LINES = `
  with relations as (
    select oid, relname, relkind, relpersistence, reloptions from pg_class
    where relnamespace = current_schema()::regnamespace
  )
  select format('%s %I, persistence %s, options %s', case relkind when 'r' then 'table' else format('relation %s', relkind) end,
    relname, relpersistence, reloptions) as line
  from relations where relkind not in ('i', 'S', 'c')
  union all
  select format('column %I.%I %s%s, default %s, generated %s, identity %s, storage %s, compression %s, collation %s, comment %s',
    relname, attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' end,
    pg_get_expr(adbin, adrelid), attgenerated, attidentity, attstorage, attcompression,
    case when attcollation <> 0 then attcollation::regcollation end, col_description(attrelid, attnum))
  from pg_attribute join relations on relations.oid = attrelid
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attnum > 0 and not attisdropped and relkind not in ('i', 'S')
  union all
  select format('order of %I: %s', relname, string_agg(quote_ident(attname), ', ' order by attnum))
  from pg_attribute join relations on relations.oid = attrelid
  where attnum > 0 and not attisdropped and relkind = 'r' group by relname
  union all
  select format('constraint %I on %I: %s, validated %s, comment %s', conname, relname, pg_get_constraintdef(pg_constraint.oid),
    convalidated, obj_description(pg_constraint.oid, 'pg_constraint'))
  from pg_constraint join relations on relations.oid = conrelid
  -- From PostgreSQL 18 on, \`not null\` has constraints of its own.
  where contype <> 'n'
  union all
  select format('index %s, options %s, valid %s, comment %s', pg_get_indexdef(indexrelid), reloptions, indisvalid,
    obj_description(indexrelid, 'pg_class'))
  from pg_index join relations on relations.oid = indexrelid
  union all
  select format('sequence %I: %s', sequencename, to_jsonb(pg_sequences) - 'schemaname' - 'sequenceowner' - 'last_value')
  from pg_sequences where schemaname = current_schema()
  union all
  select format('function %s, comment %s', pg_get_functiondef(oid), obj_description(oid, 'pg_proc'))
  from pg_proc where pronamespace = current_schema()::regnamespace
  union all
  select format('trigger %s', pg_get_triggerdef(pg_trigger.oid))
  from pg_trigger join relations on relations.oid = tgrelid where not tgisinternal
  union all
  select format('type %s %s', typname, typtype)
  from pg_type where typnamespace = current_schema()::regnamespace and typtype not in ('c', 'b')
  union all
  select format('comment on %I: %s', relname, obj_description(oid, 'pg_class'))
  from relations where obj_description(oid, 'pg_class') is not null`

/**
 * Describes the schema that a connection uses: tables, columns and their order, constraints, indexes, sequences, functions,
 * triggers and comments. Two databases have the same schema if their lines are the same.
 */
export const describeSchema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ readonly line: string }>(LINES)
  return rows.map(({ line }) => line).toSorted()
})
