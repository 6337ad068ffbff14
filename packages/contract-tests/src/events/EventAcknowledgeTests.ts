import { EventStore, type EventSignal, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, maxLapses, minFailAge, retention } = TEST_EVENT_POLICY

/** A tenant with `count` events and a session that holds a lease on each. */
const delivered = Effect.fnUntraced(function* (count: number) {
  const store = yield* EventStore
  const { tenantId } = yield* Fresh.tenant
  yield* Sample.append(tenantId, count)
  const session = yield* Fresh.id
  const deliveries = yield* store.lease(tenantId, session, count)
  const acknowledgements = deliveries.map(({ deliveryId, event }) => ({ deliveryId, eventId: event.eventId }))
  return { tenantId, session, deliveries, acknowledgements }
})

/** A tenant with one event that has failed. */
const failed = Effect.gen(function* () {
  const store = yield* EventStore
  const clock = yield* StoreClock
  const { tenantId } = yield* Fresh.tenant
  const event = yield* Sample.appendOne(tenantId)
  yield* clock.advance(minFailAge)
  for (const _ of Array.range(0, maxLapses)) {
    yield* store.lease(tenantId, yield* Fresh.id, 1)
    yield* clock.advance(leaseDuration)
  }
  assert.strictEqual((yield* Sample.found(event)).status, "failed")
  return event
})

