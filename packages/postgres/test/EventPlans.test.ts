import {
  type EventDraft,
  EventStore,
  INTERNAL_SOURCE,
  TenantStore,
  Timestamp,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Plan, plansOf } from "./support/Plans.ts"
import { seeding } from "./support/Seeding.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Number of the tenant's events that are final, and of those that are open. */
const OVER = 100_000
const OPEN = 100
/** Number of events old enough to be expired and deleted. */
const OLD = 100
const YEAR = 365 * Timestamp.DAY
/**
 * Limit of rows that a statement may visit: several times its result, since each node of a plan counts its own
 * rows.
 */
const VISITED_MAX = 2_000

/** A queue whose first row is read, whichever it is. */
const QUEUE = "deleted_agents"

const makeTenant = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  const { createdAt } = yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return { tenantId, createdAt }
})

/** Stores `count` events of the tenant at once, one millisecond apart, the last of them `age` milliseconds ago. */
const seed = Effect.fnUntraced(function* (
  tenantId: string,
  status: "pending" | "acknowledged",
  count: number,
  age = 0
) {
  const { sql } = yield* Database
  yield* seeding(sql`
    insert into events (
      event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, status,
      created_at, expires_at
    )
    select
      (lpad(to_hex(at), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid, ${tenantId}::uuid,
      'email.received', 'smtp', 'email', 'a resource', 'an agent', '{}',
      gen_random_uuid(), ${status}, at, at + ${30 * Timestamp.DAY}::bigint
    from (
      select epoch_millis() - ${age}::bigint - ${count}::bigint + n as at from generate_series(1, ${count}::bigint) n
    ) moments`)
})

const draftsOf = (tenantId: string, count: number): Effect.Effect<ReadonlyArray<EventDraft>> =>
  Effect.replicateEffect(
    Effect.map(Uuid.next, (id) => ({
      tenantId,
      type: "email.received" as const,
      source: INTERNAL_SOURCE,
      service: "email",
      resourceId: id,
      agentId: id,
      payload: {},
      dedupeKey: id
    })),
    count
  )

const assertSmall = (plans: ReadonlyArray<Plan>, index: string, name: string): void => {
  assert.isAbove(plans.length, 0, name)
  for (const plan of plans) {
    const wholeTables = plan.wholeTables.filter((table) => table !== QUEUE)
    assert.deepStrictEqual(wholeTables, [], `${name}: ${plan.text}`)
    assert.isAtMost(plan.rowsVisited, VISITED_MAX, `${name}: ${plan.text}`)
  }
  assert.isTrue(
    plans.some(({ indexes }) => indexes.has(index)),
    `${name} reads ${index}`
  )
}

