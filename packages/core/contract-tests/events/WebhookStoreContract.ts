import {
  ATTEMPTS_KEPT,
  type EventSignal,
  EventStore,
  type EventWebhook,
  FAILING_LATER,
  NO_PROGRESS,
  type TenantId,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  type WebhookAttempt,
  WebhookStore,
  type WebhookLease
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { type ContractTests, defineContract, type HarnessServices } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"

type Ports = HarnessServices | EventStore | EventSignal | WebhookStore

const LEASE = 30_000
const MANY = 10_000
const NEXT_EVENT = { dueIn: null, isResting: false }

/** A new endpoint of a tenant, not yet stored. */
const webhookOf = Effect.fnUntraced(function* (tenantId: TenantId): Effect.fn.Return<EventWebhook, never, StoreClock> {
  const now = yield* (yield* StoreClock).now
  return {
    webhookId: yield* Fresh.id,
    tenantId,
    url: "https://agent.example.com/events",
    types: ["email.received", "phone.call.ended"],
    state: "active",
    secret: { keyId: 1, version: 1 },
    previousSecret: null,
    createdAt: now,
    updatedAt: now,
    pausedAt: null
  }
})

/** A stored endpoint of a new tenant. */
const endpoint = Effect.gen(function* () {
  const { tenantId } = yield* Fresh.tenant
  const webhook = yield* webhookOf(tenantId)
  yield* (yield* WebhookStore).set(webhook, false)
  return webhook
})

/** Takes every due endpoint, and returns those of these tenants. The endpoints of other tests are due again later. */
const takenOf = Effect.fnUntraced(function* (
  tenantIds: ReadonlyArray<TenantId>,
  due: { readonly woken?: ReadonlyArray<TenantId>; readonly all?: boolean; readonly onlyAnswering?: boolean } = {}
) {
  const store = yield* WebhookStore
  const leases = yield* store.take({ woken: [], all: false, onlyAnswering: false, ...due }, MANY, LEASE)
  return leases.filter(({ webhook }) => tenantIds.includes(webhook.tenantId))
})

const takenOne = Effect.fnUntraced(function* (tenantId: TenantId) {
  const [lease] = yield* takenOf([tenantId])
  return lease ?? (yield* Effect.die(new Error("the endpoint is not due")))
})

const attemptOf = Effect.fnUntraced(function* (attempt: number): Effect.fn.Return<WebhookAttempt, never, StoreClock> {
  const now = yield* (yield* StoreClock).now
  return {
    deliveryId: Uuid.fromParts(now + attempt, yield* Uuid.randomBits),
    eventId: yield* Fresh.id,
    type: "email.received",
    attempt,
    createdAt: now,
    durationMillis: 12,
    outcome: "failed",
    responseStatus: 500,
    error: "The endpoint answered with status 500.",
    nextAttemptAt: Timestamp.add(now, 5_000)
  }
})

const tests: ContractTests<Ports> = (it) => {
  describe("set, find and remove", () => {
    it.effect("counts the endpoints that are due, and returns since when the first is", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const clock = yield* StoreClock
        yield* clock.advance(LEASE)
        yield* takenOf([])
        assert.deepStrictEqual(yield* store.backlog(MANY), { count: 0, since: null }, "all are leased")
        const since = yield* clock.now
        yield* endpoint
        yield* clock.advance(1_000)
        yield* endpoint
        const due = yield* store.backlog(MANY)
        assert.strictEqual(due.count, 2)
        assert.isAtLeast(due.since!, since)
        assert.isBelow(due.since!, since + 1_000)
        assert.deepStrictEqual(yield* store.backlog(1), { ...due, count: 1 })
      })
    )

    it.effect("store one endpoint for a tenant, and delete it with its attempts", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const webhook = yield* endpoint
        const other = yield* endpoint
        assert.deepStrictEqual(yield* store.find(webhook.tenantId), Option.some(webhook))
        const validUntil = Timestamp.add(webhook.createdAt, 1)
        const replaced: EventWebhook = {
          ...webhook,
          url: "https://other.example.com/",
          types: null,
          secret: { keyId: 2, version: 2 },
          previousSecret: { ...webhook.secret, validUntil }
        }
        yield* store.set(replaced, false)
        assert.deepStrictEqual(yield* store.find(webhook.tenantId), Option.some(replaced))
        const lease = yield* takenOne(webhook.tenantId)
        yield* store.record(lease, yield* attemptOf(1), NO_PROGRESS, "active")
        assert.isTrue(yield* store.remove(webhook.tenantId))
        assert.isFalse(yield* store.remove(webhook.tenantId))
        assert.deepStrictEqual(yield* store.find(webhook.tenantId), Option.none())
        assert.deepStrictEqual(yield* store.attempts(webhook.webhookId), [])
        assert.isFalse(yield* store.finish(lease, NEXT_EVENT, NO_PROGRESS))
        assert.deepStrictEqual(yield* store.find(other.tenantId), Option.some(other))
      })
    )
  })

  describe("list", () => {
    it.effect("returns endpoints by id with their progress and last attempt, in a state, page by page", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const [idle, failing, paused] = [yield* endpoint, yield* endpoint, yield* endpoint]
        const leases = yield* takenOf([idle, failing, paused].map(({ tenantId }) => tenantId))
        const leaseOf = ({ webhookId }: EventWebhook) => leases.find(({ webhook }) => webhook.webhookId === webhookId)!
        const [earlier, last] = [yield* attemptOf(1), yield* attemptOf(2)]
        const { createdAt: firstAttemptAt, eventId } = last
        const retry = { eventId, attempts: 2, firstAttemptAt, nextAttemptAt: last.nextAttemptAt! }
        const progress = { retries: [retry], failures: 2, hasAnswered: false }
        yield* store.finish(leaseOf(idle), NEXT_EVENT, NO_PROGRESS)
        yield* store.record(leaseOf(failing), earlier, progress, "active")
        yield* store.record(leaseOf(failing), last, progress, "active")
        yield* store.record(leaseOf(paused), yield* attemptOf(1), progress, "paused")
        const only = ({ webhookId }: EventWebhook) =>
          Effect.map(store.list({ webhookId, limit: 9 }), ([found]) => found)
        const { dueAt, ...held } = (yield* only(failing))!
        assert.deepStrictEqual(held, { webhook: failing, progress, isLeased: true, lastAttempt: last })
        assert.isNumber(dueAt)
        assert.deepInclude(yield* only(idle), { dueAt: null, isLeased: false, lastAttempt: null })
        const all = [idle, failing, paused].map(({ webhookId }) => webhookId).toSorted()
        const list = (query: Partial<Parameters<typeof store.list>[0]>) =>
          Effect.map(store.list({ limit: MANY, ...query }), (found) =>
            found.map(({ webhook }) => webhook.webhookId).filter((id) => all.includes(id))
          )
        assert.deepStrictEqual(yield* list({}), all)
        assert.deepStrictEqual(yield* list({ after: all[0]! }), all.slice(1))
        assert.lengthOf(yield* store.list({ limit: 2 }), 2)
        assert.deepStrictEqual(yield* list({ state: "failing" }), [failing.webhookId])
        assert.deepStrictEqual(yield* list({ state: "paused" }), [paused.webhookId])
        assert.deepStrictEqual(yield* list({ tenantId: idle.tenantId }), [idle.webhookId])
        assert.deepStrictEqual(yield* list({ tenantId: idle.tenantId, state: "due" }), [])
        yield* (yield* StoreClock).advance(LEASE)
        assert.deepStrictEqual(yield* list({ state: "due" }), [failing.webhookId])
      })
    )
  })

  describe("restart", () => {
    it.effect("makes an endpoint due with its changed progress, and ends its pause or the lease on it", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { transact } = yield* Transactor
        const { tenantId, webhookId } = yield* endpoint
        const resting = yield* takenOne(tenantId)
        yield* store.finish(resting, { dueIn: Timestamp.DAY, isResting: true }, { ...NO_PROGRESS, failures: 5 })
        assert.deepStrictEqual(yield* takenOf([tenantId], { all: true, woken: [tenantId] }), [])
        const change = (progress: typeof NO_PROGRESS) => ({ ...progress, failures: progress.failures - 5 })
        assert.isTrue(yield* transact(store.restart(webhookId, change)))
        const lease = yield* takenOne(tenantId)
        assert.deepStrictEqual(lease.progress, NO_PROGRESS)
        assert.isTrue(yield* transact(store.restart(webhookId, (progress) => progress)))
        assert.isFalse(yield* store.renew(lease, LEASE), "another lease may begin")
        assert.isFalse(yield* store.record(lease, yield* attemptOf(1), NO_PROGRESS, "active"))
        const next = yield* takenOne(tenantId)
        assert.isAbove(next.fence, lease.fence)
        yield* store.record(next, yield* attemptOf(1), NO_PROGRESS, "paused")
        assert.deepStrictEqual(yield* takenOf([tenantId], { all: true }), [])
        assert.isTrue(yield* transact(store.restart(webhookId, (progress) => progress)))
        const { webhook } = yield* takenOne(tenantId)
        assert.deepInclude(webhook, { state: "active", pausedAt: null })
        assert.isFalse(yield* transact(store.restart(yield* Fresh.id, (progress) => progress)))
      })
    )
  })

  describe("take", () => {
    it.effect("leases a new endpoint once, and again when its lease has lapsed, under another fence", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const clock = yield* StoreClock
        const { tenantId } = yield* endpoint
        const first = yield* takenOne(tenantId)
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* clock.advance(LEASE - 1_000)
        assert.isTrue(yield* store.renew(first, LEASE))
        yield* clock.advance(LEASE - 1_000)
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* clock.advance(1_000)
        const second = yield* takenOne(tenantId)
        assert.isAbove(second.fence, first.fence)
        assert.isFalse(yield* store.renew(first, LEASE))
        assert.isFalse(yield* store.record(first, yield* attemptOf(1), NO_PROGRESS, "active"))
        assert.isFalse(yield* store.finish(first, NEXT_EVENT, NO_PROGRESS))
        assert.deepStrictEqual(yield* store.attempts(second.webhook.webhookId), [])
      })
    )

    it.effect("leases each endpoint to one of many concurrent callers", () =>
      Effect.gen(function* () {
        const webhooks = yield* Effect.replicateEffect(endpoint, 5)
        const tenantIds = webhooks.map(({ tenantId }) => tenantId)
        const answers = yield* Effect.replicateEffect(takenOf(tenantIds), 8, { concurrency: "unbounded" })
        const taken = answers.flat().map(({ webhook }) => webhook.tenantId)
        assert.deepStrictEqual(taken.toSorted(), tenantIds.toSorted())
      })
    )

    it.effect("finds an idle endpoint when its tenant is woken, or has a new event, and not before", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { tenantId } = yield* endpoint
        yield* store.finish(yield* takenOne(tenantId), NEXT_EVENT, NO_PROGRESS)
        assert.deepStrictEqual(yield* takenOf([tenantId], { all: true }), [])
        const [woken] = yield* takenOf([tenantId], { woken: [tenantId] })
        yield* store.finish(woken!, NEXT_EVENT, NO_PROGRESS)
        const event = yield* Sample.appendOne(tenantId)
        assert.deepStrictEqual(yield* takenOf([tenantId]), [])
        const [found] = yield* takenOf([tenantId], { all: true })
        assert.strictEqual(found!.newestEventId, event.eventId)
        yield* store.finish(found!, NEXT_EVENT, NO_PROGRESS)
        assert.deepStrictEqual(yield* takenOf([tenantId], { all: true }), [])
      })
    )

    it.effect("finds an endpoint at once whose tenant had a new event during its lease", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { tenantId } = yield* endpoint
        const lease = yield* takenOne(tenantId)
        yield* Sample.appendOne(tenantId)
        yield* store.finish(lease, NEXT_EVENT, NO_PROGRESS)
        yield* takenOne(tenantId)
      })
    )

    it.effect("finds a resting endpoint when its rest is over, whatever happens before", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const clock = yield* StoreClock
        const { tenantId } = yield* endpoint
        const lease = yield* takenOne(tenantId)
        yield* Sample.appendOne(tenantId)
        yield* store.finish(lease, { dueIn: 60_000, isResting: true }, NO_PROGRESS)
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* clock.advance(59_000)
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* clock.advance(1_000)
        yield* takenOne(tenantId)
      })
    )

    it.effect("finds no endpoint of a suspended tenant, and ends its lease", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const tenants = yield* TenantStore
        const { transact } = yield* Transactor
        const clock = yield* StoreClock
        const { tenantId } = yield* endpoint
        const lease = yield* takenOne(tenantId)
        const suspend = (reason: string | null) =>
          Effect.gen(function* () {
            yield* tenants.lock([tenantId])
            yield* tenants.setSuspension(tenantId, reason === null ? null : { at: yield* clock.now, reason })
          }).pipe(transact)
        yield* suspend("abuse")
        assert.isFalse(yield* store.renew(lease, LEASE))
        yield* store.finish(lease, { dueIn: 0, isResting: false }, null)
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* suspend(null)
        yield* takenOne(tenantId)
      })
    )

    it.effect(
      "returns the progress as it was stored, without retries after the endpoint was set again, and none for another host",
      () =>
        Effect.gen(function* () {
          const store = yield* WebhookStore
          const webhook = yield* endpoint
          const { tenantId } = webhook
          const at = webhook.createdAt
          const retries = [{ eventId: yield* Fresh.id, attempts: 3, firstAttemptAt: at, nextAttemptAt: at }]
          const progress = { retries, failures: 2, hasAnswered: true }
          const lease = yield* takenOne(tenantId)
          yield* store.record(lease, yield* attemptOf(1), progress, "active")
          yield* store.finish(lease, { dueIn: 0, isResting: false }, null)
          const again = yield* takenOne(tenantId)
          assert.deepStrictEqual(again.progress, progress)
          yield* store.set(webhook, true)
          assert.isFalse(yield* store.finish(again, NEXT_EVENT, progress))
          assert.deepStrictEqual((yield* takenOne(tenantId)).progress, { ...progress, retries: [] })
          yield* store.set(webhook, false)
          assert.deepStrictEqual((yield* takenOne(tenantId)).progress, NO_PROGRESS)
        })
    )

    it.effect("finds only endpoints that answer, if asked: not new ones, nor those that have failed since", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const answering = yield* endpoint
        const failing = yield* endpoint
        const fresh = yield* endpoint
        const tenantIds = [answering, failing, fresh].map(({ tenantId }) => tenantId)
        const after = new Map([
          [answering.tenantId, { retries: [], failures: 0, hasAnswered: true }],
          [failing.tenantId, { retries: [], failures: 1, hasAnswered: true }]
        ])
        for (const lease of yield* takenOf(tenantIds)) {
          yield* store.finish(lease, { dueIn: 0, isResting: false }, after.get(lease.webhook.tenantId) ?? null)
        }
        const found = yield* takenOf(tenantIds, { onlyAnswering: true, all: true, woken: tenantIds })
        assert.deepStrictEqual(
          found.map(({ webhook }) => webhook.tenantId),
          [answering.tenantId]
        )
      })
    )

    it.effect("takes an endpoint that has failed after one that has not, until it is due for ten seconds more", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const clock = yield* StoreClock
        const failing = yield* endpoint
        const dueNow = { dueIn: 0, isResting: false }
        const failed = { retries: [], failures: 1, hasAnswered: false }
        yield* store.finish(yield* takenOne(failing.tenantId), dueNow, failed)
        yield* clock.advance(FAILING_LATER - 2_000)
        const first = yield* endpoint
        const ours = [failing.tenantId, first.tenantId]
        // Endpoints of other tests may be due too.
        const next = Effect.repeat(
          Effect.map(
            store.take({ woken: [], all: false, onlyAnswering: false }, 1, LEASE),
            ([lease]) => lease?.webhook
          ),
          { until: (webhook) => webhook === undefined || ours.includes(webhook.tenantId) }
        )
        assert.strictEqual((yield* next)?.tenantId, first.tenantId)
        assert.strictEqual((yield* next)?.tenantId, failing.tenantId)
      })
    )
  })

  describe("record", () => {
    it.effect("keeps the last attempts, newest first", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const { tenantId, webhookId } = yield* endpoint
        const lease: WebhookLease = yield* takenOne(tenantId)
        const made: Array<WebhookAttempt> = []
        for (const number of Array.range(1, ATTEMPTS_KEPT + 3)) {
          const attempt = yield* attemptOf(number)
          made.push(attempt)
          assert.isTrue(yield* store.record(lease, attempt, NO_PROGRESS, "active"))
        }
        const kept = yield* store.attempts(webhookId)
        assert.deepStrictEqual(
          kept.map(({ deliveryId }) => deliveryId).toSorted(),
          made
            .map(({ deliveryId }) => deliveryId)
            .toSorted()
            .slice(3)
        )
        assert.deepStrictEqual(
          kept[0],
          made.find(({ deliveryId }) => deliveryId === kept[0]!.deliveryId)
        )
        assert.isAbove(kept[0]!.attempt, kept.at(-1)!.attempt)
      })
    )

    it.effect("pauses an endpoint, which is then not due until it is set again", () =>
      Effect.gen(function* () {
        const store = yield* WebhookStore
        const webhook = yield* endpoint
        const { tenantId } = webhook
        const lease = yield* takenOne(tenantId)
        yield* Sample.appendOne(tenantId)
        assert.isTrue(yield* store.record(lease, yield* attemptOf(9), NO_PROGRESS, "paused"))
        const paused = Option.getOrThrow(yield* store.find(tenantId))
        assert.strictEqual(paused.state, "paused")
        assert.isNotNull(paused.pausedAt)
        assert.isFalse(yield* store.renew(lease, LEASE))
        assert.deepStrictEqual(yield* takenOf([tenantId], { woken: [tenantId], all: true }), [])
        yield* store.set(webhook, false)
        yield* takenOne(tenantId)
      })
    )
  })

  describe("a lease of events with a filter", () => {
    it.effect("takes the oldest events of these types, without the excluded ones, and changes no other", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const [mail] = yield* Sample.append(tenantId, 1)
        const [call, later] = yield* Sample.append(tenantId, 2, { type: "phone.call.ended" })
        const session = yield* Fresh.id
        const filter = { types: ["phone.call.ended"], except: [call!.eventId] }
        assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, session, 9, filter)), [later!.eventId])
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(tenantId, 9)), [mail!.eventId, call!.eventId])
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, session, 9, { except: [mail!.eventId] })),
          [call!.eventId]
        )
      })
    )
  })
}

/** The suite of `WebhookStore`. */
export const WebhookStoreContract = defineContract<Ports>("WebhookStore", tests)
