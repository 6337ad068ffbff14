import { databaseRisks, layerPostgres, maintainPostgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestPostgres } from "./support/TestPostgres.ts"

/** Runs statements as the superuser, one by one. */
const administer = (...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { url } = yield* TestPostgres
    const sql = yield* PgClient.make({ url, maxConnections: 1 })
    for (const statement of statements) yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

const problems = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  const risks = yield* Effect.provide(databaseRisks, layerPostgres({ url }), { local: true })
  return risks.map(({ problem }) => problem)
})

layer(TestPostgres.layer({ settings: { fsync: "off", full_page_writes: "on", synchronous_commit: "on" } }), {
  excludeTestServices: true
})("databaseRisks", (it) => {
  it.effect("names the settings that are off, for the server or for the database", () =>
    Effect.gen(function* () {
      assert.match((yield* problems).join("\n"), /^the database runs with fsync off: committed data, payments included/)
      yield* administer("alter database postgres set synchronous_commit = off")
      assert.match((yield* problems).join("\n"), /^the database runs with fsync off, synchronous_commit off: /)
      yield* administer("alter database postgres reset synchronous_commit")
    })
  )

  it.effect("names a standby that commits do not wait for", () =>
    Effect.gen(function* () {
      // Standbys are rows of this view.
      yield* administer(
        "create schema followed",
        "create table followed.pg_stat_replication as select 1 as pid",
        "alter database postgres set search_path = followed, pg_catalog, public"
      )
      assert.match((yield* problems).join("\n"), /\na standby follows the database, and commits do not wait for it/)
      yield* administer(
        "alter database postgres reset search_path",
        "create function followed.current_setting(name text) returns text language sql return case name " +
          "when 'synchronous_standby_names' then '*' when 'synchronous_commit' then 'local' " +
          "else pg_catalog.current_setting(name) end",
        "alter database postgres set search_path = followed, pg_catalog, public"
      )
      assert.lengthOf(yield* problems, 2, "synchronous_commit = local waits for no standby")
      yield* administer(
        "alter database postgres reset search_path",
        "create or replace function followed.current_setting(name text) returns text language sql return case name " +
          "when 'synchronous_standby_names' then '*' else pg_catalog.current_setting(name) end",
        "alter database postgres set search_path = followed, pg_catalog, public"
      )
      assert.lengthOf(yield* problems, 1, "commits wait for it")
      yield* administer("alter database postgres reset search_path")
    })
  )

  it.effect("names a version that is newer than those of the tests", () =>
    Effect.gen(function* () {
      yield* administer(
        "create schema newer",
        "create function newer.current_setting(name text) returns text language sql return case name " +
          "when 'server_version_num' then '190002' when 'server_version' then '19.2' " +
          "else pg_catalog.current_setting(name) end",
        "alter database postgres set search_path = newer, pg_catalog, public"
      )
      assert.match(
        (yield* problems).join("\n"),
        /\nPostgreSQL 19\.2 is newer than 18, the newest version that was tried$/
      )
    })
  )

  it.effect("reads the same beside a server", () =>
    Effect.gen(function* () {
      const { url } = yield* TestPostgres
      const risks = yield* maintainPostgres({ url }).risks
      assert.deepStrictEqual(
        risks.map(({ problem }) => problem),
        yield* problems
      )
    })
  )
})
