import {
  Credentials,
  DEFAULT_EVENT_POLICY,
  EventPolicy,
  EventStore,
  RealtimeSession,
  Timestamp,
  Uuid
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as RealtimeGateway from "../../src/realtime/RealtimeGateway.ts"
import { append, host, newTenant, numbered, open, port, type Ports } from "./GatewayHost.ts"
import { connect } from "./RealtimeClient.ts"

const { MAX_IN_FLIGHT } = RealtimeSession

/** Runs a test against its own gateway and its dependencies. */
const scenario = (
  name: string,
  test: Effect.Effect<void, unknown, Ports | Scope.Scope>,
  policy: Partial<EventPolicy> = {}
) =>
  it.effect(name, () =>
    Effect.gen(function* () {
      yield* Layer.build(RealtimeGateway.layer)
      yield* test
    }).pipe(
      Effect.scoped,
      Effect.provide(host),
      Effect.provideService(EventPolicy, { ...DEFAULT_EVENT_POLICY, ...policy })
    )
  )

describe("RealtimeGateway", () => {
  scenario(
    "replays in order, reports the end of the replay, and acknowledges",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const events = yield* append(tenant, numbered(3))
      const client = yield* open(tenant)
      assert.deepStrictEqual(
        { ...client.ready, sessionId: "" },
        { type: "session.ready", sessionId: "", leaseSeconds: 30, maxInFlight: MAX_IN_FLIGHT, pending: 3 }
      )
      for (const { eventId } of events) {
        const { event } = yield* client.expect("event.delivery")
        assert.strictEqual(event.eventId, eventId)
        assert.strictEqual(event.status, "delivered")
        assert.deepInclude(event.payload, { type: "email.received", eventId })
      }
      assert.strictEqual((yield* client.expect("session.replay.complete")).delivered, 3)
      client.send({ type: "event.ack", eventId: events[0]!.eventId })
      assert.strictEqual((yield* client.expect("event.acknowledged")).eventId, events[0]!.eventId)
      const [late] = yield* append(tenant, ["late"])
      assert.strictEqual((yield* client.expect("event.delivery")).event.eventId, late!.eventId)
    })
  )

  scenario(
    "shows a tenant no event of another's, and refuses to acknowledge it",
    Effect.gen(function* () {
      const [ada, bob] = [yield* newTenant, yield* newTenant]
      const [secret] = yield* append(ada, ["ada's"])
      const client = yield* open(bob)
      yield* client.expect("session.replay.complete")
      client.send({ type: "event.ack", eventId: secret!.eventId })
      assert.strictEqual((yield* client.expect("error")).code, "RESOURCE_NOT_FOUND")
      const [own] = yield* append(bob, ["bob's"])
      assert.strictEqual((yield* client.expect("event.delivery")).event.eventId, own!.eventId)
      const kept = yield* (yield* EventStore).find(ada.tenantId, secret!.eventId)
      assert.strictEqual(kept._tag === "Owned" && kept.value.status, "pending")
    })
  )

  scenario(
    "serves at most 100 sockets of one tenant",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [first] = yield* Effect.forEach(Array.from({ length: 100 }), () => open(tenant))
      const refused = yield* connect(yield* port)
      refused.send({ type: "session.authenticate", token: `${tenant.tenantId} ${tenant.tokenVersion}` })
      assert.strictEqual((yield* refused.expect("error")).code, "RATE_LIMITED")
      assert.strictEqual(yield* refused.closed, 1013)
      yield* open(yield* newTenant)
      first!.socket.close()
      yield* first!.closed
      yield* open(tenant)
    })
  )

  scenario(
    "leases no more than its window, and more after acknowledgements",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, numbered(MAX_IN_FLIGHT + 2))
      const client = yield* open(tenant)
      const ids: Array<string> = []
      for (let i = 0; i < MAX_IN_FLIGHT; i++) ids.push((yield* client.expect("event.delivery")).event.eventId)
      assert.lengthOf(yield* (yield* EventStore).replayable(tenant.tenantId, 10), 2)
      client.send({ type: "event.ack", eventId: ids[0]! })
      yield* client.expect("event.acknowledged")
      yield* client.expect("event.delivery")
      client.send({ type: "event.ack", eventId: ids[1]! })
      yield* client.expect("event.acknowledged")
      yield* client.expect("event.delivery")
      assert.strictEqual((yield* client.expect("session.replay.complete")).delivered, MAX_IN_FLIGHT + 2)
    })
  )

  scenario(
    "reports the end of a replay that fills the window exactly",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, numbered(MAX_IN_FLIGHT))
      const client = yield* open(tenant)
      for (let i = 0; i < MAX_IN_FLIGHT; i++) yield* client.expect("event.delivery")
      assert.strictEqual((yield* client.expect("session.replay.complete")).delivered, MAX_IN_FLIGHT)
    })
  )

  scenario(
    "makes room for events that were acknowledged by REST",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const events = yield* append(tenant, numbered(MAX_IN_FLIGHT + 1))
      const client = yield* open(tenant)
      for (let i = 0; i < MAX_IN_FLIGHT; i++) yield* client.expect("event.delivery")
      yield* (yield* EventStore).acknowledge(tenant.tenantId, [{ eventId: events[0]!.eventId }])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* client.expect("event.delivery")).event.eventId, events.at(-1)!.eventId)
    })
  )

  scenario(
    "passes the leases of a closed socket to the next one at once",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const events = yield* append(tenant, numbered(2))
      const [first, second] = [yield* open(tenant), yield* open(tenant)]
      yield* first.expect("event.delivery")
      yield* first.expect("event.delivery")
      assert.strictEqual((yield* second.expect("session.replay.complete")).delivered, 0)
      first.socket.close()
      assert.strictEqual((yield* second.expect("event.delivery")).event.eventId, events[0]!.eventId)
      assert.strictEqual((yield* second.expect("event.delivery")).event.eventId, events[1]!.eventId)
    })
  )

  scenario(
    "keeps leases while the socket answers pings, and terminates one that does not",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, ["kept"])
      const client = yield* open(tenant)
      yield* client.expect("event.delivery")
      const store = yield* EventStore
      // A response to any message proves that the previous pong has arrived.
      const answered = Effect.gen(function* () {
        client.send({ type: "event.ack", eventId: yield* Uuid.next })
        yield* client.expect("error")
      })
      yield* client.expect("session.replay.complete")
      for (let second = 5; second <= 60; second += 5) {
        yield* TestClock.adjust("5 seconds")
        yield* answered
        assert.strictEqual(yield* store.countReplayable(tenant.tenantId, 1), 0, `after ${second} s`)
      }
      client.socket.pause()
      yield* TestClock.adjust("41 seconds")
      client.socket.resume()
      assert.strictEqual(yield* client.closed, 1006)
    })
  )

  scenario(
    "answers an acknowledgement of a delivery that the session does not hold as stale",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, ["once"])
      const client = yield* open(tenant)
      const { deliveryId, event } = yield* client.expect("event.delivery")
      client.send({ type: "event.ack", eventId: event.eventId, deliveryId: yield* Uuid.next })
      yield* client.expect("session.replay.complete")
      assert.deepInclude(yield* client.expect("event.ack_stale"), { eventId: event.eventId, reason: "lease_lost" })
      client.send({ type: "event.ack", eventId: event.eventId, deliveryId })
      yield* client.expect("event.acknowledged")
    })
  )

  scenario(
    "answers an acknowledgement of an expired event with the reason, with and without its delivery",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      yield* append(tenant, ["old"])
      const client = yield* open(tenant)
      const { deliveryId, event } = yield* client.expect("event.delivery")
      yield* client.expect("session.replay.complete")
      yield* TestClock.adjust("20 seconds")
      for (const acknowledgement of [{ deliveryId }, {}]) {
        client.send({ type: "event.ack", eventId: event.eventId, ...acknowledgement })
        assert.deepInclude(yield* client.expect("event.ack_stale"), { eventId: event.eventId, reason: "expired" })
      }
    }),
    { retention: 20 * Timestamp.SECOND }
  )

  scenario(
    "delivers an event that crashes its client 50 times, then never again, and goes on with the next",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [poison] = yield* append(tenant, ["poison"])
      yield* TestClock.adjust("20 seconds")
      for (let delivery = 1; delivery <= DEFAULT_EVENT_POLICY.maxLapses; delivery++) {
        const client = yield* open(tenant)
        assert.strictEqual((yield* client.expect("event.delivery")).event.deliveryCount, delivery)
        client.socket.terminate()
        yield* client.closed
      }
      const client = yield* open(tenant)
      assert.strictEqual((yield* client.expect("session.replay.complete")).delivered, 0)
      const store = yield* EventStore
      const [failed] = yield* store.list(tenant.tenantId, { statuses: ["failed"] }, undefined, 2)
      assert.deepInclude(failed, { eventId: poison!.eventId, deliveryCount: DEFAULT_EVENT_POLICY.maxLapses })
      const [next] = yield* append(tenant, ["next"])
      assert.strictEqual((yield* client.expect("event.delivery")).event.eventId, next!.eventId)
      client.send({ type: "event.ack", eventId: poison!.eventId })
      yield* client.expect("event.acknowledged")
    }),
    { minFailAge: 20 * Timestamp.SECOND }
  )

  it.effect("counts no delivery that ended because the server stopped", () =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [event] = yield* append(tenant, ["kept"])
      yield* Effect.gen(function* () {
        yield* Layer.build(RealtimeGateway.layer)
        const client = yield* open(tenant)
        assert.strictEqual((yield* client.expect("event.delivery")).event.eventId, event!.eventId)
      }).pipe(Effect.scoped)
      const [again] = yield* (yield* EventStore).lease(tenant.tenantId, "another session", 1)
      assert.strictEqual(again?.event.eventId, event!.eventId)
    }).pipe(
      Effect.scoped,
      Effect.provide(host),
      Effect.provideService(EventPolicy, { ...DEFAULT_EVENT_POLICY, maxLapses: 1, minFailAge: 0 })
    )
  )

  scenario(
    "closes a socket that does not authenticate in time with 4401",
    Effect.gen(function* () {
      const client = yield* connect(yield* port)
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(client.socket.readyState, client.socket.OPEN)
      yield* TestClock.adjust("251 millis")
      assert.strictEqual(yield* client.closed, 4401)
    })
  )

  scenario(
    "answers the messages that arrive right behind a valid token, once the session is open",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const [event] = yield* append(tenant, ["one"])
      const client = yield* connect(yield* port)
      const acknowledgement = { type: "event.ack", eventId: event!.eventId } as const
      // More than fit before authentication, in one packet: those beyond wait until the session is open.
      client.sendTogether([
        { type: "session.authenticate", token: `${tenant.tenantId} ${tenant.tokenVersion}` },
        ...Array.from({ length: 100 }, () => acknowledgement)
      ])
      yield* client.expect("session.ready")
      const answers: Array<string> = []
      while (answers.length < 100) {
        const { type } = yield* client.next
        if (type === "event.acknowledged") answers.push(type)
      }
      assert.strictEqual(client.socket.readyState, client.socket.OPEN)
    })
  )

  scenario(
    "closes a second session.authenticate with 4400, also right behind a valid one",
    Effect.gen(function* () {
      const { tenantId, tokenVersion } = yield* newTenant
      const client = yield* connect(yield* port)
      client.send({ type: "session.authenticate", token: `${tenantId} ${tokenVersion}` })
      client.send({ type: "session.authenticate", token: `${tenantId} ${tokenVersion}` })
      yield* client.expect("session.ready")
      assert.strictEqual(yield* client.closed, 4400)
    })
  )

  scenario(
    "closes a wrong token, an early acknowledgement and a revoked tenant with 4401",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const wrong = yield* connect(yield* port)
      wrong.send({ type: "session.authenticate", token: "nonsense" })
      assert.strictEqual((yield* wrong.expect("error")).code, "INVALID_TOKEN")
      assert.strictEqual(yield* wrong.closed, 4401)

      const early = yield* connect(yield* port)
      early.send({ type: "event.ack", eventId: yield* Uuid.next })
      assert.strictEqual(yield* early.closed, 4401)

      const revoked = yield* open(tenant)
      yield* revoked.expect("session.replay.complete")
      yield* (yield* Credentials).revoke(tenant.tenantId)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual((yield* revoked.expect("error")).code, "AUTH_REQUIRED")
      assert.strictEqual(yield* revoked.closed, 4401)

      const again = yield* connect(yield* port)
      again.send({ type: "session.authenticate", token: `${tenant.tenantId} 1` })
      assert.strictEqual((yield* again.expect("error")).code, "AUTH_REQUIRED")
      assert.strictEqual(yield* again.closed, 4401)
    })
  )

  scenario(
    "closes a socket that sends an invalid message with 4400, and names the problem",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const noMessage =
        "A message must be a JSON object in a text frame, with type session.authenticate, event.ack, or call.reply."
      const bad = [
        ["nonsense", noMessage],
        ["{}", noMessage],
        ["[]", noMessage],
        [Buffer.from([1, 2]), noMessage],
        ['{"type":"event.ack"}', "eventId is missing."],
        ['{"type":"event.ack","eventId":"1","more":1}', "more is unknown."],
        ['{"type":"session.authenticate","token":"1","mode":"x"}', "mode must be one of deliver, observe, voice."]
      ] as const
      for (const [text, problem] of bad) {
        const client = yield* open(tenant)
        yield* client.expect("session.replay.complete")
        client.socket.send(text)
        const { code, message } = yield* client.expect("error")
        assert.deepStrictEqual([code, message], ["INVALID_REQUEST", problem])
        assert.strictEqual(yield* client.closed, 4400, String(text))
      }
      const twice = yield* open(tenant)
      twice.send({ type: "session.authenticate", token: `${tenant.tenantId} 1` })
      assert.strictEqual(yield* twice.closed, 4400)
    })
  )

  scenario(
    "shows an observer all events and refuses its acknowledgements",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const events = yield* append(tenant, numbered(3))
      yield* (yield* EventStore).acknowledge(tenant.tenantId, [{ eventId: events[1]!.eventId }])
      const worker = yield* open(tenant)
      yield* worker.expect("event.delivery")
      const observer = yield* open(tenant, "observe")
      assert.strictEqual((yield* observer.expect("event.observed")).event.eventId, events[0]!.eventId)
      assert.strictEqual((yield* observer.expect("event.observed")).event.eventId, events[2]!.eventId)
      assert.strictEqual((yield* observer.expect("session.replay.complete")).delivered, 2)
      observer.send({ type: "event.ack", eventId: events[0]!.eventId })
      assert.strictEqual((yield* observer.expect("error")).code, "FORBIDDEN")
      const [late] = yield* append(tenant, ["late"])
      assert.strictEqual((yield* observer.expect("event.observed")).event.eventId, late!.eventId)
      yield* worker.expect("event.delivery")
      yield* worker.expect("session.replay.complete")
      assert.strictEqual((yield* worker.expect("event.delivery")).event.eventId, late!.eventId)
    })
  )

  scenario(
    "closes a socket that does not read with 4408, and keeps the events that it did not receive",
    Effect.gen(function* () {
      const tenant = yield* newTenant
      const observer = yield* open(tenant, "observe")
      yield* observer.expect("session.replay.complete")
      observer.socket.pause()
      // Far more than the network buffers between the two hold.
      const large = "x".repeat(256 * 1024)
      const events = yield* append(
        tenant,
        numbered(100).map((name) => name + large)
      )
      yield* Effect.yieldNow
      observer.socket.resume()
      assert.strictEqual(yield* observer.closed, 4408)
      assert.lengthOf(yield* (yield* EventStore).replayable(tenant.tenantId, 200), events.length)
    })
  )

  it.effect("releases every lease and closes with 1012 when it stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(RealtimeGateway.layer, scope)
      const [tenant, other] = [yield* newTenant, yield* newTenant]
      yield* append(tenant, ["left"])
      yield* append(other, ["left with one who does not listen"])
      const [client, deaf] = [yield* open(tenant), yield* open(other)]
      yield* client.expect("event.delivery")
      yield* deaf.expect("event.delivery")
      deaf.socket.pause()
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      assert.strictEqual(yield* client.closed, 1012)
      const store = yield* EventStore
      assert.strictEqual((yield* store.countReplayableEach([tenant.tenantId, other.tenantId], 10)).size, 2)
      yield* TestClock.adjust("1 second")
      yield* Effect.yieldNow
      stopping.interruptUnsafe()
    }).pipe(Effect.scoped, Effect.provide(host))
  )
})
