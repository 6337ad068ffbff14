import { countConnections, Database, layerPostgres, tableSizes } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { TestPostgres } from "./support/TestPostgres.ts"

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

layer(TestPostgres.layer({ settings: { max_connections: "37" } }), { excludeTestServices: true })(
  "connections to PostgreSQL",
  (it) => {
    it.effect("counts the connections of all programs, and returns the server's limit", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const open = layerPostgres({ url, maxConnections: 2 })
        const both = Effect.gen(function* () {
          const { byState, limit } = yield* countConnections
          assert.strictEqual(limit, 37)
          return byState.reduce((total, { count }) => total + count, 0)
        })
        const alone = yield* Effect.provide(both, open, { local: true })
        const beside = yield* both.pipe(
          Effect.provide(open, { local: true }),
          (inner) => Effect.andThen(countConnections, inner),
          Effect.provide(open, { local: true })
        )
        assert.isAtLeast(alone, 2, "one for statements, and one that listens")
        assert.isAtLeast(beside, alone + 1)
      })
    )

    it.effect("names each connection's purpose", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const { byState } = yield* Effect.provide(countConnections, layerPostgres({ url }), { local: true })
        const states = byState.map(({ state }) => state)
        assert.include(states, "active", "it asks, itself")
        for (const state of states) assert.match(state, /^(?:active|idle|idle in transaction.*|unknown)$/)
      })
    )

    it.effect("returns the size of each table with its indexes and large values, even of a locked one", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        yield* Effect.provide(
          Effect.gen(function* () {
            const { sql } = yield* Database
            yield* sql`
              insert into sales_stops (service, at, reason)
              select repeat(md5(n::text), 6), 0, case when n > 30 then '' else (
                select string_agg(md5(n::text || m::text), '') from generate_series(1, 300) m) end
              from generate_series(1, 2000) n`
            yield* sql`vacuum analyze sales_stops`
            // The size without the maps of free space and of visible rows, which the catalog does not have.
            const [files] = yield* sql<{ readonly bytes: number }>`
              select sum(pg_relation_size(file))::int as bytes
              from pg_class as stops cross join lateral (
                select unnest(array[oid, reltoastrelid]) as file
                union all select indexrelid from pg_index where indrelid in (stops.oid, reltoastrelid)
              ) as files
              where relname = 'sales_stops'`
            const sizes = yield* sql.withTransaction(
              Effect.andThen(
                sql`lock table sales_stops`,
                Effect.provide(tableSizes, layerPostgres({ url }), { local: true })
              )
            )
            const { bytes = 0 } = sizes.find(({ name }) => name === "sales_stops") ?? {}
            assert.isAtMost(bytes, files!.bytes)
            // A vacuum without dead rows does not count the pages of the index of large values.
            assert.isAtLeast(bytes, 0.95 * files!.bytes)
            assert.includeMembers(
              sizes.map(({ name }) => name),
              ["audit_records", "events", "messages", "operations"]
            )
          }),
          layerPostgres({ url }),
          { local: true }
        )
      })
    )

    it.effect("releases the rows of a statement while others keep its connection busy", () =>
      Effect.gen(function* () {
        const { url } = yield* TestPostgres
        const read = Effect.gen(function* () {
          const { sql } = yield* Database
          const pauses = Effect.forever(sql`select pg_sleep(0.02)`)
          const reads = Effect.gen(function* () {
            const [row] = yield* sql<{
              readonly bytes: Uint8Array
            }>`select decode(repeat('00', 262144), 'hex') as bytes`
            return new WeakRef(row!.bytes)
          })
          return yield* Effect.raceFirst(
            Effect.all([pauses, pauses, pauses], { concurrency: "unbounded" }),
            Effect.gen(function* () {
              const bytes = yield* reads
              // Later statements of the connection.
              yield* Effect.repeat(sql`select 1`, { times: 5 })
              collectGarbage()
              return bytes.deref()
            })
          )
        })
        assert.isUndefined(yield* Effect.provide(read, layerPostgres({ url, maxConnections: 1 }), { local: true }))
      })
    )
  }
)
