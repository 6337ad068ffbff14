import {
  type EventWebhook,
  NO_PROGRESS,
  TenantStore,
  Timestamp,
  Uuid,
  walletAddress,
  type WebhookAttempt,
  WebhookStore
} from "@agentos/core"
import { Database } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { plansOf } from "../support/Plans.ts"
import { seeding } from "../support/Seeding.ts"
import { checkIndexes, planTests } from "./PlanSubject.ts"

/** Numbers of endpoints that wait for an event, of paused ones, and of those that are due. */
const IDLE = 20_000
const PAUSED = 10_000
const DUE = 100
const PAGE = 50
const LEASE = 30 * Timestamp.SECOND

/** Returns an endpoint of a new tenant, which is due. */
const newWebhook = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  const now = yield* Timestamp.now
  yield* (yield* TenantStore).ensure({ tenantId, wallet, tokenVersion: 1, createdAt: now })
  const webhook: EventWebhook = {
    webhookId: yield* Uuid.next,
    tenantId,
    url: "https://agents.example/events",
    types: null,
    state: "active",
    secret: { keyId: 1, version: 1 },
    previousSecret: null,
    createdAt: now,
    updatedAt: now,
    pausedAt: null
  }
  yield* (yield* WebhookStore).set(webhook, false)
  return webhook
})

const newAttempt = Effect.gen(function* () {
  const attempt: WebhookAttempt = {
    deliveryId: yield* Uuid.next,
    eventId: yield* Uuid.next,
    type: "email.received",
    attempt: 1,
    createdAt: yield* Timestamp.now,
    durationMillis: 12,
    outcome: "succeeded",
    responseStatus: 204,
    error: null,
    nextAttemptAt: null
  }
  return attempt
})

/**
 * Stores copies of an endpoint, each with a tenant and an attempt of its own. `state` and `dueAt` are SQL; `n` is the
 * index of the copy.
 */
const copy = Effect.fnUntraced(function* (of: EventWebhook, count: number, state: string, dueAt: string) {
  const { sql } = yield* Database
  yield* seeding(
    sql.unsafe(
      `with copies as (select gen_random_uuid() as tenant, gen_random_uuid() as webhook, n from generate_series(1, $2::integer) n),
       owners as (
         insert into tenants (tenant_id, wallet, token_version, created_at)
         select tenant, gen_random_uuid(), 1, 0 from copies
       ),
       endpoints as (
         insert into event_webhooks (
           tenant_id, webhook_id, url, state, secret_key_id, secret_version, created_at, updated_at, due_at
         )
         select tenant, webhook, url, ${state}, 1, 1, 0, 0, ${dueAt}
         from event_webhooks, copies where tenant_id = $1::uuid
       )
       insert into event_webhook_attempts (
         webhook_id, delivery_id, event_id, type, attempt, created_at, duration_millis, outcome
       )
       select webhook, gen_random_uuid(), gen_random_uuid(), 'email.received', 1, 0, 1, 'failed' from copies`,
      [of.tenantId, count]
    )
  )
})

const addDue = (of: EventWebhook) => copy(of, DUE, "'active'", "epoch_millis() - 1000 - n")
const addIdle = (of: EventWebhook, share: number) =>
  Effect.andThen(
    copy(of, IDLE / share, "'active'", "case when n % 2 = 0 then epoch_millis() * 2 end"),
    copy(of, PAUSED / share, "'paused'", "null")
  )

const KEY = "event_webhooks_key"
const ATTEMPTS = "event_webhook_attempts_key"

const assertPlans = Effect.gen(function* () {
  const store = yield* WebhookStore
  const webhook = yield* newWebhook
  const { tenantId, webhookId } = webhook
  yield* checkIndexes("set", [], store.set(webhook, true))
  yield* checkIndexes("find", [KEY], store.find(tenantId))
  const due = ["event_webhooks_due", KEY, "tenants_key"]
  const first = yield* store.take({ woken: [], all: false, onlyAnswering: false }, PAGE, LEASE)
  assert.lengthOf(first, PAGE)
  yield* checkIndexes("take", due, store.take({ woken: [], all: false, onlyAnswering: false }, PAGE / 2, LEASE))
  yield* checkIndexes("backlog", ["event_webhooks_due"], store.backlog(PAGE))
  const woken = [tenantId, yield* Uuid.next]
  const [turn] = (yield* store.take({ woken, all: false, onlyAnswering: false }, 1_000, LEASE)).filter(
    (taken) => taken.webhook.webhookId === webhookId
  )
  assert.isDefined(turn)
  yield* checkIndexes("take, of nothing", due, store.take({ woken, all: false, onlyAnswering: false }, PAGE, LEASE))

  const byId = ["event_webhooks_webhook_key"]
  yield* checkIndexes("renew", [...byId, "tenants_key"], store.renew(turn, LEASE))
  for (let written = 0; written < 150; written++) {
    assert.isTrue(yield* store.record(turn, yield* newAttempt, NO_PROGRESS, "active"))
  }
  yield* checkIndexes("record", [...byId, ATTEMPTS], store.record(turn, yield* newAttempt, NO_PROGRESS, "active"))
  yield* checkIndexes("attempts", [ATTEMPTS], store.attempts(webhookId))
  assert.lengthOf(yield* store.attempts(webhookId), 100)
  const finish = store.finish(turn, { dueIn: null, isResting: false }, NO_PROGRESS)
  yield* checkIndexes("finish", [...byId, "tenants_key"], finish)
  yield* checkIndexes("remove", [KEY], store.remove(tenantId))
})

export const webhookPlans = planTests({
  title: "due event webhooks among 30,000 that wait or are paused",
  sample: newWebhook,
  addIdle,
  embeddedShare: 10,
  addDue,
  analyze: Effect.flatMap(Database, ({ sql }) => sql`vacuum analyze event_webhooks, event_webhook_attempts, tenants`),
  addOutdated: (webhook) =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      yield* copy(webhook, IDLE / 4, "'active'", "0")
      yield* sql`analyze event_webhooks, event_webhook_attempts, tenants`
      yield* seeding(sql`update event_webhooks set due_at = null`)
      yield* sql`vacuum event_webhooks`
    }),
  loseStatistics: Effect.flatMap(
    Database,
    ({ sql }) => sql`delete from pg_statistic where starelid = 'event_webhooks'::regclass`
  ),
  assertPlans: () => assertPlans
})

/** Checks that the search of all endpoints reads each of them once, and the tenants of these alone. */
export const assertPlanOfAllWebhooks = Effect.gen(function* () {
  const store = yield* WebhookStore
  const [plan] = yield* plansOf(store.take({ woken: [], all: true, onlyAnswering: false }, PAGE, LEASE))
  assert.isDefined(plan)
  assert.deepStrictEqual(
    plan.wholeTables.filter((table) => table !== "event_webhooks"),
    []
  )
  assert.isAtMost(plan.rowsVisited, 8 * (IDLE + PAUSED))
})
