import { Database, DatabaseUnsuitable, layerPostgres, maintainPostgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { TABLES } from "../src/Migrations.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

/** Connections of a pool of two, with those that deliver, listen and share transactions. */
const CONNECTIONS = 6

const pathOf = (url: Redacted.Redacted, change: (at: URL) => void): Redacted.Redacted => {
  const at = new URL(Redacted.value(url))
  change(at)
  return Redacted.make(at.href)
}

/** Runs statements as the superuser, one by one. */
const administer = (...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { url } = yield* TestPostgres
    const sql = yield* PgClient.make({ url, maxConnections: 1 })
    for (const statement of statements) yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

const urlOf = (database: string, role = "postgres", query = "") =>
  Effect.map(TestPostgres, ({ url }) =>
    pathOf(url, (at) => {
      at.pathname = database
      at.username = role
      at.search = query
    })
  )

const open = (url: Redacted.Redacted, maxConnections = 2) =>
  Effect.scoped(Layer.build(layerPostgres({ url, maxConnections })))

/** Opens a database that can't serve. A start and the check of the configuration say the same. */
const refused = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const error = yield* Effect.flip(open(url))
  const checked = yield* Effect.flip(maintainPostgres({ url, maxConnections: 2 }).check)
  assert.instanceOf(error, DatabaseUnsuitable)
  assert.strictEqual(error.message, checked.message)
  assert.notInclude(error.message, "\n")
  return error
})

