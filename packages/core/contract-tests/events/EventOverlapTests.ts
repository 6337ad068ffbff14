import { type EventSignal, EventStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration } = TEST_EVENT_POLICY

/** A tenant with `count` events, of which a session has leased the first. */
const inbox = Effect.fnUntraced(function* (count: number) {
  const store = yield* EventStore
  const { tenantId } = yield* Fresh.tenant
  const events = yield* Sample.append(tenantId, count)
  const session = yield* Fresh.id
  const [delivery] = yield* store.lease(tenantId, session, 1)
  const named = { eventId: delivery!.event.eventId, deliveryId: delivery!.deliveryId }
  return { store, tenantId, events, session, named, plain: { eventId: named.eventId } }
})

const statuses = (tenantId: string) => Effect.map(Sample.all(tenantId), (events) => events.map((event) => event.status))

/** Tests of overlapping transactions on one inbox. */
export const eventOverlapTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("two transactions on one inbox", () => {
    it.effect("store one of two drafts with the same key, whichever commits", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const draft = yield* Sample.draft(tenantId)
          const append = store.append([draft])
          const [first, second] = yield* overlapping(capabilities, { first: append, second: append, firstEnds })
          assert.strictEqual(first.length, 1)
          assert.strictEqual(second.length, firstEnds === "committed" ? 0 : 1)
          const stored = yield* store.list(tenantId, { resourceId: draft.resourceId }, undefined, 9)
          assert.deepStrictEqual(stored, firstEnds === "committed" ? first : second)
        }
        Sample.assertGrowing(yield* Sample.all(tenantId))
      })
    )

    it.effect("lease no event twice", () =>
      Effect.gen(function* () {
        const { events, store, tenantId } = yield* inbox(6)
        const [a, b] = yield* Effect.all([Fresh.id, Fresh.id])
        const [first, second] = yield* overlapping(capabilities, {
          first: store.lease(tenantId, a, 3),
          second: store.lease(tenantId, b, 3),
          firstEnds: "committed"
        })
        const rest = yield* store.lease(tenantId, yield* Fresh.id, 9)
        const taken = [...first, ...second, ...rest].map((delivery) => delivery.event.eventId)
        assert.deepStrictEqual(taken.toSorted(), Sample.ids(events.slice(1)))
        assert.isTrue((yield* Sample.all(tenantId)).every((event) => event.deliveryCount === 1))
      })
    )

    it.effect("leave the events of a rolled back lease to the next one", () =>
      Effect.gen(function* () {
        const { events, store, tenantId } = yield* inbox(4)
        const [a, b] = yield* Effect.all([Fresh.id, Fresh.id])
        const [, second] = yield* overlapping(capabilities, {
          first: store.lease(tenantId, a, 9),
          second: store.lease(tenantId, b, 9),
          firstEnds: "rolled back"
        })
        const rest = yield* store.lease(tenantId, b, 9)
        const taken = [...second, ...rest].map((delivery) => delivery.event.eventId)
        assert.deepStrictEqual(taken.toSorted(), Sample.ids(events.slice(1)))
      })
    )

    it.effect("acknowledge an event once, and count it once", () =>
      Effect.gen(function* () {
        const { named, plain, store, tenantId } = yield* inbox(3)
        const clock = yield* StoreClock
        const each = yield* overlapping(capabilities, {
          first: store.acknowledge(tenantId, [named]),
          second: store.acknowledge(tenantId, [plain, named]),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(each, [["acknowledged"], ["acknowledged", "acknowledged"]])
        yield* clock.advance(1)
        const all = store.acknowledgeAll(tenantId, { before: yield* clock.now })
        const [first, second] = yield* overlapping(capabilities, { first: all, second: all, firstEnds: "committed" })
        assert.deepStrictEqual([first, second], [2, 0])
      })
    )

    it.effect("acknowledge all, even events that the other was appending, so that none is left before the cutoff", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const { tenantId } = yield* Fresh.tenant
          const drafts = yield* Sample.drafts(tenantId, 2)
          yield* clock.advance(1)
          const [appended, ended] = yield* overlapping(capabilities, {
            first: Effect.tap(store.append(drafts), () => clock.advance(1_000)),
            second: Effect.flatMap(clock.now, (before) => store.acknowledgeAll(tenantId, { before })),
            firstEnds
          })
          assert.strictEqual(appended.length, 2)
          assert.strictEqual(ended, firstEnds === "committed" ? 2 : 0)
          assert.isTrue((yield* statuses(tenantId)).every((status) => status === "acknowledged"))
        }
      })
    )

    it.effect("append nothing before the cutoff of the other, which acknowledges all", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const drafts = yield* Sample.drafts(tenantId, 2)
        yield* clock.advance(60_000)
        const before = yield* clock.now
        const [ended, appended] = yield* overlapping(capabilities, {
          first: store.acknowledgeAll(tenantId, { before }),
          // Its clock is a minute slow.
          second: Effect.andThen(clock.advance(-60_000), store.append(drafts)),
          firstEnds: "committed"
        })
        assert.strictEqual(ended, 0)
        assert.isTrue(appended.every(({ createdAt }) => createdAt >= before))
        yield* clock.advance(60_000)
      })
    )

    it.effect("keep an event acknowledged through a lease, a renewal, a release, and all of them", () =>
      Effect.gen(function* () {
        for (const lapsed of [false, true]) {
          const { plain, session, store, tenantId } = yield* inbox(1)
          const clock = yield* StoreClock
          if (lapsed) yield* clock.advance(leaseDuration)
          const later = {
            lease: store.lease(tenantId, yield* Fresh.id, 9),
            renew: store.renew([session]),
            release: store.release([session], "withdrawn"),
            acknowledgeAll: store.acknowledgeAll(tenantId, { before: yield* clock.now })
          }
          for (const [name, second] of Object.entries<Effect.Effect<unknown>>(later)) {
            const first = store.acknowledge(tenantId, [plain])
            const [outcome] = yield* overlapping(capabilities, { first, second, firstEnds: "committed" })
            assert.deepStrictEqual(outcome, ["acknowledged"])
            assert.deepStrictEqual(yield* statuses(tenantId), ["acknowledged"], `after ${name}`)
            assert.deepStrictEqual(yield* store.lease(tenantId, yield* Fresh.id, 9), [])
          }
        }
      })
    )

    it.effect("acknowledge an event that the other has leased, without its deliveryId", () =>
      Effect.gen(function* () {
        const { events, store, tenantId } = yield* inbox(2)
        const [deliveries, outcomes] = yield* overlapping(capabilities, {
          first: store.lease(tenantId, yield* Fresh.id, 9),
          second: store.acknowledge(tenantId, [{ eventId: events[1]!.eventId }]),
          firstEnds: "committed"
        })
        assert.strictEqual(deliveries.length, 1)
        assert.deepStrictEqual(outcomes, ["acknowledged"])
        assert.deepStrictEqual(yield* statuses(tenantId), ["delivered", "acknowledged"])
      })
    )

    it.effect("reject an acknowledgement of a delivery that the other has released or leased again", () =>
      Effect.gen(function* () {
        const clock = yield* StoreClock
        const released = yield* inbox(1)
        const [, stale] = yield* overlapping(capabilities, {
          first: released.store.release([released.session], "withdrawn"),
          second: released.store.acknowledge(released.tenantId, [released.named]),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(stale, ["lease_lost"])
        const leased = yield* inbox(1)
        yield* clock.advance(leaseDuration)
        const [deliveries, late] = yield* overlapping(capabilities, {
          first: leased.store.lease(leased.tenantId, yield* Fresh.id, 9),
          second: leased.store.acknowledge(leased.tenantId, [leased.named]),
          firstEnds: "committed"
        })
        assert.strictEqual(deliveries.length, 1)
        assert.deepStrictEqual(late, ["lease_lost"])
        assert.deepStrictEqual(yield* statuses(leased.tenantId), ["delivered"])
      })
    )

    it.effect("renew no lease that the other has released", () =>
      Effect.gen(function* () {
        const { events, session, store, tenantId } = yield* inbox(1)
        const [, held] = yield* overlapping(capabilities, {
          first: store.release([session], "withdrawn"),
          second: store.renew([session]),
          firstEnds: "committed"
        })
        assert.deepStrictEqual(held, [])
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(tenantId, 9)), Sample.ids(events))
      })
    )
  })
}
