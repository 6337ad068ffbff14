import {
  audited,
  DEFAULT_EVENT_POLICY,
  EventPolicy,
  type EventDraft,
  EventStore,
  EventWebhooks,
  Keyring,
  listAudit,
  RealtimeSession,
  type TenantId,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress,
  WebhookAdministration,
  WebhookClient,
  type WebhookRequest,
  WebhookSchedule,
  WebhookStore,
  WebhookUnreachable,
  WebhookWorker
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as TestHost from "../support/TestHost.ts"
import { testKeyring } from "../support/TestKeyring.ts"

const { MAX_IN_FLIGHT } = RealtimeSession
const URL = "https://agent.example.com/events"

/** How an endpoint answers: a status, a silence, or no answer. */
type Answer = (request: WebhookRequest) => Effect.Effect<number, WebhookUnreachable>

const always =
  (status: number): Answer =>
  () =>
    Effect.succeed(status)

/** A core whose webhooks answer as the test says, and the requests that they received. */
const makeHost = () => {
  const received: Array<WebhookRequest> = []
  const endpoint: { answer: Answer } = { answer: always(204) }
  const open = { now: 0, most: 0 }
  const client = Layer.succeed(WebhookClient, {
    refusal: (url) =>
      Effect.succeed(url.includes("private") ? "must have a host with a public internet address" : undefined),
    post: (request) =>
      Effect.suspend(() => {
        received.push(request)
        open.most = Math.max(open.most, ++open.now)
        return Effect.ensuring(
          endpoint.answer(request),
          Effect.sync(() => open.now--)
        )
      })
  })
  const layer = Layer.provideMerge(Layer.fresh(EventWebhooks.layer), Layer.provideMerge(client, TestHost.make().layer))
  return { received, endpoint, open, layer }
}
type Host = ReturnType<typeof makeHost>
type Services = Layer.Success<Host["layer"]>

/** Two lapses fail an event of any age, so that each test shows that a webhook's retries are not lapses. */
const policy = { ...DEFAULT_EVENT_POLICY, maxLapses: 2, minFailAge: 0 }

const scenario = (name: string, test: (host: Host) => Effect.Effect<void, unknown, Services>) =>
  it.effect(name, () => {
    const host = makeHost()
    return Effect.provide(test(host), host.layer).pipe(Effect.provideService(EventPolicy, policy))
  })

let wallets = 0
const newTenant = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${(++wallets).toString(16).padStart(40, "0")}`)
  const { transact } = yield* Transactor
  yield* transact((yield* TenantStore).ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now }))
  return tenantId
})

/** A tenant with a webhook. */
const endpointOf = Effect.fnUntraced(function* (types?: ReadonlyArray<"email.received">) {
  const tenantId = yield* newTenant
  const { signingSecret, webhook } = yield* (yield* EventWebhooks).set(tenantId, { url: URL, types })
  return { tenantId, signingSecret, webhook }
})

const append = Effect.fnUntraced(function* (
  tenantId: TenantId,
  count: number,
  type: EventDraft["type"] = "email.received"
) {
  const drafts = yield* Effect.replicateEffect(
    Effect.map(Uuid.next, (id): EventDraft => ({
      tenantId,
      type,
      source: "smtp",
      service: "email",
      resourceId: id,
      agentId: "agent",
      payload: {},
      dedupeKey: id
    })),
    count
  )
  return (yield* (yield* EventStore).append(drafts)).map(({ eventId }) => eventId)
})

/** Runs the worker, as on one server. */
const serving = Effect.forkChild(WebhookWorker.run)
/** Runs the worker for some seconds of a later time, like a server that is started and stopped. */
const servesAfter = Effect.fnUntraced(function* (millis: number, seconds = 3) {
  yield* TestClock.adjust(millis)
  const server = yield* serving
  yield* TestClock.adjust(seconds * Timestamp.SECOND)
  yield* Fiber.interrupt(server)
})
const statuses = Effect.fnUntraced(function* (tenantId: TenantId) {
  return (yield* (yield* EventStore).list(tenantId, {}, undefined, 1_000)).map(({ status }) => status)
})
const idsOf = (requests: ReadonlyArray<WebhookRequest>) => requests.map(({ id }) => id)
const decodeRecord = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ eventId: Schema.String, deliveryCount: Schema.Int }))
)

describe("an event webhook", () => {
  scenario(
    "receives pending and new events in order, one at a time, and acknowledges them by 2xx",
    ({ endpoint, open, received }) =>
      Effect.gen(function* () {
        endpoint.answer = () => Effect.as(Effect.sleep("10 millis"), 202)
        const { tenantId } = yield* endpointOf()
        const first = yield* append(tenantId, MAX_IN_FLIGHT + 50)
        yield* serving
        yield* TestClock.adjust("10 seconds")
        const second = yield* append(tenantId, 2)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(idsOf(received), [...first, ...second])
        assert.strictEqual(open.most, 1)
        assert.deepStrictEqual(new Set(yield* statuses(tenantId)), new Set(["acknowledged"]))
        const record = decodeRecord(received[0]!.body)
        assert.deepStrictEqual(record, { eventId: first[0]!, deliveryCount: 1 })
      })
  )

  scenario("receives events of its types alone", ({ received }) =>
    Effect.gen(function* () {
      const { tenantId } = yield* endpointOf(["email.received"])
      yield* append(tenantId, 5, "phone.call.ended")
      const mails = yield* append(tenantId, 2)
      yield* serving
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(idsOf(received), mails)
      assert.lengthOf(yield* (yield* EventStore).replayable(tenantId, 9), 5)
    })
  )

  scenario(
    "receives later events while one is retried, after 5 s and then with growing delays",
    ({ endpoint, received }) =>
      Effect.gen(function* () {
        const { tenantId, webhook } = yield* endpointOf()
        const [poison, ...others] = yield* append(tenantId, 4)
        endpoint.answer = ({ id }) => Effect.succeed(id === poison ? 500 : 200)
        const startedAt = yield* Timestamp.now
        yield* serving
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual(idsOf(received), [poison, ...others])
        yield* TestClock.adjust("5 minutes")
        const attempts = received.filter(({ id }) => id === poison)
        const seconds = attempts.map(({ timestamp }) => Math.round((timestamp - startedAt) / 1_000))
        assert.deepStrictEqual(
          seconds.map((second, index) => Math.round((second - (seconds[index - 1] ?? 0)) / 5) * 5),
          [0, 5, 10, 20, 40, 80]
        )
        assert.strictEqual(decodeRecord(attempts[1]!.body).deliveryCount, 2)
        endpoint.answer = always(200)
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(new Set(yield* statuses(tenantId)), new Set(["acknowledged"]))
        const log = yield* (yield* WebhookStore).attempts(webhook.webhookId)
        assert.deepStrictEqual(
          [log[0]!.outcome, log[0]!.attempt, log[1]!.outcome, log[1]!.responseStatus, log[1]!.error],
          ["succeeded", 7, "failed", 500, "The endpoint answered with status 500."]
        )
      })
  )

  scenario("holds at most 64 events for a retry, and sends no later one while it does", ({ endpoint, received }) =>
    Effect.gen(function* () {
      const { tenantId } = yield* endpointOf()
      const events = yield* append(tenantId, 3 * MAX_IN_FLIGHT)
      const poison = new Set(events.filter((_, index) => index % 2 === 0))
      endpoint.answer = ({ id }) =>
        poison.has(id)
          ? Effect.fail(new WebhookUnreachable({ message: "agent.example.com did not answer." }))
          : Effect.succeed(200)
      yield* servesAfter(0, 4)
      assert.deepStrictEqual(idsOf(received), events.slice(0, 2 * MAX_IN_FLIGHT - 1))
      yield* servesAfter(0, 60)
      assert.isFalse(idsOf(received).includes(events.at(-1)!))
      poison.clear()
      yield* servesAfter(Timestamp.DAY, 60)
      assert.deepStrictEqual(new Set(yield* statuses(tenantId)), new Set(["acknowledged"]))
    })
  )

  scenario(
    "is paused after three days, says so in an event, and resumes when it is set again",
    ({ endpoint, received }) =>
      Effect.gen(function* () {
        const { tenantId, webhook } = yield* endpointOf()
        const [eventId] = yield* append(tenantId, 1)
        endpoint.answer = always(410)
        yield* servesAfter(0)
        yield* servesAfter(71 * Timestamp.HOUR)
        assert.deepStrictEqual(yield* statuses(tenantId), ["delivered"])
        assert.strictEqual((yield* (yield* EventWebhooks).get(tenantId)).state, "active")
        yield* servesAfter(Timestamp.HOUR)
        assert.strictEqual((yield* (yield* EventWebhooks).get(tenantId)).state, "paused")
        const [undelivered, notice, ...more] = yield* (yield* EventStore).list(tenantId, {}, undefined, 9)
        assert.deepStrictEqual([undelivered!.status, more], ["delivered", []])
        assert.deepInclude(notice, { type: "events.webhook.paused", status: "pending", resourceId: webhook.webhookId })
        assert.deepInclude(notice!.payload, {
          webhookId: webhook.webhookId,
          url: URL,
          undeliveredEventId: eventId,
          error: "The endpoint answered with status 410."
        })
        const asked = received.length
        yield* append(tenantId, 3)
        yield* servesAfter(Timestamp.DAY)
        assert.strictEqual(received.length, asked)
        endpoint.answer = always(200)
        yield* (yield* EventWebhooks).set(tenantId, { url: URL })
        yield* servesAfter(0, 20)
        assert.deepStrictEqual(idsOf(received.slice(asked))[0], eventId)
        assert.deepStrictEqual(new Set(yield* statuses(tenantId)), new Set(["acknowledged"]))
      })
  )

  scenario(
    "is never sent one event by two servers at the same time, and is served by another after a crash",
    ({ endpoint, open, received }) =>
      Effect.gen(function* () {
        const { tenantId } = yield* endpointOf()
        const events = yield* append(tenantId, 30)
        endpoint.answer = () => Effect.as(Effect.sleep("1 second"), 200)
        const servers = yield* Effect.replicateEffect(serving, 3)
        yield* TestClock.adjust("5 seconds")
        for (const server of servers.slice(1)) yield* Fiber.interrupt(server)
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(open.most, 1)
        assert.deepStrictEqual([...new Set(idsOf(received))], events)
        assert.deepStrictEqual(new Set(yield* statuses(tenantId)), new Set(["acknowledged"]))
      })
  )

  scenario("of a suspended tenant receives nothing until the tenant is resumed", ({ received }) =>
    Effect.gen(function* () {
      const { tenantId } = yield* endpointOf()
      const tenants = yield* TenantStore
      yield* tenants.setSuspension(tenantId, { at: yield* Timestamp.now, reason: "abuse" })
      yield* append(tenantId, 1)
      yield* serving
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(received, [])
      yield* tenants.setSuspension(tenantId, null)
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(received, 1)
    })
  )

  scenario("receives events that a session held and did not acknowledge", ({ received }) =>
    Effect.gen(function* () {
      const { tenantId } = yield* endpointOf()
      const [eventId] = yield* append(tenantId, 1)
      const store = yield* EventStore
      yield* store.lease(tenantId, "a socket of a server that dies", 1)
      yield* serving
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(received, [])
      yield* TestClock.adjust("50 seconds")
      assert.deepStrictEqual(idsOf(received), [eventId])
    })
  )

  scenario("is signed with the new secret and, for a day, with the one before", ({ received }) =>
    Effect.gen(function* () {
      const webhooks = yield* EventWebhooks
      const { signingSecret: first, tenantId, webhook } = yield* endpointOf()
      const { signingSecret: second, webhook: changed } = yield* webhooks.set(tenantId, {
        url: URL,
        rotateSecret: true
      })
      assert.strictEqual(changed.webhookId, webhook.webhookId)
      assert.match(Redacted.value(second), /^whsec_[A-Za-z0-9+/]{43}=$/)
      const secretsOfNext = Effect.gen(function* () {
        yield* append(tenantId, 1)
        yield* servesAfter(0)
        return received.at(-1)!.secrets.map((secret) => Redacted.value(secret))
      })
      assert.deepStrictEqual(yield* secretsOfNext, [second, first].map(Redacted.value))
      yield* TestClock.adjust("1 day")
      assert.deepStrictEqual(yield* secretsOfNext, [Redacted.value(second)])
    })
  )

  scenario("keeps its secret, and the end of the one before, when its URL is set again", () =>
    Effect.gen(function* () {
      const webhooks = yield* EventWebhooks
      const { signingSecret: first, tenantId } = yield* endpointOf()
      const rotated = yield* webhooks.set(tenantId, { url: `${URL}?v=2` })
      assert.notStrictEqual(Redacted.value(rotated.signingSecret), Redacted.value(first))
      yield* TestClock.adjust("1 hour")
      const again = yield* webhooks.set(tenantId, { url: `${URL}?v=2`, types: ["email.received"] })
      assert.strictEqual(Redacted.value(again.signingSecret), Redacted.value(rotated.signingSecret))
      assert.deepStrictEqual(again.webhook.previousSecret, rotated.webhook.previousSecret)
    })
  )

  scenario("gets no request without a signature, and is retried and paused if its key stays away", ({ received }) =>
    Effect.gen(function* () {
      const { tenantId } = yield* endpointOf()
      const [eventId = ""] = yield* append(tenantId, 1)
      const servesWithoutKey = Effect.provideService(servesAfter(0), Keyring, testKeyring([2], 2))
      const attempts = Effect.flatMap(EventWebhooks, (webhooks) => webhooks.attempts(tenantId))
      yield* servesWithoutKey
      assert.deepStrictEqual(received, [])
      const [failed] = yield* attempts
      assert.deepInclude(failed, { eventId, attempt: 1, outcome: "failed", responseStatus: null })
      assert.match(failed?.error ?? "", /^Nothing was sent: .* Set the webhook again/)
      assert.isNotNull(failed?.nextAttemptAt)
      yield* TestClock.adjust("4 days")
      yield* servesWithoutKey
      assert.deepStrictEqual(received, [])
      assert.strictEqual((yield* (yield* EventWebhooks).get(tenantId)).state, "paused")
      yield* (yield* EventWebhooks).set(tenantId, { url: URL })
      yield* servesAfter(0)
      assert.strictEqual(received[0]?.id, eventId)
    })
  )

  /** Many tenants whose endpoints accept a request and answer nothing for 15 s, each with an event. */
  const silentEndpoints = (count: number) =>
    Effect.gen(function* () {
      for (let index = 0; index < count; index++) {
        const tenantId = yield* newTenant
        yield* (yield* EventWebhooks).set(tenantId, { url: `https://silent-${index}.example.com/` })
        yield* append(tenantId, 1)
      }
    })
  const silentUnless =
    (honest: string): Answer =>
    ({ url }) =>
      url === honest
        ? Effect.succeed(204)
        : Effect.andThen(Effect.sleep("15 seconds"), Effect.fail(new WebhookUnreachable({ message: "silent" })))

  scenario("receives an event within seconds while hundreds of other endpoints are silent", ({ endpoint, received }) =>
    Effect.gen(function* () {
      endpoint.answer = silentUnless(URL)
      yield* silentEndpoints(280)
      const { tenantId } = yield* endpointOf()
      yield* serving
      yield* TestClock.adjust("1 second")
      const [eventId] = yield* append(tenantId, 1)
      yield* TestClock.adjust("7 seconds")
      assert.isTrue(idsOf(received).some((id) => id === eventId))
      assert.lengthOf(received, 281)
    })
  )

  scenario("that answers has slots of its own while more endpoints are silent than a server has leases", (host) =>
    Effect.gen(function* () {
      const { endpoint, open, received } = host
      endpoint.answer = silentUnless(URL)
      const { tenantId } = yield* endpointOf()
      yield* append(tenantId, 1)
      yield* serving
      yield* TestClock.adjust("1 second")
      assert.lengthOf(received, 1)
      yield* silentEndpoints(700)
      yield* TestClock.adjust("14 seconds")
      assert.isAtLeast(open.most, 600)
      const [eventId] = yield* append(tenantId, 1)
      yield* TestClock.adjust("1 second")
      assert.isTrue(idsOf(received).some((id) => id === eventId))
    })
  )

  scenario("shares the requests to its host with other tenants: 64 at a time", ({ endpoint, open, received }) =>
    Effect.gen(function* () {
      endpoint.answer = () => Effect.as(Effect.sleep("1 second"), 204)
      yield* Effect.replicateEffect(
        Effect.flatMap(endpointOf(), ({ tenantId }) => append(tenantId, 1)),
        100
      )
      yield* serving
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(received, 100)
      assert.strictEqual(open.most, 64)
    })
  )

  scenario("has one request at a time however often it is set, and rests again after one failure", (host) =>
    Effect.gen(function* () {
      const { endpoint, open, received } = host
      endpoint.answer = silentUnless("none")
      const { tenantId } = yield* endpointOf()
      yield* append(tenantId, 9)
      yield* serving
      yield* TestClock.adjust("46 seconds")
      assert.strictEqual(received.length, 3)
      for (let round = 0; round < 5; round++) {
        yield* (yield* EventWebhooks).set(tenantId, { url: `${URL}?round=${round}` })
        yield* TestClock.adjust("3 seconds")
      }
      assert.strictEqual(received.length, 8)
      assert.strictEqual(open.most, 1)
      yield* TestClock.adjust("16 seconds")
      // The fourth failure in a row: a rest of 10 s, and not another request at once.
      assert.strictEqual(received.length, 8)
    })
  )

  scenario("at a private address is refused", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip((yield* EventWebhooks).set(yield* newTenant, { url: "https://private/" }))
      assert.deepStrictEqual(refused.issues, [
        { path: "url", message: "must have a host with a public internet address" }
      ])
    })
  )
})

