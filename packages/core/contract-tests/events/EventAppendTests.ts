import { EventStore, type EventSignal, Transactor, Uuid } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Schema } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import { type ContractTests, needing } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./EventSample.ts"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

/** Tests of `append`: stored events, drafts that are left out, and the order. */
export const eventAppendTests: ContractTests<EventStore | EventSignal> = (it, capabilities) => {
  describe("append", () => {
    it.effect("stores drafts, pending and never delivered, and returns them in the given order", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const drafts = yield* Sample.drafts(tenantId, 3)
        const before = yield* clock.now
        const stored = yield* store.append(drafts)
        const after = yield* clock.now
        assert.deepStrictEqual(
          stored,
          drafts.map(({ dedupeKey: _, ...draft }, index) => ({
            ...draft,
            eventId: stored[index]!.eventId,
            createdAt: stored[index]!.createdAt,
            expiresAt: stored[index]!.expiresAt,
            status: "pending" as const,
            deliveredAt: null,
            acknowledgedAt: null,
            deliveryCount: 0
          }))
        )
        for (const event of stored) {
          assert.isTrue(Schema.is(Uuid.Uuid)(event.eventId), event.eventId)
          assert.isTrue(before <= event.createdAt && event.createdAt <= after, "createdAt is the store's clock")
          assert.strictEqual(event.expiresAt - event.createdAt, TEST_EVENT_POLICY.retention)
        }
        Sample.assertGrowing(stored)
        assert.deepStrictEqual(yield* Sample.all(tenantId), stored)
      })
    )

    it.effect("returns nothing for an empty list", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        assert.deepStrictEqual(yield* store.append([]), [])
      })
    )

    it.effect("dies if a tenant does not exist, and stores nothing for the others", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const drafts = [yield* Sample.draft(tenantId), yield* Sample.draft(yield* Fresh.id)]
        yield* refused(store.append(drafts))
        assert.deepStrictEqual(yield* Sample.all(tenantId), [])
      })
    )

    it.effect("keeps every text and every payload unchanged", () =>
      Effect.gen(function* () {
        const { tenantId } = yield* Fresh.tenant
        const payload = {
          texts: [...AWKWARD_TEXTS],
          ...Object.fromEntries(AWKWARD_TEXTS.filter((text) => text.length < 100).map((text) => [text, text])),
          numbers: [0, -1, 0.1, 1e21, 5e-324, Number.MAX_SAFE_INTEGER, -1.5],
          nothing: null,
          yes: true,
          empty: { list: [], record: {} },
          deep: { a: [{ b: [[1, "2", [null]]] }] }
        }
        for (const text of AWKWARD_TEXTS.filter((candidate) => candidate.length < 100)) {
          const parts = { source: text, service: text, resourceId: text, agentId: text, payload }
          const dedupeKey = text + (yield* Fresh.id)
          const event = yield* Sample.appendOne(tenantId, { ...parts, dedupeKey })
          assert.deepInclude(event, parts)
          assert.deepInclude(yield* Sample.found(event), parts)
        }
      })
    )
  })

  describe("append, a draft with a known dedupeKey", () => {
    it.effect("is left out, and the event with that key does not change", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const first = yield* Sample.draft(tenantId, { payload: { n: 1 } })
        const other = yield* Sample.draft(tenantId)
        const [stored] = yield* store.append([first])
        const again = yield* store.append([{ ...first, payload: { n: 2 } }, other])
        assert.deepStrictEqual(
          again.map((event) => event.resourceId),
          [other.resourceId]
        )
        assert.deepStrictEqual(yield* Sample.all(tenantId), [stored!, again[0]!])
      })
    )

    it.effect("is left out within one call, too", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const first = yield* Sample.draft(tenantId, { payload: { n: 1 } })
        const stored = yield* store.append([first, { ...first, payload: { n: 2 } }, first])
        assert.deepStrictEqual(
          stored.map((event) => event.payload),
          [{ n: 1 }]
        )
        assert.deepStrictEqual(yield* Sample.all(tenantId), stored)
      })
    )

    it.effect("is a separate event for another tenant", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const one = yield* Fresh.tenant
        const two = yield* Fresh.tenant
        const draft = yield* Sample.draft(one.tenantId)
        const stored = yield* store.append([draft, { ...draft, tenantId: two.tenantId }])
        assert.deepStrictEqual(
          stored.map((event) => event.tenantId),
          [one.tenantId, two.tenantId]
        )
      })
    )

    it.effect("is recognized by the exact key only", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const key = yield* Fresh.word
        const keys = [key, key.toUpperCase(), `${key} `, ` ${key}`, `${key}%`, `${key}_`, key.slice(0, -1), `${key}\n`]
        const stored = yield* store.append(
          yield* Effect.forEach(keys, (dedupeKey) => Sample.draft(tenantId, { dedupeKey }))
        )
        assert.strictEqual(stored.length, keys.length)
        const again = yield* store.append(
          yield* Effect.forEach(keys, (dedupeKey) => Sample.draft(tenantId, { dedupeKey }))
        )
        assert.deepStrictEqual(again, [])
      })
    )

    it.effect("is still recognized when the event was acknowledged or has expired", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const done = yield* Sample.draft(tenantId)
        const lapsed = yield* Sample.draft(tenantId)
        const [first] = yield* store.append([done, lapsed])
        yield* store.acknowledge(tenantId, [{ eventId: first!.eventId }])
        yield* clock.advance(TEST_EVENT_POLICY.retention)
        assert.deepStrictEqual(yield* store.append([done, lapsed]), [])
      })
    )

    it.effect("is stored by exactly one of many concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const draft = yield* Sample.draft(tenantId)
        const answers = yield* Effect.forEach(Array.range(1, 12), () => store.append([draft]), {
          concurrency: "unbounded"
        })
        assert.strictEqual(answers.flat().length, 1)
        assert.deepStrictEqual(yield* Sample.all(tenantId), answers.flat())
      })
    )

    it.effect("is stored if the transaction with the first one was rolled back", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const transactor = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const draft = yield* Sample.draft(tenantId)
        yield* Effect.exit(transactor.transact(Effect.andThen(store.append([draft]), Effect.fail("no"))))
        assert.strictEqual((yield* store.append([draft])).length, 1)
      })
    )
  })

  describe("append, the order of events", () => {
    it.effect("follows the calls, by createdAt and then by an increasing eventId", () =>
      Effect.gen(function* () {
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const appended = yield* Effect.forEach(Array.range(1, 30), (n) =>
          Effect.andThen(n % 10 === 0 ? clock.advance(n) : Effect.void, Sample.append(tenantId, 1 + (n % 3)))
        )
        const listed = yield* Sample.all(tenantId)
        Sample.assertGrowing(listed)
        assert.deepStrictEqual(Sample.ids(listed), Sample.ids(appended.flat()))
      })
    )

    it.effect("remains when the clock goes back: createdAt is the later of the last one and the clock", () =>
      Effect.gen(function* () {
        const clock = yield* StoreClock
        const { tenantId } = yield* Fresh.tenant
        const other = yield* Fresh.tenant
        const hour = 3_600_000
        yield* clock.advance(hour)
        const early = yield* Sample.append(tenantId, 2)
        yield* clock.advance(-hour)
        const late = yield* Sample.append(tenantId, 2)
        const elsewhere = yield* Sample.appendOne(other.tenantId)
        assert.deepStrictEqual(
          late.map((event) => event.createdAt),
          [early[1]!.createdAt, early[1]!.createdAt]
        )
        Sample.assertGrowing(yield* Sample.all(tenantId))
        assert.isTrue(elsewhere.createdAt < early[0]!.createdAt, "the clock did not go back")
      })
    )

    const waits = needing(
      capabilities.concurrentTransactions,
      "is that of commits: a second append waits for the first"
    )
    it.effect.skipIf(waits.missing)(waits.name, () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { transact } = yield* Transactor
        const { tenantId } = yield* Fresh.tenant
        const [appended, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const first = yield* Effect.forkChild(
          transact(
            Effect.tap(Sample.appendOne(tenantId), () =>
              Effect.andThen(Deferred.succeed(appended, undefined), Deferred.await(proceed))
            )
          )
        )
        yield* Deferred.await(appended)
        // A clock that goes back must not pass the time that the first transaction has used.
        const clock = yield* StoreClock
        yield* clock.advance(-60_000)
        const second = yield* Effect.forkChild(Sample.appendOne(tenantId))
        // Enough time for the second one to finish if nothing blocked it.
        for (let round = 0; round < 50 && second.pollUnsafe() === undefined; round++) yield* Sample.all(tenantId)
        const seen = yield* Sample.all(tenantId)
        yield* Deferred.succeed(proceed, undefined)
        const events = [yield* Fiber.join(first), yield* Fiber.join(second)]
        yield* clock.advance(60_000)
        const last = seen.at(-1)
        const rest = yield* store.list(tenantId, {}, last && { createdAt: last.createdAt, id: last.eventId }, 10)
        assert.deepStrictEqual(Sample.ids([...seen, ...rest]), Sample.ids(events))
      })
    )

    it.effect("follows the commits of 50 concurrent appends, so that reading from a cursor misses nothing", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const { tenantId } = yield* Fresh.tenant
        const writers = yield* Effect.forkChild(
          Effect.forEach(Array.range(1, 50), (n) => Sample.append(tenantId, 1 + (n % 4)), { concurrency: "unbounded" })
        )
        const seen = [...(yield* Sample.all(tenantId))]
        const readOn = Effect.gen(function* () {
          const last = seen.at(-1)
          const after = last === undefined ? undefined : { createdAt: last.createdAt, id: last.eventId }
          const page = yield* store.list(tenantId, {}, after, 7)
          seen.push(...page)
          assert.isAtMost(seen.length, 125, "no event is read twice")
          return page.length
        })
        while (writers.pollUnsafe() === undefined) yield* Effect.andThen(readOn, Effect.yieldNow)
        const batches = yield* Fiber.join(writers)
        while ((yield* readOn) > 0);

        const listed = yield* Sample.all(tenantId)
        Sample.assertGrowing(listed)
        assert.deepStrictEqual(Sample.ids(seen), Sample.ids(listed))
        for (const batch of batches) Sample.assertGrowing(batch)
        assert.deepStrictEqual(new Set(Sample.ids(listed)), new Set(Sample.ids(batches.flat())))
        assert.strictEqual(listed.length, batches.flat().length)
      })
    )

    it.effect("is kept per tenant by concurrent calls with several tenants in any order", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const tenants = yield* Effect.forEach(Array.range(1, 3), () => Fresh.tenant)
        yield* Effect.forEach(
          Array.range(1, 24),
          (n) =>
            Effect.gen(function* () {
              const turned = [...tenants.slice(n % 3), ...tenants.slice(0, n % 3)]
              const order = n % 2 === 0 ? turned : turned.toReversed()
              const drafts = yield* Effect.forEach(order, ({ tenantId }) => Sample.draft(tenantId))
              const stored = yield* store.append(drafts)
              assert.deepStrictEqual(
                stored.map((event) => event.resourceId),
                drafts.map((each) => each.resourceId)
              )
            }),
          { concurrency: "unbounded" }
        )
        for (const { tenantId } of tenants) {
          const listed = yield* Sample.all(tenantId)
          assert.strictEqual(listed.length, 24)
          Sample.assertGrowing(listed)
        }
      })
    )
  })
}
