import { EventStore, type EventSignal } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import { failedEvent } from "./EventLapses.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, retention } = TEST_EVENT_POLICY

/** A tenant with `count` events and a session with a lease on each. */
const delivered = Effect.fnUntraced(function* (count: number) {
  const store = yield* EventStore
  const { tenantId } = yield* Fresh.tenant
  yield* Sample.append(tenantId, count)
  const session = yield* Fresh.id
  const deliveries = yield* store.lease(tenantId, session, count)
  const acknowledgements = deliveries.map(({ deliveryId, event }) => ({ deliveryId, eventId: event.eventId }))
  return { tenantId, session, deliveries, acknowledgements }
})

/** Tests of `acknowledge`. */
export const eventAcknowledgeTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("acknowledge", () => {
    it.effect("acknowledges an event, pending or delivered, and sets the time", () =>
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

    it.effect("returns a result for each in the given order: own, another tenant's and unknown ones", () =>
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
        const expected = ["acknowledged", "missing", "lease_lost", "missing", "missing", "missing", "acknowledged"]
        assert.deepStrictEqual<ReadonlyArray<string>>(outcomes, expected)
        assert.deepStrictEqual(yield* Sample.found(other.deliveries[0]!.event), other.deliveries[0]!.event)
      })
    )

    it.effect("returns nothing for an empty list", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, []), [])
      })
    )

    it.effect("is idempotent, in one call and in another, with the deliveryId and without", () =>
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
        yield* store.release([session], "withdrawn")
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [named!, plain]), ["acknowledged", "acknowledged"])
        assert.deepStrictEqual(yield* Sample.found(once), once, "acknowledgedAt stays the first moment")
      })
    )

    it.effect("succeeds without a deliveryId, whichever session holds the lease", () =>
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

    it.effect("ends the lease: the deliveries of other events remain", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, session, acknowledgements } = yield* delivered(3)
        yield* store.acknowledge(tenantId, acknowledgements.slice(0, 1))
        yield* store.renew([session])
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
        yield* store.release([session], "withdrawn")
        const left = Sample.ids(yield* store.replayable(tenantId, 9))
        assert.deepStrictEqual(
          left,
          acknowledgements.slice(1).map((each) => each.eventId)
        )
      })
    )

    it.effect("succeeds for a failed event", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const event = yield* failedEvent
        const named = { eventId: event.eventId, deliveryId: yield* Fresh.id }
        assert.deepStrictEqual(yield* store.acknowledge(event.tenantId, [named]), ["lease_lost"])
        assert.deepStrictEqual(yield* store.acknowledge(event.tenantId, [{ eventId: event.eventId }]), ["acknowledged"])
        assert.strictEqual((yield* Sample.found(event)).status, "acknowledged")
      })
    )

    it.effect("returns expired for an expired event, and does not change it", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const event = yield* Sample.appendOne(tenantId)
        yield* clock.advance(retention)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [{ eventId: event.eventId }]), ["expired"])
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
    it.effect("succeeds until the lease expires, and not after", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, deliveries, acknowledgements } = yield* delivered(2)
        yield* clock.advance(leaseDuration - 10_000)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements.slice(0, 1)), ["acknowledged"])
        yield* clock.advance(10_000)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements.slice(1)), ["lease_lost"])
        assert.deepStrictEqual(yield* Sample.found(deliveries[1]!.event), deliveries[1]!.event)
      })
    )

    it.effect("returns lease_lost after the session released the lease", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, session, deliveries, acknowledgements } = yield* delivered(1)
        yield* store.release([session], "withdrawn")
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["lease_lost"])
        assert.deepStrictEqual(yield* Sample.found(deliveries[0]!.event), deliveries[0]!.event)
      })
    )

    it.effect("returns lease_lost after another session leased the event, and succeeds for that session", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, acknowledgements } = yield* delivered(1)
        yield* clock.advance(leaseDuration)
        const [second] = yield* store.lease(tenantId, yield* Fresh.id, 1)
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, acknowledgements), ["lease_lost"])
        assert.deepStrictEqual(yield* Sample.found(second!.event), second!.event)
        const { eventId } = second!.event
        const current = { eventId, deliveryId: second!.deliveryId }
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [current]), ["acknowledged"])
      })
    )

    it.effect("returns lease_lost with another event's delivery, or if the event was never delivered", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, acknowledgements } = yield* delivered(2)
        const [one, two] = acknowledgements
        const pending = yield* Sample.appendOne(tenantId)
        const crossed = [
          { eventId: one!.eventId, deliveryId: two!.deliveryId },
          { eventId: pending.eventId, deliveryId: one!.deliveryId }
        ]
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, crossed), ["lease_lost", "lease_lost"])
        const statuses = (yield* Sample.all(tenantId)).map((event) => event.status)
        assert.deepStrictEqual(statuses, ["delivered", "delivered", "pending"])
      })
    )
  })
}
