import { EventStore, type EventSignal, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import { failedEvent } from "./EventLapses.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { retention } = TEST_EVENT_POLICY

/** Tests of `acknowledgeAll`. */
export const eventAcknowledgeAllTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("acknowledgeAll", () => {
    it.effect("acknowledges exactly the events created before the cutoff, and counts them", () =>
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

    it.effect("acknowledges the events that match every given part of the filter", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const mail = yield* Sample.appendOne(tenantId)
        const bounce = yield* Sample.appendOne(tenantId, { type: "phone.call.ended" })
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

    it.effect("acknowledges pending, delivered and failed events with their leases, and no others", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const event = yield* failedEvent
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
        yield* store.release([session], "withdrawn")
        assert.deepStrictEqual(yield* store.replayable(tenantId, 9), [])
      })
    )

    it.effect("gives no later event a time before a past cutoff, and treats a future cutoff as now", () =>
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

    it.effect("does not change another tenant's events", () =>
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

    it.effect("counts each event once in many concurrent calls", () =>
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
