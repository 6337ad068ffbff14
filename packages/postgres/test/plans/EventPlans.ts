import {
  type EventDraft,
  EventStore,
  INTERNAL_SOURCE,
  TenantStore,
  Timestamp,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { seeding } from "../support/Seeding.ts"
import { checkVisited, planTests } from "./PlanSubject.ts"

/** Number of the tenant's events that are final, and of those that are open. */
const OVER = 100_000
const OPEN = 100
/** Number of events old enough to be expired and deleted. */
const OLD = 100
const YEAR = 365 * Timestamp.DAY
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

/** Checks that the statements of an effect visit few rows, and read this index. */
const check = <A, E, R>(name: string, index: string, effect: Effect.Effect<A, E, R>) =>
  Effect.map(checkVisited(name, effect, [QUEUE]), (plans) =>
    assert.isTrue(
      plans.some(({ indexes }) => indexes.has(index)),
      `${name} reads ${index}`
    )
  )

const assertPlans = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* EventStore

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

export const eventPlans = planTests({
  title: "open events of a tenant among 100,000 final ones",
  sample: Effect.map(makeTenant, ({ tenantId }) => tenantId),
  addIdle: (tenantId, share) => seed(tenantId, "acknowledged", OVER / share),
  embeddedShare: 1,
  addDue: (tenantId) => seed(tenantId, "pending", OPEN),
  analyze: Effect.flatMap(Database, ({ sql }) => sql`vacuum analyze events`),
  addOutdated: (tenantId) =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* seed(tenantId, "pending", OVER)
      yield* sql`analyze events`
      yield* seeding(sql`update events set status = 'acknowledged'`)
      yield* sql`vacuum events`
    }),
  loseStatistics: Effect.flatMap(Database, ({ sql }) =>
    Effect.andThen(sql`delete from pg_statistic where starelid = 'events'::regclass`, sql`vacuum events`)
  ),
  assertPlans
})
