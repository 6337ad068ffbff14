import { EventStore, type EventSignal } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration } = TEST_EVENT_POLICY

/** Tests of `lease`, `renew` and `release`. */
export const eventLeaseTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("lease", () => {
    it.effect("leases up to `limit` events, oldest first, and marks them as delivered", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(4)
        const before = yield* clock.now
        const deliveries = yield* store.lease(tenantId, yield* Fresh.id, 3)
        const after = yield* clock.now
        assert.deepStrictEqual(
          deliveries.map((delivery) => delivery.event),
          events.slice(0, 3).map((event, index) => ({
            ...event,
            status: "delivered" as const,
            deliveredAt: deliveries[index]!.event.deliveredAt,
            deliveryCount: 1
          }))
        )
        for (const { event } of deliveries) {
          assert.isTrue(event.deliveredAt !== null && before <= event.deliveredAt && event.deliveredAt <= after)
          assert.deepStrictEqual(yield* Sample.found(event), event)
        }
        assert.strictEqual(new Set(deliveries.map((delivery) => delivery.deliveryId)).size, 3)
        assert.deepStrictEqual((yield* Sample.all(tenantId))[3], events[3])
      })
    )

    it.effect("leases nothing from an empty inbox, and nothing with a limit of 0", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, events } = yield* Sample.inbox(1)
        const other = yield* Fresh.tenant
        const session = yield* Fresh.id
        assert.deepStrictEqual(yield* store.lease(tenantId, session, 0), [])
        assert.deepStrictEqual(yield* store.lease(other.tenantId, session, 10), [])
        assert.deepStrictEqual(yield* store.lease(yield* Fresh.id, session, 10), [])
        assert.deepStrictEqual(yield* Sample.all(tenantId), events)
      })
    )

    it.effect("leases no event to two sessions at the same time, or twice to one", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(5)
        const session = yield* Fresh.id
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, session, 2)),
          Sample.ids(events.slice(0, 2))
        )
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, session, 1)),
          Sample.ids(events.slice(2, 3))
        )
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)),
          Sample.ids(events.slice(3))
        )
        yield* clock.advance(leaseDuration - 10_000)
        assert.deepStrictEqual(yield* store.lease(tenantId, session, 9), [])
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
      })
    )

    it.effect("leases no event to two of many concurrent sessions", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, events } = yield* Sample.inbox(60)
        const sessions = yield* Effect.forEach(Array.range(1, 20), () => Fresh.id)
        const taken: Array<string> = []
        // A lease may return fewer events than requested while another transaction locks the rest: then it is retried.
        for (let round = 0; round < 20 && taken.length < 60; round++) {
          const deliveries = yield* Effect.forEach(sessions, (session) => store.lease(tenantId, session, 2), {
            concurrency: "unbounded"
          })
          taken.push(...Sample.deliveredIds(deliveries.flat()))
        }
        assert.deepStrictEqual(taken.toSorted(), Sample.ids(events))
        assert.isTrue((yield* Sample.all(tenantId)).every((event) => event.deliveryCount === 1))
      })
    )

    it.effect("leases an expired lease's event again, with a new deliveryId and a higher deliveryCount", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(2)
        const session = yield* Fresh.id
        const first = yield* store.lease(tenantId, session, 1)
        yield* clock.advance(leaseDuration)
        assert.strictEqual((yield* Sample.found(events[0]!)).status, "delivered", "a lapse moves no state")
        const second = yield* store.lease(tenantId, session, 1)
        assert.deepStrictEqual(Sample.deliveredIds(second), Sample.deliveredIds(first))
        assert.notStrictEqual(second[0]!.deliveryId, first[0]!.deliveryId)
        assert.strictEqual(second[0]!.event.deliveryCount, 2)
        assert.strictEqual(second[0]!.event.status, "delivered")
        assert.strictEqual((yield* Sample.found(events[0]!)).deliveryCount, 2)
        assert.strictEqual((yield* Sample.found(events[1]!)).deliveryCount, 0)
      })
    )

    it.effect("leaves out acknowledged events", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, events } = yield* Sample.inbox(3)
        yield* store.acknowledge(tenantId, [{ eventId: events[0]!.eventId }, { eventId: events[2]!.eventId }])
        assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)), [
          events[1]!.eventId
        ])
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(1_000)
        yield* rolledBack(store.lease(tenantId, yield* Fresh.id, 1))
        assert.deepStrictEqual(yield* Sample.all(tenantId), events)
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 1)),
          Sample.ids(events)
        )
      })
    )
  })

  describe("renew", () => {
    it.effect("extends every live lease of the sessions to a full duration from now, and no other", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const one = yield* Sample.inbox(3)
        const two = yield* Sample.inbox(1)
        const [a, b, c] = yield* Effect.all([Fresh.id, Fresh.id, Fresh.id])
        yield* store.lease(one.tenantId, a, 1)
        yield* store.lease(two.tenantId, b, 1)
        const [left] = yield* store.lease(one.tenantId, c, 1)
        yield* clock.advance(leaseDuration - 10_000)
        yield* store.lease(one.tenantId, a, 1)
        yield* store.renew([a, b, yield* Fresh.id])
        yield* clock.advance(leaseDuration - 10_000)
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(one.tenantId, 9)), [left!.event.eventId])
        assert.deepStrictEqual(yield* store.replayable(two.tenantId, 9), [])
        yield* clock.advance(10_000)
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(one.tenantId, 9)), Sample.ids(one.events))
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(two.tenantId, 9)), Sample.ids(two.events))
      })
    )

    it.effect("returns the leases that the sessions hold, and no other", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const one = yield* Sample.inbox(4)
        const two = yield* Sample.inbox(1)
        const [a, b, c, late] = yield* Effect.all([Fresh.id, Fresh.id, Fresh.id, Fresh.id])
        yield* store.lease(two.tenantId, late, 1)
        yield* clock.advance(leaseDuration)
        yield* store.lease(one.tenantId, a, 2)
        yield* store.lease(two.tenantId, b, 1)
        yield* store.lease(one.tenantId, c, 1)
        yield* store.acknowledge(one.tenantId, [{ eventId: one.events[0]!.eventId }])
        const held = yield* store.renew([b, a, late, yield* Fresh.id])
        const expected = [
          { sessionId: a, eventId: one.events[1]!.eventId },
          { sessionId: b, eventId: two.events[0]!.eventId }
        ]
        assert.sameDeepMembers([...held], expected)
        yield* store.release([a], "withdrawn")
        assert.deepStrictEqual(yield* store.renew([a]), [])
        assert.deepStrictEqual(yield* store.renew([c, c]), [{ sessionId: c, eventId: one.events[2]!.eventId }])
      })
    )

    it.effect("keeps the delivery: its deliveryId remains valid, and nothing else of the event changes", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Sample.inbox(1)
        const session = yield* Fresh.id
        const [delivery] = yield* store.lease(tenantId, session, 1)
        yield* clock.advance(leaseDuration - 10_000)
        yield* store.renew([session])
        assert.deepStrictEqual(yield* Sample.found(delivery!.event), delivery!.event)
        yield* clock.advance(leaseDuration - 10_000)
        const { eventId } = delivery!.event
        const acknowledgement = { eventId, deliveryId: delivery!.deliveryId }
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [acknowledgement]), ["acknowledged"])
      })
    )

    it.effect("does not change an expired lease", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        const session = yield* Fresh.id
        yield* store.lease(tenantId, session, 1)
        yield* clock.advance(leaseDuration)
        assert.deepStrictEqual(yield* store.renew([session]), [])
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(tenantId, 9)), Sample.ids(events))
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)),
          Sample.ids(events)
        )
      })
    )

    it.effect("does nothing without sessions, or for an unknown one", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId, events } = yield* Sample.inbox(1)
        assert.deepStrictEqual(yield* store.renew([]), [])
        assert.deepStrictEqual(yield* store.renew([yield* Fresh.id]), [])
        assert.deepStrictEqual(yield* Sample.all(tenantId), events)
      })
    )
  })

  describe("release", () => {
    it.effect("ends every lease of the sessions at once, and no other", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const one = yield* Sample.inbox(3)
        const two = yield* Sample.inbox(1)
        const [a, b, c] = yield* Effect.all([Fresh.id, Fresh.id, Fresh.id])
        yield* store.lease(one.tenantId, a, 2)
        yield* store.lease(two.tenantId, b, 1)
        yield* store.lease(one.tenantId, c, 1)
        yield* store.release([b, a, yield* Fresh.id], "withdrawn")
        const given = yield* store.lease(one.tenantId, yield* Fresh.id, 9)
        assert.deepStrictEqual(Sample.deliveredIds(given), Sample.ids(one.events.slice(0, 2)))
        assert.deepStrictEqual(
          given.map((delivery) => delivery.event.deliveryCount),
          [2, 2]
        )
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(two.tenantId, yield* Fresh.id, 9)),
          Sample.ids(two.events)
        )
      })
    )

    it.effect("changes nothing that a tenant sees of the event", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Sample.inbox(1)
        const session = yield* Fresh.id
        const [delivery] = yield* store.lease(tenantId, session, 1)
        yield* store.release([session], "withdrawn")
        assert.deepStrictEqual(yield* Sample.found(delivery!.event), delivery!.event)
      })
    )

    it.effect("does nothing without sessions, or for an unknown one", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Sample.inbox(1)
        yield* store.lease(tenantId, yield* Fresh.id, 1)
        yield* store.release([], "withdrawn")
        yield* store.release([yield* Fresh.id], "withdrawn")
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
      })
    )

    it.effect("does not affect a session that has leased the event since", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Sample.inbox(1)
        const [early, late] = yield* Effect.all([Fresh.id, Fresh.id])
        yield* store.lease(tenantId, early, 1)
        yield* clock.advance(leaseDuration)
        yield* store.lease(tenantId, late, 1)
        yield* store.release([early], "withdrawn")
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
      })
    )
  })
}
