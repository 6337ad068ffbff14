import { Database, diagnoseDatabase, layerPostgres, type PostgresOptions } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { layerTestPostgres, TestPostgres } from "./support/TestPostgres.ts"

const DEAD_ROWS = 10_001

/** Opens the database once more. */
const beside = <A, E, R>(effect: Effect.Effect<A, E, R>, options: Partial<PostgresOptions>) =>
  Effect.flatMap(TestPostgres, ({ url }) =>
    Effect.provide(effect, layerPostgres({ url, maxConnections: 2, ...options }), { local: true })
  )

layer(layerTestPostgres({ settings: { autovacuum: "off" } }), { excludeTestServices: true })(
  "the diagnosis of a database",
  (it) => {
    it.effect("finds nothing wrong with a database at rest", () =>
      Effect.gen(function* () {
        const found = yield* diagnoseDatabase(null)
        const { disk, sizeBytes, version, ...others } = found
        assert.match(version, /^\d+/)
        assert.isAbove(sizeBytes, 1_000_000)
        assert.isAbove(disk?.freeBytes ?? 0, 0)
        assert.isAbove(disk?.totalBytes ?? 0, disk?.freeBytes ?? 0)
        assert.deepStrictEqual(
          { ...others, risks: [] },
          { pending: [], newer: [], risks: [], waiting: [], idle: [], bloated: [], slow: undefined, servers: [] }
        )
      })
    )

    it.effect("names the sessions that wait for a lock, those that hold it, and the versions of servers", () =>
      Effect.gen(function* () {
        const diagnose = Effect.provideService(diagnoseDatabase(null), Database, yield* Database)
        const wait = beside(
          Effect.flatMap(Database, ({ sql }) => sql`update jobs set fence = fence`),
          { applicationName: "waiter", version: "1.2.3" }
        )
        const [found, waiting] = yield* beside(
          Effect.flatMap(Database, ({ sql }) =>
            sql.withTransaction(
              Effect.gen(function* () {
                yield* sql`lock table jobs in share row exclusive mode`
                const fiber = yield* Effect.forkChild(wait)
                const seen = yield* Effect.repeat(diagnose, {
                  until: (each) => each.waiting.length > 0 && each.idle.length > 0,
                  schedule: Schedule.spaced("10 millis")
                })
                return [seen, fiber] as const
              })
            )
          ),
          { applicationName: "holder" }
        )
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(
          found.waiting.map(({ application, blockedBy }) => [application, blockedBy]),
          [["waiter", found.idle.map(({ processId }) => processId)]]
        )
        assert.deepStrictEqual(
          found.idle.map(({ application }) => application),
          ["holder"]
        )
        assert.deepStrictEqual(
          found.servers.map(({ address, version }) => [version, address]),
          [["1.2.3", "127.0.0.1"]]
        )
        assert.match(found.servers[0]?.since ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      })
    )

    it.effect("names the tables with more dead rows than a vacuum leaves", () =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        yield* sql`insert into sales_stops select n::text, 0, '' from generate_series(1, ${DEAD_ROWS}::int) n`
        yield* sql`delete from sales_stops`
        // Until then, the session has not reported its work.
        yield* Effect.ignore(sql.unsafe("select pg_stat_force_next_flush()"))
        const { bloated } = yield* Effect.repeat(diagnoseDatabase(null), {
          until: ({ bloated: tables }) => tables.length > 0,
          schedule: Schedule.spaced("50 millis")
        })
        assert.deepStrictEqual(bloated, [{ table: "sales_stops", dead: DEAD_ROWS, live: 0 }])
      })
    )

    it.effect("lists the slowest statements of this role by pg_stat_statements, without their values", () =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        // A stand-in for the extension, which the binaries of the tests do not have.
        yield* sql`create schema monitoring`
        yield* sql`
          create view monitoring.pg_stat_statements as
          select (select oid from pg_database where datname = current_database()) as dbid,
            (select oid from pg_roles where rolname = current_user) as userid, query, calls, mean_exec_time
          from (values
            (E'select *\\n from  events where tenant_id = $1', 7, 812.4::float8),
            ('update jobs set fence = $1', 2, 499.0),
            ('insert into events values ($1)', 3, 2000.0),
            ('alter role agentos password ''secret''', 1, 9000.0)
          ) as statements (query, calls, mean_exec_time)`
        yield* sql`
          insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
          select 90000, 'pg_stat_statements', (select oid from pg_roles where rolname = current_user),
            'monitoring'::regnamespace, true, '1.10'`
        const { slow } = yield* diagnoseDatabase(null)
        yield* sql`drop view monitoring.pg_stat_statements`
        assert.deepStrictEqual(slow, [
          { statement: "insert into events values ($1)", calls: 3, meanMillis: 2_000 },
          { statement: "select * from events where tenant_id = $1", calls: 7, meanMillis: 812.4 }
        ])
        // The extension is there, and the server has not loaded it.
        assert.isUndefined((yield* diagnoseDatabase(null)).slow)
      })
    )
  }
)
