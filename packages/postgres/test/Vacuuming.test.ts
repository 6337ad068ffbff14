import { Database } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { checkpoint, vacuum } from "../src/Vacuuming.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"

layer(layerTestPGlite, { excludeTestServices: true })("an embedded database", (it) => {
  it.effect("vacuums tables in which updates left many dead rows", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* sql`create table busy (n integer primary key, changes integer not null)`
      yield* sql`create index busy_changes on busy (changes)`
      yield* sql`insert into busy select n, 0 from generate_series(1, 100) n`
      for (let change = 0; change < 3; change++) yield* sql`update busy set changes = changes + 1`
      // The statistics are reported when a transaction has ended and a second has passed, or on demand.
      yield* sql`select pg_stat_force_next_flush()`
      const leftBehind = sql<{
        readonly n: bigint
      }>`select n_dead_tup as n from pg_stat_user_tables where relname = 'busy'`
      assert.deepStrictEqual(yield* leftBehind, [{ n: 300n }])
      assert.deepStrictEqual(yield* vacuum(sql), [], "not yet much")
      assert.deepStrictEqual(yield* vacuum(sql, 250), ["busy"])
      assert.deepStrictEqual(yield* leftBehind, [{ n: 0n }])
      assert.deepStrictEqual(yield* vacuum(sql, 250), [])
    })
  )

  it.effect("deletes the write-ahead log that it does not need", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* sql`create table pages (content bytea)`
      const write = Effect.suspend(() => sql`insert into pages values (${randomBytes(1_000_000)})`)
      const segments = sql<{ readonly n: bigint }>`select count(*) as n from pg_ls_waldir()`
      const countOf = (rows: ReadonlyArray<{ readonly n: bigint }>) => Number(rows[0]?.n)
      yield* checkpoint(sql)
      // More than twice the size that is kept. The segments after a checkpoint are reused first.
      for (let written = 0; written < 200; written++) yield* write
      assert.isAbove(countOf(yield* segments), 10)
      assert.isTrue(yield* checkpoint(sql))
      assert.isBelow(countOf(yield* segments), 10)
      assert.isFalse(yield* checkpoint(sql))
    })
  )
})