/** Checks every statement on a tenant's events, each with the index that it must use. */
const assertPlans = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* EventStore
  const check = <A, E>(name: string, index: string, effect: Effect.Effect<A, E>) =>
    Effect.tap(plansOf(effect), (plans) => Effect.sync(() => assertSmall(plans, index, name)))

  yield* check("replayable", "events_open", store.replayable(tenantId, OPEN))
  yield* check("countReplayable", "events_open", store.countReplayable(tenantId, 1_000))
  yield* check("countReplayableEach", "events_open", store.countReplayableEach([tenantId, yield* Uuid.next], 1_000))
  yield* check("list pending", "events_open", store.list(tenantId, { statuses: ["pending"] }, undefined, 51))
  const open = { statuses: ["delivered", "pending"], service: "email", agentId: "an agent" } as const
  yield* check("list open, filtered", "events_open", store.list(tenantId, open, undefined, 51))
  yield* check("list failed", "events_failed", store.list(tenantId, { statuses: ["failed"] }, undefined, 51))
  yield* check("list", "events_order", store.list(tenantId, {}, undefined, 51))
  const common = { service: "email", types: ["email.received"], agentId: "an agent", resourceId: "a resource" }
  yield* check("list, filtered", "events_order", store.list(tenantId, common, undefined, 51))
  const latest = yield* store.latest(tenantId)
  assert.isDefined(latest)
  const middle = { createdAt: latest.createdAt - OVER / 2, id: latest.id }
  yield* check("list from the middle", "events_order", store.list(tenantId, {}, middle, 51))
  yield* check("latest", "events_order", store.latest(tenantId))
  yield* check("latestEach", "events_order", store.latestEach([tenantId, yield* Uuid.next]))

  const session = yield* Uuid.next
  const deliveries = yield* store.lease(tenantId, session, 10)
  assert.strictEqual(deliveries.length, 10)
  yield* check("lease", "events_open", store.lease(tenantId, session, 64))
  const requests = [tenantId, yield* Uuid.next].map((id) => ({ tenantId: id, sessionId: session, limit: 10 }))
  yield* check("leaseEach", "events_open", store.leaseEach(requests))
  yield* check("renew", "events_session", store.renew([session]))
  const acknowledgements = deliveries.map(({ deliveryId, event }) => ({ eventId: event.eventId, deliveryId }))
  yield* check("acknowledge", "events_key", store.acknowledge(tenantId, acknowledgements))
  yield* check("release", "events_session", store.release([session], "withdrawn"))
  yield* check("append", "tenants_key", store.append(yield* draftsOf(tenantId, 10)))
  yield* check("expire, of nothing", "events_expiring", store.expire(1_000))
  yield* check("remove, of nothing", "events_key", store.remove(YEAR, 1_000))
  yield* seed(tenantId, "pending", OLD, YEAR)
  yield* check("expire", "events_expiring", store.expire(OLD / 2))
  yield* check("remove", "events_key", store.remove(YEAR, OLD / 2))
  yield* check("expire, the rest", "events_expiring", store.expire(1_000))
  yield* check("remove, the rest", "events_key", store.remove(YEAR, 1_000))
  const before = Timestamp.add(Timestamp.Timestamp.make(latest.createdAt), 1)
  yield* check("acknowledgeAll", "events_open", store.acknowledgeAll(tenantId, { before }))
})

const SECONDS = 1_000

describe("with 100,000 final events of a tenant, its open events are found without visiting the final ones", () => {
  const onServer = () => Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } }))

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with no statistics, and with current ones",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const { tenantId } = yield* makeTenant
          yield* seed(tenantId, "acknowledged", OVER)
          yield* seed(tenantId, "pending", OPEN)
          yield* assertPlans(tenantId)
          yield* seed(tenantId, "pending", OPEN)
          yield* sql`vacuum analyze events`
          yield* assertPlans(tenantId)
        }),
      120 * SECONDS
    )
  })

  layer(onServer(), { excludeTestServices: true })("on PostgreSQL", (it) => {
    it.effect(
      "with statistics from when they were open, and from when there were none",
      () =>
        Effect.gen(function* () {
          const { sql } = yield* Database
          const { tenantId } = yield* makeTenant
          yield* seed(tenantId, "pending", OVER)
          yield* sql`analyze events`
          yield* seeding(sql`update events set status = 'acknowledged'`)
          yield* sql`vacuum events`
          yield* seed(tenantId, "pending", OPEN)
          yield* assertPlans(tenantId)
          yield* sql`delete from pg_statistic where starelid = 'events'::regclass`
          yield* seed(tenantId, "pending", OPEN)
          yield* sql`vacuum events`
          yield* assertPlans(tenantId)
        }),
      120 * SECONDS
    )
  })

  layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })("on PGlite", (it) => {
    it.effect(
      "without any statistics",
      () =>
        Effect.gen(function* () {
          const { tenantId } = yield* makeTenant
          yield* seed(tenantId, "acknowledged", OVER)
          yield* seed(tenantId, "pending", OPEN)
          yield* assertPlans(tenantId)
        }),
      120 * SECONDS
    )
  })
})
