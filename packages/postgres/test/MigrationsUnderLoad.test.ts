import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { migrateTo, SCHEMA, type SchemaDefinition } from "../src/Migrations.ts"
import { TestPostgres } from "./support/TestPostgres.ts"

const RELEASED = Object.keys(SCHEMA.migrations)
const INDEXES = SCHEMA.indexes.map(({ name }) => `index ${name}`)

/** The schema of a newer program, which alters a table that is in use, and adds an index to another. */
const NEWER: SchemaDefinition = {
  migrations: {
    ...SCHEMA.migrations,
    "9001_note": Effect.flatMap(SqlClient.SqlClient, (sql) => sql`alter table operations add column note text`)
  },
  indexes: [...SCHEMA.indexes, { name: "events_test", definition: "on events (expires_at, event_id)" }]
}

const TENANT = "00000000-0000-4000-8000-000000000000"
const SERVERS = 5
const EVENTS = 20_000

/** Opens connections that belong to no server. */
const connect = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  return yield* PgClient.make({ url, applicationName: "test" })
})

/** Sets up the schema and data of an older server. */
const leaveOlder = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* Effect.provideService(migrateTo(SCHEMA), SqlClient.SqlClient, sql)
  yield* sql`insert into tenants (tenant_id, wallet, token_version, created_at) values (${TENANT}, '0x01', 1, 0)`
  yield* insertEvents(sql, EVENTS)
})

const insertEvents = (sql: SqlClient.SqlClient, count: number) => sql`
  insert into events (
    event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at, expires_at
  )
  select gen_random_uuid(), ${TENANT}::uuid, 'email.received', 'smtp', 'email', '', '', '{}', gen_random_uuid(), n, n
  from generate_series(1, ${count}::integer) n`

/** Inserts an operation that ended long ago, in a form that both the older and the newer server accept. */
const insertOperation = (sql: SqlClient.SqlClient) => sql`
  insert into operations (
    operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, network, asset, payer,
    nonce, amount, proof, terms, input, plan, state, fence, created_at, updated_at
  ) values (
    gen_random_uuid(), ${TENANT}::uuid, '', '', gen_random_uuid(), '', '', '', '', '', gen_random_uuid(), 1, '{}', '{}',
    '{}', '{}', 'unpaid', 1, 0, 0
  )`

/** Migrates from several newer servers at the same time. Returns what each of them did. */
const startServers = Effect.gen(function* () {
  const { url } = yield* TestPostgres
  return yield* Effect.forEach(
    Array.from({ length: SERVERS }),
    () =>
      Effect.scoped(
        Effect.flatMap(PgClient.make({ url, maxConnections: 2, applicationName: "agentos" }), (sql) =>
          Effect.map(Effect.provideService(migrateTo(NEWER), SqlClient.SqlClient, sql), (steps) =>
            steps.map(({ name }) => name)
          )
        )
      ),
    { concurrency: "unbounded" }
  )
})

const applied = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly migration_id: number }>`select migration_id from agentos_migrations`, (rows) =>
    rows.map(({ migration_id }) => migration_id).toSorted((a, b) => a - b)
  )

const numberOf = (name: string): number => Number(name.slice(0, 4))

const isIndexValid = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly valid: boolean }>`
      select indisvalid as valid from pg_index where indexrelid = to_regclass('events_test')`,
    ([row]) => row?.valid
  )

/** Waits until a server's statement with this beginning waits for a lock. */
const waits = (sql: SqlClient.SqlClient, beginning: string) =>
  sql<{ readonly count: bigint }>`
    select count(*) as count from pg_stat_activity
    where application_name = 'agentos' and wait_event_type = 'Lock' and query ilike ${`%${beginning}%`}`.pipe(
    Effect.repeat({ until: ([row]) => Number(row?.count) > 0, schedule: Schedule.spaced("20 millis") })
  )

/** Runs an effect in the background in a transaction that stays open until the returned effect is run. */
const heldOpen = Effect.fnUntraced(function* <A>(
  sql: SqlClient.SqlClient,
  statement: Effect.Effect<A, SqlError.SqlError>
) {
  const [begun, over] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
  const holding = Effect.andThen(statement, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(over)))
  const fiber = yield* Effect.forkScoped(sql.withTransaction(holding))
  yield* Deferred.await(begun)
  return Effect.andThen(Deferred.succeed(over, undefined), Fiber.join(fiber))
})

const scenario = (
  name: string,
  test: (sql: SqlClient.SqlClient) => Effect.Effect<void, unknown, TestPostgres | Scope.Scope | Reactivity.Reactivity>
) =>
  it.live(name, () =>
    Effect.flatMap(connect, test).pipe(Effect.scoped, Effect.provide([TestPostgres.layer(), Reactivity.layer]))
  )

describe("servers that start at the same time", () => {
  scenario("migrate an empty database, each step once", (sql) =>
    Effect.gen(function* () {
      const done = yield* startServers
      assert.sameMembers(done.flat(), [...RELEASED, "9001_note", ...INDEXES, "index events_test"])
      assert.deepStrictEqual(yield* applied(sql), [...RELEASED.map(numberOf), 9001])
      assert.isTrue(yield* isIndexValid(sql))
      assert.deepStrictEqual((yield* startServers).flat(), [], "nothing is left to do")
    })
  )

  scenario("migrate an older database while others read and write it, without blocking them", (sql) =>
    Effect.gen(function* () {
      yield* leaveOlder(sql)
      let written = 0
      const writing = yield* Effect.forkScoped(
        Effect.forever(
          Effect.gen(function* () {
            yield* insertEvents(sql, 10)
            yield* insertOperation(sql)
            written++
          })
        )
      )
      /** Waits until a write that starts now has finished. */
      const goesOn = Effect.suspend(() => {
        const before = written
        return Effect.repeat(Effect.sleep("10 millis"), { until: () => written >= before + 3 })
      })
      const endReading = yield* heldOpen(sql, sql`select count(*) from operations`)
      const servers = yield* Effect.forkScoped(startServers)

      // A table is locked for long: the migration waits for it, while later statements do not wait for the migration.
      yield* waits(sql, "alter table operations")
      yield* goesOn
      assert.deepStrictEqual(yield* applied(sql), RELEASED.map(numberOf))

      // A transaction stays open for long: the index build waits for its end, and nothing waits for the index build.
      const endLooking = yield* heldOpen(
        sql,
        Effect.andThen(sql`set transaction isolation level repeatable read`, sql`select count(*) from events`)
      )
      yield* endReading
      yield* waits(sql, "create index concurrently")
      yield* goesOn
      assert.isUndefined(servers.pollUnsafe())
      yield* endLooking
      yield* Fiber.join(servers)

      assert.isUndefined(writing.pollUnsafe(), "the writer was never refused")
      yield* Fiber.interrupt(writing)
      assert.deepStrictEqual(yield* applied(sql), [...RELEASED.map(numberOf), 9001])
      assert.isTrue(yield* isIndexValid(sql))
      const [row] = yield* sql<{ readonly events: bigint; readonly operations: bigint }>`
        select (select count(*) from events) as events, (select count(*) from operations) as operations`
      assert.isAtLeast(Number(row?.events), EVENTS + 10 * written)
      assert.isAtLeast(Number(row?.operations), written)
    })
  )

  scenario("rebuild an index that a server left unfinished", (sql) =>
    Effect.gen(function* () {
      yield* startServers
      yield* sql`update pg_index set indisvalid = false where indexrelid = 'events_test'::regclass`
      assert.isFalse(yield* isIndexValid(sql))
      yield* startServers
      assert.isTrue(yield* isIndexValid(sql))
    })
  )
})