describe("a redelivery by the operator", () => {
  /** An endpoint that is down for `hours`, with 3 events from before, 3 from the outage and one that failed. */
  const outage = Effect.fnUntraced(function* ({ endpoint, received }: Host, hours: number) {
    const { tenantId, webhook } = yield* endpointOf()
    const accepted = yield* append(tenantId, 2)
    yield* servesAfter(0)
    assert.deepStrictEqual(idsOf(received), accepted)
    endpoint.answer = always(503)
    const old = yield* append(tenantId, 1)
    yield* servesAfter(0)
    yield* TestClock.adjust("1 hour")
    const since = yield* Timestamp.now
    const [failed] = yield* append(tenantId, 1)
    const store = yield* EventStore
    // Its sessions did not acknowledge it.
    for (let lapse = 0; lapse < 3; lapse++) {
      yield* store.lease(tenantId, "session", 9, { except: old })
      yield* store.release(["session"], "unacknowledged")
    }
    const waiting = yield* append(tenantId, 3)
    for (let hour = 0; hour < hours; hour++) yield* servesAfter(Timestamp.HOUR)
    received.length = 0
    return { accepted, failed: failed!, old, since, tenantId, waiting, webhookId: webhook.webhookId }
  })

  scenario(
    "sends what was not accepted since a time, once, in order and under its ids, when the endpoint is up",
    (host) =>
      Effect.gen(function* () {
        const { list, preview, redeliver } = yield* WebhookAdministration
        const { failed, since, tenantId, waiting, webhookId } = yield* outage(host, 60)
        host.endpoint.answer = always(204)
        yield* servesAfter(5 * Timestamp.MINUTE)
        const delayed = idsOf(host.received)
        assert.isFalse(delayed.includes(failed), "it has failed")
        const [before] = (yield* list({ tenant: tenantId })).items
        const expected = {
          webhookId,
          failed: 1,
          waiting: waiting.length - delayed.filter((id) => waiting.includes(id)).length
        }
        assert.isAbove(expected.waiting, 0, "retries wait for hours")
        const counted = yield* preview({ since, webhookId })
        assert.isTrue(counted.isWhole)
        assert.deepInclude(counted.items[0], expected)
        assert.deepStrictEqual((yield* list({ tenant: tenantId })).items, [before!], "a preview changes nothing")
        assert.deepStrictEqual(yield* redeliver({ since, webhookId }), counted)
        host.received.length = 0
        yield* servesAfter(0)
        const rest = [failed, ...waiting.filter((id) => !delayed.includes(id))]
        assert.deepStrictEqual(idsOf(host.received), rest)
        assert.deepStrictEqual(yield* redeliver({ since, webhookId }), {
          isWhole: true,
          items: [{ ...counted.items[0]!, failed: 0, waiting: 0 }]
        })
        yield* servesAfter(0)
        assert.deepStrictEqual(idsOf(host.received), rest, "an accepted event is not sent again")
      })
  )

  scenario("leaves the delay of an older event, and ends the pause of an endpoint", (host) =>
    Effect.gen(function* () {
      const { list, redeliver } = yield* WebhookAdministration
      const { old, since, tenantId, webhookId } = yield* outage(host, 80)
      assert.deepInclude((yield* list({ state: "paused" })).items[0], { webhookId, state: "paused", nextAttempt: null })
      assert.deepStrictEqual((yield* list({ state: "failing" })).items, [])
      const later = yield* append(tenantId, 1)
      yield* servesAfter(0)
      assert.deepStrictEqual(idsOf(host.received), [])
      host.endpoint.answer = ({ id }) => Effect.succeed(old.includes(id) ? 500 : 204)
      assert.deepInclude((yield* redeliver({ since })).items[0], { webhookId, state: "paused" })
      yield* servesAfter(0, 1)
      assert.strictEqual(idsOf(host.received).at(-1), later[0])
      assert.deepInclude((yield* list({ webhookId })).items[0], { state: "failing", waitingRetries: 1 })
      const sent = host.received.length
      yield* redeliver({ since })
      yield* servesAfter(0, 1)
      assert.lengthOf(host.received, sent, "the retry of the older event waits")
      assert.strictEqual((yield* Effect.flip(redeliver({ since, webhookId: tenantId })))._tag, "ResourceNotFound")
    })
  )

  scenario("is bounded, says when there is more, and leaves its record in the audit", (host) =>
    Effect.gen(function* () {
      const { redeliver } = yield* WebhookAdministration
      const { since, tenantId, webhookId } = yield* outage(host, 1)
      const limited = yield* redeliver({ since, limit: 2 })
      assert.isFalse(limited.isWhole)
      assert.deepInclude(limited.items[0], { waiting: 2, failed: 0 })
      const mutation = { actor: "ada", action: "webhooks.redeliver", target: null, reason: "It is up" }
      const { items } = yield* audited(mutation, redeliver({ since, webhookId }))
      assert.deepInclude(items[0], { waiting: 3, failed: 1 })
      const [record] = (yield* listAudit({ actor: "ada" })).items
      assert.deepInclude(record, { outcome: "succeeded", reason: "It is up" })
      assert.deepStrictEqual(record?.after, { since: Timestamp.toIso(since), isWhole: true, items })
      assert.isAbove((yield* append(tenantId, 1)).length, 0)
    })
  )
})

