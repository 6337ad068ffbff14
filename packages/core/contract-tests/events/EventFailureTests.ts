import { EventStore, EventSignal, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Queue } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import { lapse } from "./EventLapses.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, maxLapses, minFailAge, retention } = TEST_EVENT_POLICY

/** Tests of events that fail. */
export const eventFailureTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("an event whose leases expire", () => {
    it.effect("fails at a lease when it has too many lapses and is old enough", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses)
        assert.strictEqual((yield* Sample.found(events[0]!)).status, "delivered", "only a lease marks it")
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
        const failed = yield* Sample.found(events[0]!)
        assert.strictEqual(failed.status, "failed")
        assert.strictEqual(failed.deliveryCount, maxLapses)
        assert.deepStrictEqual(yield* store.list(tenantId, { statuses: ["failed"] }, undefined, 9), [failed])
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
        assert.strictEqual(yield* store.countReplayable(tenantId, 9), 0)
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
      })
    )

    it.effect("is still delivered with one lapse less", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses - 1)
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)),
          Sample.ids(events)
        )
      })
    )

    it.effect("does not fail while it is young, however many lapses it has, and does later", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* lapse(tenantId, maxLapses + 3)
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)),
          Sample.ids(events)
        )
        yield* clock.advance(minFailAge)
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
        assert.strictEqual((yield* Sample.found(events[0]!)).status, "failed")
      })
    )

    it.effect("fails after as many sessions have ended without acknowledging it", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        for (const _ of Array.range(1, maxLapses)) {
          const session = yield* Fresh.id
          assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, session, 1)), Sample.ids(events))
          yield* store.release([session], "unacknowledged")
        }
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 1), [])
        const failed = yield* Sample.found(events[0]!)
        assert.deepStrictEqual([failed.status, failed.deliveryCount], ["failed", maxLapses])
      })
    )

    it.effect("counts the end of a session once, however often its leases are released", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        const session = yield* Fresh.id
        yield* store.lease(tenantId, session, 1)
        for (const _ of Array.range(1, maxLapses)) yield* store.release([session, session], "unacknowledged")
        assert.deepStrictEqual(
          Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 1)),
          Sample.ids(events)
        )
      })
    )

    it.effect("never fails by leases that were withdrawn or renewed", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        for (const _ of Array.range(1, maxLapses + 2)) {
          const session = yield* Fresh.id
          assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, session, 1)), Sample.ids(events))
          yield* clock.advance(leaseDuration / 2)
          yield* store.renew([session])
          yield* clock.advance(leaseDuration / 2)
          yield* store.release([session], "withdrawn")
        }
        assert.strictEqual((yield* store.lease(tenantId, yield* Fresh.id, 1)).length, 1)
      })
    )

    it.effect("has a lapse even if its session releases it afterwards", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        for (const _ of Array.range(1, maxLapses)) {
          const session = yield* Fresh.id
          yield* store.lease(tenantId, session, 1)
          yield* clock.advance(leaseDuration)
          yield* store.release([session], "withdrawn")
        }
        assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 1), [])
        assert.strictEqual((yield* Sample.found(events[0]!)).status, "failed")
      })
    )

    it.effect("does not take the place of an event that can be delivered when it fails", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Sample.inbox(2)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses)
        const fresh = yield* Sample.append(tenantId, 2)
        assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 1)), [
          fresh[0]!.eventId
        ])
        assert.deepStrictEqual(Sample.deliveredIds(yield* store.lease(tenantId, yield* Fresh.id, 9)), [
          fresh[1]!.eventId
        ])
        const statuses = (yield* Sample.all(tenantId)).map((event) => event.status)
        assert.deepStrictEqual(statuses, ["failed", "failed", "delivered", "delivered"])
      })
    )

    it.effect("stays failed after its expiry", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses)
        yield* store.lease(tenantId, yield* Fresh.id, 1)
        yield* clock.advance(retention + Timestamp.DAY)
        assert.strictEqual((yield* Sample.found(events[0]!)).status, "failed")
      })
    )

    it.effect("is pending again in its place once it is requeued, without lapses, and its sessions wake", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(2)
        const other = yield* Sample.inbox(1)
        const [first, second] = Sample.ids(events)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses)
        assert.strictEqual(yield* store.requeue(tenantId, [first!]), 0, "it has not failed yet")
        yield* store.lease(tenantId, yield* Fresh.id, 9)
        const [third] = yield* Sample.append(tenantId, 1)
        assert.strictEqual(yield* store.requeue(other.tenantId, [first!]), 0, "of another tenant")
        assert.strictEqual(yield* store.requeue(tenantId, []), 0)
        const given = [second!, first!, third!.eventId, yield* Fresh.id]
        const woken = yield* Queue.unbounded<unknown>()
        yield* (yield* EventSignal).listen((wakeUp) => {
          if (wakeUp === "all" || wakeUp.includes(tenantId)) Queue.offerUnsafe(woken, wakeUp)
        })
        assert.strictEqual(yield* store.requeue(tenantId, given), 2)
        yield* Queue.take(woken)
        assert.strictEqual(yield* store.requeue(tenantId, given), 0)
        const leased = yield* store.lease(tenantId, yield* Fresh.id, 9)
        assert.deepStrictEqual(Sample.deliveredIds(leased), [first!, second!, third!.eventId])
        assert.strictEqual(leased[0]!.event.deliveryCount, maxLapses + 1)
        yield* clock.advance(leaseDuration)
        assert.lengthOf(yield* store.lease(tenantId, yield* Fresh.id, 9), 3, "one lapse does not fail it again")
      })
    )

    it.effect("is not requeued after its expiry", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* Sample.inbox(1)
        yield* clock.advance(minFailAge)
        yield* lapse(tenantId, maxLapses)
        yield* store.lease(tenantId, yield* Fresh.id, 1)
        yield* clock.advance(retention)
        assert.strictEqual(yield* store.requeue(tenantId, Sample.ids(events)), 0)
      })
    )
  })
}