/** What is promised of `acknowledge` and `acknowledgeAll`. */
export const eventAcknowledgeTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("acknowledge", () => {
    it.effect("ends an event, pending or delivered, and says when", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, deliveries } = yield* delivered(1)
        const pending = yield* Sample.appendOne(tenantId)
        yield* clock.advance(1_000)
        const before = yield* clock.now
        const acknowledgements = [{ eventId: deliveries[0]!.event.eventId }, { eventId: pending.eventId }]
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["acknowledged", "acknowledged"])
        const after = yield* clock.now
        for (const event of [deliveries[0]!.event, pending]) {
          const { acknowledgedAt, ...rest } = yield* Sample.found(event)
          const { acknowledgedAt: _, ...expected } = event
          assert.deepStrictEqual(rest, { ...expected, status: "acknowledged" })
          assert.isTrue(acknowledgedAt !== null && before <= acknowledgedAt && acknowledgedAt <= after)
        }
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
      })
    )

    it.effect("answers each in the order given: its own, another tenant's and nobody's", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, acknowledgements } = yield* delivered(2)
        const other = yield* delivered(1)
        const unknown = { eventId: yield* Fresh.id }
        const [one, two] = acknowledgements
        const [foreign] = other.acknowledgements
        const outcomes = yield* store.acknowledge(tenantId, [
          { eventId: two!.eventId },
          unknown,
          { ...one!, deliveryId: yield* Fresh.id },
          { eventId: foreign!.eventId },
          foreign!,
          { ...unknown, deliveryId: yield* Fresh.id },
          one!
        ])
        const expected = ["acknowledged", "missing", "stale", "missing", "missing", "missing", "acknowledged"]
        assert.deepStrictEqual<ReadonlyArray<string>>(outcomes, expected)
        assert.deepStrictEqual(yield* Sample.found(other.deliveries[0]!.event), other.deliveries[0]!.event)
      })
    )

    it.effect("answers nothing to nothing", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, []), [])
      })
    )

    it.effect("again is as good as once, in one call and in another, with the deliveryId and without", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, session, deliveries, acknowledgements } = yield* delivered(1)
        const [named] = acknowledgements
        const plain = { eventId: named!.eventId }
        const twice = yield* store.acknowledge(tenantId, [named!, named!, plain])
        assert.deepStrictEqual(twice, ["acknowledged", "acknowledged", "acknowledged"])
        const once = yield* Sample.found(deliveries[0]!.event)
        yield* clock.advance(leaseDuration + 1)
        yield* store.release([session])
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [named!, plain]), ["acknowledged", "acknowledged"])
        assert.deepStrictEqual(yield* Sample.found(once), once, "acknowledgedAt stays the first moment")
      })
    )

    it.effect("counts without a deliveryId whoever holds the lease", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, acknowledgements } = yield* delivered(2)
        const [one, two] = acknowledgements
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [{ eventId: one!.eventId }]), ["acknowledged"])
        yield* clock.advance(leaseDuration)
        const undefinedId = { eventId: two!.eventId, deliveryId: undefined }
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [undefinedId]), ["acknowledged"])
      })
    )

    it.effect("ends the lease: the deliveries of other events stay", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, session, acknowledgements } = yield* delivered(3)
        yield* store.acknowledge(tenantId, acknowledgements.slice(0, 1))
        yield* store.renew([session])
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
        yield* store.release([session])
        const left = Sample.ids(yield* store.replayable(tenantId, 9))
        assert.deepStrictEqual(
          left,
          acknowledgements.slice(1).map((each) => each.eventId)
        )
      })
    )

    it.effect("counts from failed", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const event = yield* failed
        const named = { eventId: event.eventId, deliveryId: yield* Fresh.id }
        assert.deepStrictEqual(yield* store.acknowledge(event.tenantId, [named]), ["stale"])
        assert.deepStrictEqual(yield* store.acknowledge(event.tenantId, [{ eventId: event.eventId }]), ["acknowledged"])
        assert.strictEqual((yield* Sample.found(event)).status, "acknowledged")
      })
    )

    it.effect("changes nothing of an expired event, and calls it stale", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const event = yield* Sample.appendOne(tenantId)
        yield* clock.advance(retention)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [{ eventId: event.eventId }]), ["stale"])
        assert.deepInclude(yield* Sample.found(event), { status: "expired", acknowledgedAt: null })
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, deliveries, acknowledgements } = yield* delivered(1)
        yield* rolledBack(store.acknowledge(tenantId, acknowledgements))
        assert.deepStrictEqual(yield* Sample.found(deliveries[0]!.event), deliveries[0]!.event)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["acknowledged"])
      })
    )
  })

  describe("acknowledge with a deliveryId", () => {
    it.effect("counts until the lease lapses, and not after", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, deliveries, acknowledgements } = yield* delivered(2)
        yield* clock.advance(leaseDuration - 10_000)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements.slice(0, 1)), ["acknowledged"])
        yield* clock.advance(10_000)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements.slice(1)), ["stale"])
        assert.deepStrictEqual(yield* Sample.found(deliveries[1]!.event), deliveries[1]!.event)
      })
    )

    it.effect("is stale once the session gave the lease back", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, session, deliveries, acknowledgements } = yield* delivered(1)
        yield* store.release([session])
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["stale"])
        assert.deepStrictEqual(yield* Sample.found(deliveries[0]!.event), deliveries[0]!.event)
      })
    )

    it.effect("is stale once another session has the event, which may go on to acknowledge it", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, acknowledgements } = yield* delivered(1)
        yield* clock.advance(leaseDuration)
        const [second] = yield* store.lease(tenantId, yield* Fresh.id, 1)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["stale"])
        assert.deepStrictEqual(yield* Sample.found(second!.event), second!.event)
        const { eventId } = second!.event
        const current = { eventId, deliveryId: second!.deliveryId }
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [current]), ["acknowledged"])
      })
    )

    it.effect("is stale when it names another event's delivery, or the event was never delivered", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, acknowledgements } = yield* delivered(2)
        const [one, two] = acknowledgements
        const pending = yield* Sample.appendOne(tenantId)
        const crossed = [
          { eventId: one!.eventId, deliveryId: two!.deliveryId },
          { eventId: pending.eventId, deliveryId: one!.deliveryId }
        ]
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, crossed), ["stale", "stale"])
        const statuses = (yield* Sample.all(tenantId)).map((event) => event.status)
        assert.deepStrictEqual(statuses, ["delivered", "delivered", "pending"])
      })
    )
  })

  describe("acknowledgeAll", () => {
    it.effect("ends exactly what was created before the cutoff, and counts it", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const early = yield* Sample.append(tenantId, 3)
        yield* clock.advance(1)
        const [cutoff] = yield* Sample.append(tenantId, 2)
        const before = cutoff!.createdAt
        const earlier = early.filter((event) => event.createdAt < before).length
        assert.strictEqual(earlier, 3)
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before: early[0]!.createdAt }), 0)
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before }), 3)
        const statuses = (yield* Sample.all(tenantId)).map((event) => event.status)
        assert.deepStrictEqual(statuses, ["acknowledged", "acknowledged", "acknowledged", "pending", "pending"])
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before }), 0, "again changes nothing")
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before: Timestamp.add(before, 1) }), 2)
      })
    )

    it.effect("ends what matches every part of the filter that is given", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const mail = yield* Sample.appendOne(tenantId)
        const bounce = yield* Sample.appendOne(tenantId, { type: "email.bounced" })
        const call = yield* Sample.appendOne(tenantId, { type: "phone.call.ended", service: "phone" })
        yield* clock.advance(1)
        const before = yield* clock.now
        const all = (parts: { types?: ReadonlyArray<string> | undefined; service?: string | undefined }) =>
          store.acknowledgeAll(tenantId, { before, ...parts })
        const status = (event: typeof mail) => Effect.map(Sample.found(event), (found) => found.status)
        assert.strictEqual(yield* all({ types: [] }), 0)
        assert.strictEqual(yield* all({ types: ["email%"] }), 0)
        assert.strictEqual(yield* all({ service: "phone", types: ["email.received"] }), 0)
        assert.strictEqual(yield* all({ service: "phone", types: ["email.received", "phone.call.ended"] }), 1)
        assert.deepStrictEqual(yield* Effect.all([status(mail), status(bounce), status(call)]), [
          "pending",
          "pending",
          "acknowledged"
        ])
        assert.strictEqual(yield* all({ types: ["email.received"], service: undefined }), 1)
        assert.strictEqual(yield* all({ types: undefined, service: undefined }), 1)
        assert.strictEqual(yield* status(bounce), "acknowledged")
      })
    )

    it.effect("ends what is pending, delivered or failed, with its leases, and neither acknowledged nor expired", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const event = yield* failed
        const { tenantId } = event
        const old = yield* Sample.appendOne(tenantId)
        yield* clock.advance(retention)
        const [done, leased, pending] = yield* Sample.append(tenantId, 3)
        yield* store.acknowledge(tenantId, [{ eventId: done!.eventId }])
        const acknowledged = yield* Sample.found(done!)
        const session = yield* Fresh.id
        const [delivery] = yield* store.lease(tenantId, session, 1)
        assert.strictEqual(delivery!.event.eventId, leased!.eventId)
        yield* clock.advance(1_000)
        const before = yield* clock.now
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before }), 3)
        const events = yield* Sample.all(tenantId)
        assert.deepStrictEqual(
          events.map((each) => [each.eventId, each.status]),
          [
            [event.eventId, "acknowledged"],
            [old.eventId, "expired"],
            [done!.eventId, "acknowledged"],
            [leased!.eventId, "acknowledged"],
            [pending!.eventId, "acknowledged"]
          ]
        )
        assert.isTrue([events[0]!, events[3]!, events[4]!].every((each) => each.acknowledgedAt! >= before))
        assert.deepStrictEqual(events[2], acknowledged, "its own moment stays")
        yield* store.release([session])
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
      })
    )

    it.effect("lets no later event come before a cutoff that is over, and takes one to come for no moment", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const cutoff = yield* clock.now
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before: cutoff }), 0)
        yield* clock.advance(-10_000)
        const first = yield* Sample.appendOne(tenantId)
        assert.isAtLeast(first.createdAt, cutoff)
        const far = Timestamp.add(cutoff, Timestamp.DAY)
        assert.strictEqual(yield* store.acknowledgeAll(tenantId, { before: far }), 1)
        yield* clock.advance(10_000)
        const second = yield* Sample.appendOne(tenantId)
        assert.isBelow(second.createdAt, Timestamp.add(cutoff, Timestamp.HOUR))
        Sample.assertGrowing([first, second])
        assert.strictEqual((yield* Sample.found(second)).status, "pending")
        assert.strictEqual(yield* store.acknowledgeAll(yield* Fresh.id, { before: far }), 0, "of no tenant")
      })
    )

    it.effect("touches no other tenant's events", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const one = yield* Fresh.tenant
        const two = yield* Fresh.tenant
        yield* Sample.append(one.tenantId, 1)
        const events = yield* Sample.append(two.tenantId, 2)
        yield* clock.advance(1)
        assert.strictEqual(yield* store.acknowledgeAll(one.tenantId, { before: yield* clock.now }), 1)
        assert.deepStrictEqual(yield* Sample.all(two.tenantId), events)
      })
    )

    it.effect("counts each event once when many call at once", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        yield* Sample.append(tenantId, 20)
        yield* clock.advance(1)
        const before = yield* clock.now
        const counts = yield* Effect.forEach(Array.range(1, 8), () => store.acknowledgeAll(tenantId, { before }), {
          concurrency: "unbounded"
        })
        assert.strictEqual(
          counts.reduce((sum, count) => sum + count, 0),
          20
        )
      })
    )
  })
}
