import { EventStore, type EventSignal } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const inbox = Effect.fnUntraced(function* (count: number) {
  const { tenantId } = yield* Fresh.tenant
  return { tenantId, events: count === 0 ? [] : yield* Sample.append(tenantId, count) }
})

/** Tests of `latestEach`, `countReplayableEach`, `leaseEach` and `acknowledgeEach`. */
export const eventBatchTests: ContractTests<EventStore | EventSignal> = (it) => {
  describe("latestEach", () => {
    it.effect(
      "returns the position of each tenant's newest event, whatever its status, and omits tenants without events",
      () =>
        Effect.gen(function* () {
          const store = yield* EventStore
          const inboxes = [yield* inbox(2), yield* inbox(0), yield* inbox(1)]
          const tenantIds = inboxes.map(({ tenantId }) => tenantId)
          const over = inboxes[2]!
          yield* store.acknowledge(over.tenantId, [{ eventId: over.events[0]!.eventId }])
          const latest = yield* store.latestEach([...tenantIds, yield* Fresh.id])
          const newest = inboxes.map(({ events }) => events.at(-1))
          assert.deepStrictEqual(
            tenantIds.map((tenantId) => latest.get(tenantId)),
            newest.map((event) => event && { createdAt: event.createdAt, id: event.eventId })
          )
          assert.strictEqual(latest.size, 2)
          assert.strictEqual((yield* store.latestEach([])).size, 0)
        })
    )
  })

  describe("countReplayableEach", () => {
    it.effect("counts each tenant's events up to the limit, and omits tenants without any", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const [none, one, many] = [yield* inbox(0), yield* inbox(1), yield* inbox(5)]
        const tenantIds = [none.tenantId, one.tenantId, many.tenantId, yield* Fresh.id]
        const counts = yield* store.countReplayableEach(tenantIds, 3)
        assert.deepStrictEqual(
          tenantIds.map((tenantId) => counts.get(tenantId)),
          [undefined, 1, 3, undefined]
        )
        assert.strictEqual(counts.size, 2)
        assert.strictEqual((yield* store.countReplayableEach([], 3)).size, 0)
      })
    )

    it.effect("counts pending events and expired leases, and no leased or final events", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId, events } = yield* inbox(3)
        const count = Effect.suspend(() =>
          Effect.map(store.countReplayableEach([tenantId], 9), (counts) => counts.get(tenantId))
        )
        yield* store.lease(tenantId, yield* Fresh.id, 1)
        yield* store.acknowledge(tenantId, [{ eventId: events[1]!.eventId }])
        assert.strictEqual(yield* count, 1)
        yield* clock.advance(TEST_EVENT_POLICY.leaseDuration)
        assert.strictEqual(yield* count, 2)
        yield* clock.advance(TEST_EVENT_POLICY.retention)
        assert.isUndefined(yield* count)
      })
    )
  })

  describe("leaseEach", () => {
    it.effect("returns for each request, in the given order, its own tenant's oldest events", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const inboxes = [yield* inbox(3), yield* inbox(0), yield* inbox(2)]
        const requests = yield* Effect.forEach(inboxes, ({ tenantId }) =>
          Effect.map(Fresh.id, (sessionId) => ({ tenantId, sessionId, limit: 2 }))
        )
        const deliveries = yield* store.leaseEach(requests)
        assert.deepStrictEqual(
          deliveries.map((each) => each.map(({ event }) => event.eventId)),
          inboxes.map(({ events }) => Sample.ids(events.slice(0, 2)))
        )
        const held = yield* store.renew(requests.map(({ sessionId }) => sessionId))
        assert.deepStrictEqual(
          held.map(({ eventId, sessionId }) => `${sessionId} ${eventId}`).toSorted(),
          requests
            .flatMap(({ sessionId }, index) => deliveries[index]!.map(({ event }) => `${sessionId} ${event.eventId}`))
            .toSorted()
        )
        assert.deepStrictEqual(yield* store.leaseEach([]), [])
      })
    )

    it.effect("leases no event to two sessions of one tenant, and none to a request for none", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { events, tenantId } = yield* inbox(5)
        const request = (limit: number) => Effect.map(Fresh.id, (sessionId) => ({ tenantId, sessionId, limit }))
        const requests = [yield* request(2), yield* request(0), yield* request(2), yield* request(9)]
        const deliveries = yield* store.leaseEach(requests)
        assert.deepStrictEqual(
          deliveries.map((each) => each.map(({ event }) => event.eventId)),
          [Sample.ids(events.slice(0, 2)), [], Sample.ids(events.slice(2, 4)), Sample.ids(events.slice(4))]
        )
      })
    )

    it.effect("skips final events of one tenant, and leases the others their own", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const [old, other] = [yield* inbox(3), yield* inbox(0)]
        yield* clock.advance(TEST_EVENT_POLICY.retention)
        const late = yield* Sample.append(old.tenantId, 2)
        const fresh = yield* Sample.append(other.tenantId, 1)
        const deliveries = yield* store.leaseEach([
          { tenantId: old.tenantId, sessionId: yield* Fresh.id, limit: 2 },
          { tenantId: other.tenantId, sessionId: yield* Fresh.id, limit: 2 }
        ])
        assert.deepStrictEqual(
          deliveries.map((each) => each.map(({ event }) => event.eventId)),
          [Sample.ids(late), Sample.ids(fresh)]
        )
        const statuses = (yield* Sample.all(old.tenantId)).map(({ status }) => status)
        assert.deepStrictEqual(statuses, ["expired", "expired", "expired", "delivered", "delivered"])
      })
    )

    it.effect("leases each event once in many concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const inboxes = yield* Effect.forEach(Array.range(1, 5), () => inbox(12))
        const taken: Array<string> = []
        for (let round = 0; round < 20 && taken.length < 60; round++) {
          const calls = yield* Effect.forEach(Array.range(1, 6), () =>
            Effect.forEach(inboxes, ({ tenantId }) =>
              Effect.map(Fresh.id, (sessionId) => ({ tenantId, sessionId, limit: 2 }))
            )
          )
          const answers = yield* Effect.forEach(calls, store.leaseEach, { concurrency: "unbounded" })
          taken.push(...answers.flat(2).map(({ event }) => event.eventId))
        }
        assert.deepStrictEqual(taken.toSorted(), inboxes.flatMap(({ events }) => Sample.ids(events)).toSorted())
      })
    )
  })

  describe("acknowledgeEach", () => {
    it.effect("returns results in the given order, and acknowledges no event of another tenant", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const [one, two] = [yield* inbox(2), yield* inbox(2)]
        const [mine, yours] = [one.events[0]!, two.events[0]!]
        const [delivery] = yield* store.lease(two.tenantId, yield* Fresh.id, 1)
        const outcomes = yield* store.acknowledgeEach([
          { tenantId: two.tenantId, eventId: mine.eventId },
          { tenantId: one.tenantId, eventId: mine.eventId },
          { tenantId: two.tenantId, eventId: yours.eventId, deliveryId: yield* Fresh.id },
          { tenantId: one.tenantId, eventId: yours.eventId },
          { tenantId: two.tenantId, eventId: yours.eventId, deliveryId: delivery!.deliveryId },
          { tenantId: two.tenantId, eventId: yours.eventId, deliveryId: yield* Fresh.id },
          { tenantId: one.tenantId, eventId: yield* Fresh.id }
        ])
        assert.deepStrictEqual(outcomes, [
          "missing",
          "acknowledged",
          "lease_lost",
          "missing",
          "acknowledged",
          "acknowledged",
          "missing"
        ])
        for (const { events } of [one, two]) {
          assert.strictEqual((yield* Sample.found(events[0]!)).status, "acknowledged")
          assert.strictEqual((yield* Sample.found(events[1]!)).status, "pending")
        }
        assert.deepStrictEqual(yield* store.acknowledgeEach([]), [])
      })
    )
  })
}