layer(TestPostgres.layer(), { excludeTestServices: true })(
  "a database that can't serve is refused at its opening",
  (it) => {
    it.effect("because of a version before 14", () =>
      Effect.gen(function* () {
        yield* administer("create database aged", "alter database aged set search_path = aged, pg_catalog, public")
        const aged = yield* urlOf("aged")
        const sql = yield* PgClient.make({ url: aged, maxConnections: 1 })
        yield* sql`create schema aged`
        // A server of today that gives its version as 13 does.
        yield* sql`
          create function aged.current_setting(name text) returns text language sql
          return case name when 'server_version_num' then '130023' when 'server_version' then '13.23 (Debian)'
            else pg_catalog.current_setting(name) end`
        const error = yield* refused(aged)
        assert.strictEqual(
          error.message,
          "the database can't be used: PostgreSQL 13.23 (Debian) is too old. Use PostgreSQL 14 or later."
        )
        assert.isTrue(error.isPermanent)
        const rows = yield* sql`select from pg_tables where schemaname in ('aged', 'public')`
        assert.lengthOf(rows, 0, "no migration ran")
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    )

    it.effect("because of an encoding other than UTF8", () =>
      Effect.gen(function* () {
        yield* administer("create database ascii encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0")
        const error = yield* refused(yield* urlOf("ascii"))
        assert.match(error.message, /the database ascii has the encoding SQL_ASCII\. Create a database with: .*'UTF8'/)
        assert.isTrue(error.isPermanent)
      })
    )

    it.effect("because it is read-only", () =>
      Effect.gen(function* () {
        yield* administer("create database frozen", "alter database frozen set default_transaction_read_only = on")
        assert.match((yield* refused(yield* urlOf("frozen"))).message, /read-only by default/)
      })
    )

    it.effect("because it has no room for the temporary file of the readiness check", () =>
      Effect.gen(function* () {
        yield* administer("create database roomless", "alter database roomless set temp_file_limit = '1MB'")
        const { message } = yield* refused(yield* urlOf("roomless"))
        assert.match(message, /temporary files are limited to 1024 kB \(temp_file_limit\)\. Allow 2048 kB or more/)
      })
    )

    it.effect("because the role may not create tables, use them, or own those that a migration changes", () =>
      Effect.gen(function* () {
        yield* administer("create database rights", "create role guest login")
        // Before version 15 every role may create tables there.
        yield* grant("revoke create on schema public from public")
        const guest = yield* urlOf("rights", "guest")
        assert.match((yield* refused(guest)).message, /the role guest may not create tables in the schema public/)
        yield* open(yield* urlOf("rights"))
        assert.match((yield* refused(guest)).message, /permission denied for table agentos_migrations \(42501\)/)
        yield* grant("grant select on agentos_migrations to guest")
        assert.match(
          (yield* refused(guest)).message,
          /the role guest may not read and change the tables agent_sessions, .* and \d+ more\. Grant it: /
        )
        // A role that owns nothing may serve what another one has migrated.
        yield* grant("grant select, insert, update, delete on all tables in schema public to guest")
        yield* open(guest)
        yield* grant("delete from agentos_migrations")
        assert.match((yield* refused(guest)).message, /may not create tables|does not own the tables/)
        yield* grant("grant create on schema public to guest")
        assert.match((yield* refused(guest)).message, /does not own the tables agent_sessions, /)
      })
    )

    it.effect("because a role, a database or the server allows fewer connections than it opens", () =>
      Effect.gen(function* () {
        yield* administer(
          "create role narrow login connection limit 5",
          "create database few owner narrow connection limit 100"
        )
        const url = yield* urlOf("few", "narrow")
        assert.match(
          (yield* refused(url)).message,
          /needs 6 connections, and the connection limit of the role is 5\. Raise it \(alter role/
        )
        yield* administer(`alter role narrow connection limit ${CONNECTIONS}`, "alter database few connection limit 5")
        assert.match((yield* refused(url)).message, /the connection limit of the database is 5/)
        yield* administer("alter database few connection limit -1")
        yield* open(url)
        const two = { url, maxConnections: 2, processes: 2 }
        assert.match(
          (yield* Effect.flip(maintainPostgres(two).check)).message,
          /needs 12 connections \(6 for each of 2 workers\), and the connection limit of the role is 6/
        )
        yield* administer("alter role narrow connection limit -1")
        assert.match((yield* Effect.flip(open(url, 500))).message, /max_connections\) is \d+\./)
      })
    )

    it.effect("because others use the connections, which is not permanent", () =>
      Effect.gen(function* () {
        yield* administer(
          `create role shared login connection limit ${CONNECTIONS}`,
          "create database busy owner shared"
        )
        const url = yield* urlOf("busy", "shared")
        yield* Effect.scoped(
          Effect.gen(function* () {
            const other = yield* Effect.provide(PgClient.make({ url, maxConnections: 1 }), Reactivity.layer)
            yield* other`select 1`
            const error = yield* refused(url)
            assert.match(
              error.message,
              /needs 6 connections, and not all could be opened: .*too many connections for role "shared"/
            )
            assert.isFalse(error.isPermanent)
          })
        )
      })
    )

    it.effect("and the tables of which it needs rights are all that a migration creates", () =>
      Effect.gen(function* () {
        yield* administer("create database complete")
        const rows = yield* Effect.provide(
          Effect.flatMap(
            Database,
            ({ sql }) => sql<{ readonly name: string }>`select relname::text as name from pg_class
            where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'agentos_migrations'
            order by 1`
          ),
          layerPostgres({ url: yield* urlOf("complete") })
        )
        assert.deepStrictEqual(
          rows.map(({ name }) => name),
          TABLES
        )
      })
    )
  }
)

/** Runs a statement in the database `rights`. */
const grant = (statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ url: yield* urlOf("rights"), maxConnections: 1 })
    yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

layer(TestPostgres.layer({ settings: { default_transaction_isolation: "serializable" } }), {
  excludeTestServices: true
})("a server whose transactions are serializable by default", (it) => {
  it.effect("runs those of the stores at read committed", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const rows = yield* Effect.provide(
        Effect.flatMap(Database, ({ sql, transact }) => transact(Effect.orDie(sql`show transaction_isolation`))),
        layerPostgres({ url })
      )
      assert.deepStrictEqual(rows, [{ transaction_isolation: "read committed" }])
    })
  )
})

layer(TestPostgres.layer({ settings: { lock_timeout: "1ms", idle_session_timeout: "1s" } }), {
  excludeTestServices: true
})("a server that ends waits for locks and idle sessions early", (it) => {
  it.effect("does neither to those of the stores", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const rows = yield* Effect.provide(
        Effect.flatMap(Database, ({ delivery, sql }) =>
          Effect.forEach(
            [sql, delivery],
            (client) => client`
              select current_setting('lock_timeout') as lock, current_setting('idle_session_timeout') as idle`
          )
        ),
        layerPostgres({ url })
      )
      assert.deepStrictEqual(rows.flat(), [
        { lock: "0", idle: "0" },
        { lock: "0", idle: "0" }
      ])
    })
  )
})