describe("the schedule of retries", () => {
  const Outcomes = Schema.Array(Schema.Struct({ event: Schema.Literals(["a", "b", "c"]), ok: Schema.Boolean }))
  it.prop("never retries an event before its time, nor for longer than three days", [Outcomes], ([outcomes]) => {
    let progress = WebhookSchedule.NO_PROGRESS
    let now = Timestamp.Timestamp.make(1_000)
    for (const { event, ok } of outcomes) {
      const known = progress.retries.find(({ eventId }) => eventId === event)
      if (known !== undefined && known.nextAttemptAt > now) now = known.nextAttemptAt
      const attempt = WebhookSchedule.attemptOf(progress, event)
      assert.strictEqual(attempt, (known?.attempts ?? 0) + 1)
      if (ok) {
        progress = WebhookSchedule.succeeded(progress, event)
        assert.isFalse(progress.retries.some(({ eventId }) => eventId === event))
        assert.strictEqual(WebhookSchedule.restOf(progress), 0)
        continue
      }
      const after = WebhookSchedule.failed(progress, event, now, now)
      if (after === "exhausted") {
        assert.isAtLeast(now - known!.firstAttemptAt, WebhookSchedule.RETRY_FOR)
        return
      }
      progress = after.progress
      assert.isAbove(after.nextAttemptAt, now)
      assert.isAtMost(after.nextAttemptAt - (known?.firstAttemptAt ?? now), WebhookSchedule.RETRY_FOR)
      assert.strictEqual(progress.retries.filter(({ eventId }) => eventId === event).length, 1)
    }
  })
})
