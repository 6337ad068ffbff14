import {
  type DurableEvent,
  type EventFilter,
  EventStore,
  type EventSignal,
  type Position,
  Timestamp
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Schema } from "effect"
import { type ContractTests, propertyOptions } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { readPages } from "../Paging.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const positionOf = (event: DurableEvent) => ({ createdAt: event.createdAt, id: event.eventId })

/** An inbox with events of several types, services, resources, agents and times. */
const mixedInbox = Effect.gen(function* () {
  const store = yield* EventStore
  const clock = yield* StoreClock
  const { tenantId } = yield* Fresh.tenant
  const agent = yield* Fresh.id
  const number = yield* Fresh.id
  const kinds = [
    { type: "email.received", service: "email", agentId: agent },
    { type: "phone.call.ended", service: "phone", resourceId: number },
    { type: "payment.completed", service: "payment", agentId: agent },
    { type: "phone.number.expiring", service: "phone", agentId: agent, resourceId: number }
  ] as const
  for (const kind of kinds) {
    yield* Sample.append(tenantId, 2, kind)
    yield* clock.advance(1_000)
  }
  const events = yield* Sample.all(tenantId)
  yield* store.acknowledge(tenantId, [{ eventId: events[1]!.eventId }, { eventId: events[6]!.eventId }])
  yield* store.lease(tenantId, yield* Fresh.id, 2)
  return { tenantId, agent, number, events: yield* Sample.all(tenantId) }
})

