import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"

/** The rows of each table as a JSON array in text, because JSON numbers of JavaScript lose digits. */
export type Rows = Readonly<Record<string, string>>

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
}

/** Runs an effect on a connection that migrates nothing. */
export const withPlainSql = <A>(url: string, effect: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>) =>
  Effect.flatMap(PgClient.make({ url: Redacted.make(url), maxConnections: 1 }), (sql) =>
    Effect.provideService(effect, SqlClient.SqlClient, sql)
  ).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.runPromise)

/** Runs statements in order on such a connection. Returns the rows of the last. */
export const plainSql = (url: string, ...statements: ReadonlyArray<string>) =>
  withPlainSql(
    url,
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.map(
        Effect.forEach(statements, (statement) => sql.unsafe<Record<string, unknown>>(statement)),
        (results) => results.at(-1) ?? []
      )
    )
  )

/** The columns that a statement may insert into, by table, without the table of migrations. */
const insertable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* sql.unsafe<Column>(`
    select c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'agentos_migrations'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by c.relname, a.attnum`)
  return Map.groupBy(columns, ({ table }) => table)
})

/** Reads the rows of all tables. */
export const dumpRows = (url: string): Promise<Rows> =>
  withPlainSql(
    url,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = [...(yield* insertable).keys()]
      const texts = yield* Effect.forEach(tables, (table) =>
        sql.unsafe<{ readonly rows: string }>(`select coalesce(json_agg(t), '[]')::text as rows from ${table} t`)
      )
      return Object.fromEntries(tables.map((table, index) => [table, texts[index]![0]!.rows]))
    })
  )

const DAY_MILLIS = 86_400_000

/** A column of a time is shifted, as if the rows had been written later. */
const shifted = ({ column, type }: Column, millis: number): string => {
  if (type === "bigint" && /(?:^|_)(?:at|until)$/.test(column)) return `${column} + ${millis}`
  return column === "day" ? `${column} + ${Math.floor(millis / DAY_MILLIS)}` : column
}

/** Fills the tables of a schema with rows whose times are this many milliseconds later than they were. */
export const restoreRows = (url: string, rows: Rows, laterByMillis: number): Promise<void> =>
  withPlainSql(
    url,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tables = yield* insertable
      const insert = Effect.forEach(Object.entries(rows), ([table, text]) => {
        const columns = tables.get(table) ?? []
        return sql.unsafe(
          `insert into ${table} (${columns.map(({ column }) => column).join(", ")}) overriding system value
          select ${columns.map((column) => shifted(column, laterByMillis)).join(", ")}
          from json_populate_recordset(null::${table}, $1::json)`,
          [text]
        )
      })
      // Rows refer to rows of later tables, and triggers have run when the rows were written.
      yield* sql.withTransaction(Effect.andThen(sql.unsafe("set local session_replication_role = replica"), insert))
      yield* sql.unsafe(`
        select setval(pg_get_serial_sequence('ledger_entries', 'ledger_entry_id'), max(ledger_entry_id)) from ledger_entries`)
      yield* sql.unsafe(`
        select setval(pg_get_serial_sequence('server_messages', 'message_id'), max(message_id)) from server_messages`)
    })
  )
