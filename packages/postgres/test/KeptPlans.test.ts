import { EventStore, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Number of the tenant's events that are final, and of those that are open. */
const OVER = 100_000
const OPEN = 100
/** Number of other tenants. */
const TENANTS = 20_000
/** Limit of index entries and rows that all statements together may visit. */
const VISITED_MAX = 5_000
/** The same limit for the statements of requests, each of which runs seven times. */
const REQUESTS_VISITED_MAX = 20_000

const seed = Effect.fnUntraced(function* (tenantId: string, status: "pending" | "acknowledged", count: number) {
  const { sql } = yield* Database
  yield* sql`
    insert into events (
      event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, status,
      created_at, expires_at
    )
    select
      gen_random_uuid(), ${tenantId}::uuid, 'email.received', 'smtp', 'email', 'a resource', 'an agent', '{}',
      gen_random_uuid(), ${status}, at, at + 2592000000
    from (select epoch_millis() - ${count}::bigint + n as at from generate_series(1, ${count}::bigint) n) moments`
})

const madeTenant = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* (yield* TenantStore).ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return tenantId
})

const seedTenants = Effect.gen(function* () {
  const { sql } = yield* Database
  yield* sql`
    insert into tenants (tenant_id, wallet, token_version, created_at)
    select gen_random_uuid(), gen_random_uuid(), 1, 0 from generate_series(1, ${TENANTS}::bigint)`
})

const append = Effect.fnUntraced(function* (tenantId: string) {
  const draft = { source: "smtp", service: "email", resourceId: "a resource", agentId: "an agent", payload: {} }
  const dedupeKey = yield* Uuid.next
  return yield* (yield* EventStore).append([{ ...draft, tenantId, type: "email.received", dedupeKey }])
})

/** Runs every statement that keeps its plan on the tenant's events; returns the number of leased events. */
const deliver = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* EventStore
  const sessionId = yield* Uuid.next
  const requests = [tenantId, yield* Uuid.next].map((id) => ({ tenantId: id, sessionId, limit: 10 }))
  const [deliveries = []] = yield* store.leaseEach(requests)
  yield* store.countReplayableEach([tenantId], 1_000)
  yield* store.latestEach([tenantId])
  yield* append(tenantId)
  yield* store.renew([sessionId])
  yield* store.acknowledgeEach(
    deliveries.map(({ deliveryId, event }) => ({ tenantId, eventId: event.eventId, deliveryId }))
  )
  return deliveries.length
})

/** After this many executions, a connection may keep a plan (PostgreSQL manual, "PREPARE"). */
const KEPT_AFTER = 6

/** Runs statements of requests and jobs, as often as it takes to keep their plans, on one connection. */
const request = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* EventStore
  const { transact } = yield* Database
  const statements = Effect.all([
    store.list(tenantId, { agentId: "an agent" }, undefined, 51),
    store.list(tenantId, { statuses: ["pending"] }, undefined, 51),
    store.lease(tenantId, "a session", 10),
    store.release(["a session"], "withdrawn"),
    store.expire(1_000),
    store.remove(365 * Timestamp.DAY, 1_000)
  ])
  yield* transact(Effect.repeat(statements, { times: KEPT_AFTER }))
})

/** Rows and index entries of events and tenants visited by all connections. */
const visited = Effect.gen(function* () {
  const { delivery, sql } = yield* Database
  for (const client of [sql, delivery]) {
    yield* client`select pg_stat_force_next_flush()`
    yield* client`select 1`
  }
  const [row] = yield* delivery<{ readonly count: bigint }>`
    select (
      (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('events', 'tenants')) +
      (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('events', 'tenants'))
    )::bigint as count`
  return Number(row?.count)
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } })), {
  excludeTestServices: true
})("plans that are kept", (it) => {
  it.effect("serve a grown table as well as the empty one for which they were made", () =>
    Effect.gen(function* () {
      const { delivery } = yield* Database
      const tenantId = yield* madeTenant
      const [setting] = yield* delivery<{ readonly mode: string }>`
          select current_setting('plan_cache_mode') as mode`
      assert.strictEqual(setting?.mode, "force_generic_plan")
      assert.strictEqual(yield* deliver(tenantId), 0)
      yield* request(tenantId)
      yield* seedTenants
      yield* seed(tenantId, "acknowledged", OVER)
      yield* seed(tenantId, "pending", OPEN)
      const before = yield* visited
      assert.strictEqual(yield* deliver(tenantId), 10)
      const count = (yield* visited) - before
      assert.isAbove(count, 10)
      assert.isBelow(count, VISITED_MAX)
      const beforeRequests = yield* visited
      yield* request(tenantId)
      assert.isBelow((yield* visited) - beforeRequests, REQUESTS_VISITED_MAX)
    })
  )

  it.effect("include that of the events of a shared transaction, after the five that PostgreSQL makes first", () =>
    Effect.gen(function* () {
      const { sql, transact } = yield* Database
      const tenantId = yield* madeTenant
      const share = <A, E, R>(effect: Effect.Effect<A, E, R>) => transact(effect, { key: tenantId })
      for (let times = 0; times < 2 * KEPT_AFTER; times++) yield* share(append(tenantId))
      const plans = yield* share(sql`
        select generic_plans, custom_plans from pg_prepared_statements
        where statement like '%insert into events%' and statement not like '%pg_prepared_statements%'`)
      assert.deepStrictEqual(plans, [{ generic_plans: BigInt(2 * KEPT_AFTER - 5), custom_plans: 5n }])
    })
  )
})

layer(Layer.provideMerge(Postgres.layer, layerTestPostgres()), { excludeTestServices: true })(
  "in a large table",
  (it) => {
    it.effect("plans of pages, expiry and removal are kept after the five that PostgreSQL makes first", () =>
      Effect.gen(function* () {
        const { sql, transact } = yield* Database
        const store = yield* EventStore
        const tenantId = yield* madeTenant
        yield* seed(tenantId, "acknowledged", OVER)
        yield* sql`analyze events`
        const after = { createdAt: Timestamp.add(yield* Timestamp.now, -OVER / 2), id: yield* Uuid.next }
        const statements = Effect.all([
          store.list(tenantId, {}, after, 51),
          store.expire(1_000),
          store.remove(365 * Timestamp.DAY, 1_000)
        ])
        const plans = yield* transact(
          Effect.andThen(
            Effect.repeat(statements, { times: 2 * KEPT_AFTER - 1 }),
            sql<{ readonly custom_plans: bigint }>`
            select custom_plans from pg_prepared_statements
            where statement like '%from events%' and generic_plans + custom_plans = ${2 * KEPT_AFTER}::int`
          )
        )
        assert.deepStrictEqual(plans, [{ custom_plans: 5n }, { custom_plans: 5n }, { custom_plans: 5n }])
      })
    )
  }
)