/** Tests of `find`, `list`, `replayable` and `countReplayable`. */
export const eventReadTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("find", () => {
    it.effect("distinguishes the tenant's own event, another tenant's and a missing one", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const other = yield* Fresh.tenant
        const event = yield* Sample.appendOne(tenantId)
        assert.deepStrictEqual(yield* store.find(tenantId, event.eventId), { _tag: "Owned", value: event })
        assert.deepStrictEqual(yield* store.find(other.tenantId, event.eventId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(tenantId, yield* Fresh.id), { _tag: "Missing" })
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id, event.eventId), { _tag: "Foreign" })
      })
    )
  })

  describe("list", () => {
    it.effect("returns the events that match every given part of the filter", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, agent, number, events } = yield* mixedInbox
        const [first, , third, , fifth] = events
        const cases: ReadonlyArray<readonly [EventFilter, (event: DurableEvent) => boolean]> = [
          [{}, () => true],
          [{ statuses: undefined, types: undefined, agentId: undefined, service: undefined }, () => true],
          [{ resourceId: undefined, from: undefined, to: undefined }, () => true],
          [{ statuses: ["pending"] }, (event) => event.status === "pending"],
          [{ statuses: ["delivered"] }, (event) => event.status === "delivered"],
          [{ statuses: ["acknowledged"] }, (event) => event.status === "acknowledged"],
          [{ statuses: ["failed"] }, () => false],
          [{ statuses: [] }, () => false],
          [{ statuses: ["pending", "failed", "acknowledged"] }, (event) => event.status !== "delivered"],
          [{ types: ["email.received"] }, (event) => event.type === "email.received"],
          [
            { types: ["email.received", "payment.completed", "of.no.event"] },
            (event) => /^(email|pay)/.test(event.type)
          ],
          [{ types: [] }, () => false],
          [{ types: ["email%", "email._eceived"] }, () => false],
          [{ agentId: agent }, (event) => event.agentId === agent],
          [{ service: "phone" }, (event) => event.service === "phone"],
          [{ service: "Phone" }, () => false],
          [{ resourceId: number }, (event) => event.resourceId === number],
          [{ from: third!.createdAt }, (event) => event.createdAt >= third!.createdAt],
          [{ to: third!.createdAt }, (event) => event.createdAt < third!.createdAt],
          [{ from: third!.createdAt, to: third!.createdAt }, () => false],
          [
            { from: third!.createdAt, to: Timestamp.add(fifth!.createdAt, 1) },
            (event) => event.createdAt >= third!.createdAt && event.createdAt <= fifth!.createdAt
          ],
          [
            { statuses: ["pending"], service: "phone", agentId: agent, types: ["phone.number.expiring"] },
            (event) => event.status === "pending" && event.type === "phone.number.expiring" && event.agentId === agent
          ],
          [{ statuses: ["acknowledged"], service: "phone", resourceId: first!.resourceId }, () => false]
        ]
        for (const [filter, matches] of cases) {
          const listed = yield* store.list(tenantId, filter, undefined, 100)
          assert.deepStrictEqual(listed, events.filter(matches), JSON.stringify(filter))
        }
      })
    )

    it.effect("returns at most `limit` events, oldest first, strictly after the position", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const events = yield* Sample.append(tenantId, 5)
        const after = (event: DurableEvent) => store.list(tenantId, {}, positionOf(event), 10)
        assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 2), events.slice(0, 2))
        assert.deepStrictEqual(yield* store.list(tenantId, {}, undefined, 0), [])
        assert.deepStrictEqual(yield* after(events[1]!), events.slice(2))
        assert.deepStrictEqual(yield* after(events[4]!), [])
        const between = { createdAt: events[0]!.createdAt - 1, id: events[4]!.eventId }
        assert.deepStrictEqual(yield* store.list(tenantId, {}, between, 10), events, "a position needs no event at it")
        const later = { createdAt: events[4]!.createdAt + 1, id: events[0]!.eventId }
        assert.deepStrictEqual(yield* store.list(tenantId, {}, later, 10), [])
      })
    )

    it.effect.prop(
      "returns every match once and in order when read page by page",
      {
        batches: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))).check(
          Schema.isMaxLength(6)
        ),
        limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 })),
        filtered: Schema.Boolean
      },
      ({ batches, limit, filtered }) =>
        Effect.gen(function* () {
          const store = yield* EventStore
          const clock = yield* StoreClock
          const { tenantId } = yield* Fresh.tenant
          for (const size of batches) {
            yield* Sample.append(tenantId, size, { service: size % 2 === 0 ? "email" : "phone" })
            yield* clock.advance(size - 1)
          }
          const filter: EventFilter = filtered ? { service: "phone" } : {}
          const all = yield* Sample.all(tenantId)
          const load = (after: Position | undefined, size: number) => store.list(tenantId, filter, after, size)
          const pages = yield* readPages({ load, positionOf, limit, most: all.length })
          assert.deepStrictEqual(
            pages,
            all.filter((event) => !filtered || event.service === "phone")
          )
        }),
      propertyOptions(capabilities)
    )
  })

  describe("latest", () => {
    it.effect("returns the position of the newest event, and nothing for an empty inbox", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const other = yield* Fresh.tenant
        assert.isUndefined(yield* store.latest(tenantId))
        assert.isUndefined(yield* store.latest(yield* Fresh.id))
        const events = yield* Sample.append(tenantId, 3)
        assert.deepStrictEqual(yield* store.latest(tenantId), positionOf(events[2]!))
        yield* store.acknowledge(tenantId, [{ eventId: events[2]!.eventId }])
        assert.deepStrictEqual(yield* store.latest(tenantId), positionOf(events[2]!), "whatever its status")
        const next = yield* Sample.appendOne(tenantId)
        assert.deepStrictEqual(yield* store.latest(tenantId), positionOf(next))
        assert.isUndefined(yield* store.latest(other.tenantId))
      })
    )
  })

  describe("reading as a tenant", () => {
    it.effect("returns nothing of another tenant", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const one = yield* Fresh.tenant
        const two = yield* Fresh.tenant
        const events = yield* Sample.append(one.tenantId, 2)
        assert.deepStrictEqual(yield* store.list(two.tenantId, {}, undefined, 10), [])
        const shared = { resourceId: events[0]!.resourceId }
        assert.deepStrictEqual(yield* store.list(two.tenantId, shared, undefined, 10), [])
        assert.deepStrictEqual(yield* store.replayable(two.tenantId, 10), [])
        assert.strictEqual(yield* store.countReplayable(two.tenantId, 10), 0)
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id, {}, undefined, 10), [], "nor an unknown one")
      })
    )
  })

  describe("replayable and countReplayable", () => {
    it.effect("return pending and delivered events without a live lease, oldest first, and lease nothing", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const session = yield* Fresh.id
        const events = yield* Sample.append(tenantId, 5)
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), events)
        assert.strictEqual(yield* store.countReplayable(tenantId, 10), 5)

        const [leased] = yield* store.lease(tenantId, session, 1)
        yield* store.acknowledge(tenantId, [{ eventId: events[2]!.eventId }])
        const waiting = [events[1]!, events[3]!, events[4]!]
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), waiting)
        assert.strictEqual(yield* store.countReplayable(tenantId, 10), 3)

        yield* clock.advance(TEST_EVENT_POLICY.leaseDuration)
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), [leased!.event, ...waiting])
        assert.strictEqual(yield* store.countReplayable(tenantId, 10), 4)
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), [leased!.event, ...waiting], "nothing was taken")
        const deliveries = yield* store.lease(tenantId, yield* Fresh.id, 10)
        assert.deepStrictEqual(
          deliveries.map((delivery) => delivery.event.eventId),
          Sample.ids([leased!.event, ...waiting])
        )
      })
    )

    it.effect("return and count no more than `limit`", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const events = yield* Sample.append(tenantId, 4)
        for (const limit of Array.range(0, 6)) {
          assert.deepStrictEqual(yield* store.replayable(tenantId, limit), events.slice(0, limit))
          assert.strictEqual(yield* store.countReplayable(tenantId, limit), Math.min(limit, 4))
        }
      })
    )

    it.effect("return the events after a position, and count all of them", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { events, tenantId } = yield* Sample.inbox(5)
        const after = { createdAt: events[1]!.createdAt, id: events[1]!.eventId }
        assert.deepStrictEqual(yield* store.replayable(tenantId, 2, after), events.slice(2, 4))
        yield* store.acknowledge(tenantId, [{ eventId: events[1]!.eventId }, { eventId: events[2]!.eventId }])
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9, after), events.slice(3))
        assert.strictEqual(yield* store.countReplayable(tenantId, 9), 3)
      })
    )

    it.effect("return the events that a session released", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const session = yield* Fresh.id
        yield* Sample.append(tenantId, 2)
        const deliveries = yield* store.lease(tenantId, session, 2)
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), [])
        yield* store.release([session], "withdrawn")
        assert.deepStrictEqual(
          yield* store.replayable(tenantId, 10),
          deliveries.map((delivery) => delivery.event)
        )
      })
    )
  })

  describe("an event after its expiresAt", () => {
    it.effect("reads as expired everywhere, and is neither replayed nor leased", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const [pending] = yield* Sample.append(tenantId, 2)
        const [delivered] = yield* store.lease(tenantId, yield* Fresh.id, 1)
        assert.strictEqual(delivered!.event.eventId, pending!.eventId)
        yield* clock.advance(TEST_EVENT_POLICY.retention - Timestamp.MINUTE)
        const [young] = yield* Sample.append(tenantId, 1)
        assert.deepStrictEqual((yield* store.list(tenantId, { statuses: ["expired"] }, undefined, 10)).length, 0)

        yield* clock.advance(Timestamp.MINUTE)
        const old = (yield* Sample.all(tenantId)).slice(0, 2)
        assert.deepStrictEqual(
          old.map((event) => event.status),
          ["expired", "expired"]
        )
        assert.deepStrictEqual(yield* store.list(tenantId, { statuses: ["expired"] }, undefined, 10), old)
        assert.deepStrictEqual(yield* store.list(tenantId, { statuses: ["pending"] }, undefined, 10), [young!])
        assert.deepStrictEqual(yield* store.list(tenantId, { statuses: ["delivered"] }, undefined, 10), [])
        assert.deepStrictEqual(yield* Effect.forEach(old, (event) => Sample.found(event)), old)
        assert.deepStrictEqual(yield* store.replayable(tenantId, 10), [young!])
        assert.strictEqual(yield* store.countReplayable(tenantId, 10), 1)
        const leased = yield* store.lease(tenantId, yield* Fresh.id, 10)
        assert.deepStrictEqual(
          leased.map((delivery) => delivery.event.eventId),
          [young!.eventId]
        )
      })
    )

    it.effect("stays acknowledged if it was acknowledged before", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const event = yield* Sample.appendOne(tenantId)
        yield* store.acknowledge(tenantId, [{ eventId: event.eventId }])
        yield* clock.advance(TEST_EVENT_POLICY.retention)
        assert.strictEqual((yield* Sample.found(event)).status, "acknowledged")
        assert.deepStrictEqual(Sample.ids(yield* store.list(tenantId, { statuses: ["acknowledged"] }, undefined, 10)), [
          event.eventId
        ])
        assert.deepStrictEqual(yield* store.list(tenantId, { statuses: ["expired"] }, undefined, 10), [])
      })
    )
  })
}
