import { type EventSignal, EventStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect } from "effect"
import type { ContractTests, HarnessServices } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { undoneTest } from "../kernel/UndoneTests.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, retention } = TEST_EVENT_POLICY
/** Longer than the retention of any event. */
const AGE = retention + Timestamp.DAY
const MANY = 10_000

/** Expires and deletes the events that other tests have left: both act on all tenants. */
const cleared = Effect.gen(function* () {
  const store = yield* EventStore
  const clock = yield* StoreClock
  yield* clock.advance(AGE)
  while ((yield* store.expire(MANY)) === MANY);
  while ((yield* store.remove(retention, MANY)) === MANY);
  return store
})

const statuses = (tenantId: string) => Effect.map(Sample.all(tenantId), (events) => events.map((event) => event.status))

const expireTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("expire", () => {
    it.effect("marks up to `limit` expired events of any tenant, and counts them", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        yield* Sample.append(one.tenantId, 3)
        yield* Sample.append(two.tenantId, 4)
        yield* clock.advance(retention - Timestamp.MINUTE)
        yield* Sample.append(one.tenantId, 1)
        assert.strictEqual(yield* store.expire(MANY), 0)
        yield* clock.advance(Timestamp.MINUTE)
        const before = [yield* Sample.all(one.tenantId), yield* Sample.all(two.tenantId)]
        assert.strictEqual(yield* store.expire(0), 0)
        assert.strictEqual(yield* store.expire(5), 5)
        assert.strictEqual(yield* store.expire(5), 2)
        assert.strictEqual(yield* store.expire(5), 0)
        assert.deepStrictEqual(
          [yield* Sample.all(one.tenantId), yield* Sample.all(two.tenantId)],
          before,
          "nothing reads differently"
        )
        assert.deepStrictEqual(yield* statuses(one.tenantId), ["expired", "expired", "expired", "pending"])
      })
    )

    it.effect("changes only pending and delivered events, and ends their leases", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const [done, held] = yield* Sample.append(tenantId, 3)
        yield* store.acknowledge(tenantId, [{ eventId: done!.eventId }])
        yield* clock.advance(retention - leaseDuration / 2)
        const session = yield* Fresh.id
        const [delivery] = yield* store.lease(tenantId, session, 1)
        assert.strictEqual(delivery!.event.eventId, held!.eventId)
        yield* clock.advance(leaseDuration / 2)
        assert.strictEqual(yield* store.expire(MANY), 2)
        assert.deepStrictEqual(yield* statuses(tenantId), ["acknowledged", "expired", "expired"])
        assert.deepStrictEqual(yield* store.renew([session]), [])
        yield* store.release([session], "withdrawn")
        const named = { eventId: held!.eventId, deliveryId: delivery!.deliveryId }
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [named]), ["expired"])
        assert.deepStrictEqual(yield* store.lease(tenantId, session, 9), [])
        yield* clock.advance(retention)
        assert.strictEqual(yield* store.expire(MANY), 0, "again changes nothing")
      })
    )

    it.effect("counts each event once in many concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        yield* Sample.append(tenantId, 40)
        yield* clock.advance(retention)
        let total = 0
        // Rows that another transaction has locked are skipped, and remain for the next round.
        for (let round = 0; round < 20 && total < 40; round++) {
          const counts = yield* Effect.forEach(Array.range(1, 8), () => store.expire(10), { concurrency: "unbounded" })
          total += counts.reduce((sum, count) => sum + count, 0)
        }
        assert.strictEqual(total, 40)
      })
    )

    it.effect("does not wait for locked events, and marks them the next time", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const [first] = yield* Sample.append(tenantId, 2)
        yield* clock.advance(retention)
        const [outcome, count] = yield* overlapping(capabilities, {
          first: store.acknowledge(tenantId, [{ eventId: first!.eventId }]),
          second: store.expire(MANY),
          firstEnds: "committed",
          secondEndsFirst: true
        })
        assert.deepStrictEqual(outcome, ["expired"])
        assert.strictEqual(count, capabilities.concurrentTransactions === true ? 1 : 2)
        assert.strictEqual(count + (yield* store.expire(MANY)), 2)
      })
    )
  })
}

const removeTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("expireAgent", () => {
    it.effect("expires the open events of the agent, and no others", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const other = yield* Fresh.tenant
        const agentId = yield* Fresh.id
        const [done, held] = yield* Sample.append(tenantId, 3, { agentId })
        const kept = yield* Sample.appendOne(tenantId)
        const foreign = yield* Sample.appendOne(other.tenantId, { agentId })
        yield* store.acknowledge(tenantId, [{ eventId: done!.eventId }])
        const session = yield* Fresh.id
        const [delivery] = yield* store.lease(tenantId, session, 1)
        assert.strictEqual(delivery!.event.eventId, held!.eventId)
        yield* store.expireAgent(tenantId, agentId)
        assert.deepStrictEqual(yield* statuses(tenantId), ["acknowledged", "expired", "expired", "pending"])
        assert.deepStrictEqual(yield* store.renew([session]), [])
        assert.deepStrictEqual(yield* store.acknowledge(tenantId, [{ eventId: held!.eventId }]), ["expired"])
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(tenantId, 9)), [kept.eventId])
        assert.strictEqual((yield* Sample.found(foreign)).status, "pending")
        const expired = yield* Sample.found(held!)
        assert.isBelow(expired.expiresAt, held!.expiresAt)
      })
    )

    it.effect("leaves the events of a large agent to expire", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const { tenantId } = yield* Fresh.tenant
        const agentId = yield* Fresh.id
        for (const count of [500, 500, 300]) yield* Sample.append(tenantId, count, { agentId })
        yield* store.expireAgent(tenantId, agentId)
        let expired = 0
        do expired = yield* store.expire(200)
        while (expired > 0)
        assert.strictEqual(yield* store.countReplayable(tenantId, 2_000), 0)
        assert.strictEqual((yield* store.list(tenantId, { statuses: ["expired"] }, undefined, 2_000)).length, 1_300)
      })
    )
  })

  describe("remove", () => {
    it.effect("deletes up to `limit` final events that are old enough, oldest first, of any tenant", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const old = yield* Sample.append(one.tenantId, 2)
        yield* store.acknowledge(
          one.tenantId,
          old.map(({ eventId }) => ({ eventId }))
        )
        yield* clock.advance(Timestamp.HOUR)
        yield* Sample.append(two.tenantId, 2)
        yield* clock.advance(Timestamp.HOUR)
        const [younger] = yield* Sample.append(one.tenantId, 1)
        yield* store.acknowledge(one.tenantId, [{ eventId: younger!.eventId }])
        yield* clock.advance(AGE - 2 * Timestamp.HOUR - Timestamp.MINUTE)
        assert.strictEqual(yield* store.remove(AGE, MANY), 0)
        yield* clock.advance(Timestamp.MINUTE)
        assert.strictEqual(yield* store.remove(AGE, 0), 0)
        assert.strictEqual(yield* store.remove(AGE, 1), 1)
        assert.deepStrictEqual(yield* store.find(one.tenantId, old[0]!.eventId), { _tag: "Missing" })
        assert.strictEqual(yield* store.remove(AGE, MANY), 1)
        assert.deepStrictEqual(Sample.ids(yield* Sample.all(one.tenantId)), [younger!.eventId])
        assert.strictEqual((yield* Sample.all(two.tenantId)).length, 2, "they are an hour younger")
        yield* clock.advance(Timestamp.HOUR)
        assert.strictEqual(yield* store.remove(AGE, MANY), 2)
        assert.deepStrictEqual(yield* Sample.all(two.tenantId), [])
        assert.isUndefined(yield* store.latest(two.tenantId))
      })
    )

    it.effect("deletes the events of one tenant, or of all but some", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        yield* Sample.append(one.tenantId, 1)
        yield* Sample.append(two.tenantId, 1)
        yield* clock.advance(AGE)
        assert.strictEqual(yield* store.remove(AGE, MANY, { except: [one.tenantId, two.tenantId] }), 0)
        assert.strictEqual(yield* store.remove(AGE, MANY, { tenantId: two.tenantId }), 1)
        assert.strictEqual(yield* store.remove(AGE, MANY, { except: [two.tenantId] }), 1)
        assert.deepStrictEqual(yield* Sample.all(one.tenantId), [])
      })
    )

    it.effect("keeps events that may still be delivered, however old, and deletes expired ones, marked or not", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const [done, expired] = yield* Sample.append(tenantId, 2)
        yield* store.acknowledge(tenantId, [{ eventId: done!.eventId }])
        yield* clock.advance(retention - Timestamp.HOUR)
        assert.strictEqual(yield* store.remove(Timestamp.HOUR, MANY), 1)
        assert.deepStrictEqual(Sample.ids(yield* store.replayable(tenantId, 9)), [expired!.eventId])
        yield* clock.advance(Timestamp.HOUR)
        const session = yield* Fresh.id
        const open = yield* Sample.appendOne(tenantId)
        yield* store.lease(tenantId, session, 9)
        yield* clock.advance(Timestamp.HOUR)
        assert.strictEqual(yield* store.remove(Timestamp.HOUR, MANY), 1)
        assert.deepStrictEqual(Sample.ids(yield* Sample.all(tenantId)), [open.eventId])
      })
    )

    it.effect("frees the dedupeKey, and does not change the tenant's order", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const draft = yield* Sample.draft(tenantId)
        const [event] = yield* store.append([draft])
        yield* clock.advance(AGE)
        yield* store.expire(MANY)
        assert.deepStrictEqual(yield* store.append([draft]), [], "known as long as the event is there")
        assert.strictEqual(yield* store.remove(AGE, MANY), 1)
        yield* clock.advance(-AGE)
        const [again] = yield* store.append([draft])
        Sample.assertGrowing([event!, again!])
        yield* clock.advance(AGE)
      })
    )

    it.effect("counts each event once in many concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        yield* Sample.append(tenantId, 40)
        yield* clock.advance(AGE)
        let total = 0
        for (let round = 0; round < 20 && total < 40; round++) {
          const counts = yield* Effect.forEach(Array.range(1, 8), () => store.remove(AGE, 10), {
            concurrency: "unbounded"
          })
          total += counts.reduce((sum, count) => sum + count, 0)
        }
        assert.strictEqual(total, 40)
        assert.deepStrictEqual(yield* Sample.all(tenantId), [])
      })
    )

    it.effect("does not wait for locked events", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const [first] = yield* Sample.append(tenantId, 2)
        yield* clock.advance(AGE)
        const [outcome, count] = yield* overlapping(capabilities, {
          first: store.acknowledge(tenantId, [{ eventId: first!.eventId }]),
          second: store.remove(AGE, MANY),
          firstEnds: "committed",
          secondEndsFirst: true
        })
        assert.deepStrictEqual(outcome, ["expired"])
        assert.strictEqual(count, capabilities.concurrentTransactions === true ? 1 : 2)
        assert.strictEqual(count + (yield* store.remove(AGE, MANY)), 2)
      })
    )
  })
}

/** Tests of `expire` and `remove`. */
export const eventEndingTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  expireTests(it, capabilities)
  removeTests(it, capabilities)

  describe("ending events of all tenants", () => {
    const old = Effect.gen(function* () {
      const store = yield* cleared
      const { tenantId } = yield* Fresh.tenant
      yield* Sample.append(tenantId, 2)
      yield* (yield* StoreClock).advance(AGE)
      return { store, tenantId }
    })
    undoneTest<EventStore | EventSignal, EventStore | HarnessServices>(
      it,
      "remove",
      Effect.map(old, ({ store, tenantId }) => ({ make: store.remove(AGE, MANY), observe: Sample.all(tenantId) }))
    )
  })
}
