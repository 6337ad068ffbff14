import { MessageRetryStore, type RetryLease, Timestamp } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"

const LEASE = 60_000

/** Ends all retries that other tests have left, which all tenants share. */
const emptied = Effect.gen(function* () {
  const store = yield* MessageRetryStore
  const clock = yield* StoreClock
  yield* clock.advance(Timestamp.DAY)
  for (const _ of Array.range(1, 20)) {
    const leases = yield* store.lease(1_000, LEASE)
    if (leases.length === 0) return store
    yield* Effect.forEach(leases, store.end)
  }
  return assert.fail("the retries do not end")
})

/** Schedules the retry of a message after a delay; returns the lease that its first attempt has. */
const scheduled = Effect.fnUntraced(function* (delayMillis: number) {
  const store = yield* MessageRetryStore
  const { tenantId } = yield* Fresh.tenant
  const lease: RetryLease = { messageId: yield* Fresh.id, tenantId, attempts: 1 }
  yield* store.schedule(lease.messageId, tenantId, delayMillis)
  return lease
})

/** The contract tests of `MessageRetryStore`. */
export const MessageRetryStoreContract = defineContract<MessageRetryStore>("MessageRetryStore", (it) => {
  it.effect("leases retries when they are due, those due first, up to the limit", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const clock = yield* StoreClock
      const later = yield* scheduled(10_000)
      const first = yield* scheduled(5_000)
      const last = yield* scheduled(20_000)
      assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
      yield* clock.advance(10_000)
      assert.deepStrictEqual(yield* store.lease(10, LEASE), [first, later])
      yield* clock.advance(10_000)
      assert.deepStrictEqual(yield* store.lease(0, LEASE), [])
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [last])
      assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
    })
  )

  it.effect("counts the messages that wait, those due first, and returns when the first is due", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const clock = yield* StoreClock
      const none = { scheduled: 0, deferred: 0, firstDueAt: null }
      assert.deepStrictEqual(yield* store.countWaiting(10), none)
      const now = yield* clock.now
      const first = yield* scheduled(0)
      yield* scheduled(LEASE / 2)
      const { tenantId } = yield* Fresh.tenant
      yield* store.schedule(yield* Fresh.id, tenantId, LEASE / 4, { sendAt: Timestamp.add(now, LEASE / 4) })
      const all = yield* store.countWaiting(10)
      assert.deepInclude(all, { scheduled: 1, deferred: 2 })
      assert.isAtLeast(all.firstDueAt!, now)
      assert.isBelow(all.firstDueAt!, now + LEASE / 4)
      assert.deepStrictEqual(yield* store.countWaiting(2), { ...all, deferred: 1 }, "the two that are due first")
      assert.deepStrictEqual(yield* store.countWaiting(0), none)
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [first])
      const leased = yield* store.countWaiting(10)
      assert.deepInclude(leased, { scheduled: 1, deferred: 2 })
      assert.isAtLeast(leased.firstDueAt!, now + LEASE / 4)
      yield* clock.advance(LEASE / 4)
      assert.lengthOf(yield* store.lease(1, LEASE), 1)
      assert.deepInclude(yield* store.countWaiting(10), { scheduled: 0, deferred: 3 }, "its attempt has begun")
    })
  )

  it.effect("leases a retry again when its lease has expired, as another attempt that ends the earlier one", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const clock = yield* StoreClock
      const first = yield* scheduled(0)
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [first])
      yield* clock.advance(LEASE / 2)
      assert.isTrue(yield* store.renew(first, LEASE))
      yield* clock.advance(LEASE / 2)
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [])
      yield* clock.advance(LEASE / 2)
      const second = { ...first, attempts: 2 }
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [second])
      assert.isFalse(yield* store.renew(first, LEASE))
      assert.isFalse(yield* store.end(first))
      assert.isTrue(yield* store.renew(second, 5_000))
      yield* clock.advance(5_000)
      const third = { ...first, attempts: 3 }
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [third])
      assert.isTrue(yield* store.end(third))
      assert.isFalse(yield* store.end(third))
      assert.isFalse(yield* store.renew(third, LEASE))
      yield* clock.advance(Timestamp.DAY)
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [])
    })
  )

  it.effect("lists the scheduled messages of a tenant, those due first, until their attempts end", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const { tenantId } = yield* Fresh.tenant
      const other = yield* Fresh.tenant
      const [late, early, retried, foreign] = [yield* Fresh.id, yield* Fresh.id, yield* Fresh.id, yield* Fresh.id]
      yield* store.schedule(late, tenantId, 0, { sendAt: Timestamp.fromMillis(2_000) })
      yield* store.schedule(early, tenantId, 0, { sendAt: Timestamp.fromMillis(1_000) })
      yield* store.schedule(retried, tenantId, 0)
      yield* store.schedule(foreign, other.tenantId, 0, { sendAt: Timestamp.fromMillis(0) })
      assert.deepStrictEqual(yield* store.listScheduled(tenantId, 10), [early, late])
      assert.deepStrictEqual(yield* store.listScheduled(tenantId, 1), [early])
      const leases = yield* store.lease(10, LEASE)
      assert.deepStrictEqual(yield* store.listScheduled(tenantId, 10), [early, late])
      yield* Effect.forEach(leases, store.end)
      assert.deepStrictEqual(yield* store.listScheduled(tenantId, 10), [])
    })
  )

  it.effect("withdraws a retry that was never leased, and no other", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const clock = yield* StoreClock
      const waiting = yield* scheduled(10_000)
      yield* rolledBack(store.withdraw(waiting.messageId))
      assert.isTrue(yield* store.withdraw(waiting.messageId))
      assert.isFalse(yield* store.withdraw(waiting.messageId))
      const leased = yield* scheduled(0)
      assert.deepStrictEqual(yield* store.lease(1, LEASE), [leased])
      assert.isFalse(yield* store.withdraw(leased.messageId))
      yield* clock.advance(LEASE)
      assert.isFalse(yield* store.withdraw(leased.messageId))
      assert.deepStrictEqual(yield* store.lease(10, LEASE), [{ ...leased, attempts: 2 }])
    })
  )

  it.effect("gives a message to the worker that leases it, or to the one that withdraws it", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const messages = yield* Effect.forEach(Array.range(1, 6), () => scheduled(0))
      const [leased, withdrawn] = yield* Effect.all(
        [
          Effect.forEach(Array.range(1, 6), () => store.lease(1, LEASE), { concurrency: "unbounded" }),
          Effect.forEach(messages, ({ messageId }) => store.withdraw(messageId), { concurrency: "unbounded" })
        ],
        { concurrency: 2 }
      )
      const rest = yield* store.lease(10, LEASE)
      assert.lengthOf([...leased.flat(), ...rest, ...withdrawn.filter(Boolean)], messages.length)
    })
  )

  it.effect("returns a message by its last attempt, and makes due or gives up only a deferred one", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const clock = yield* StoreClock
      const { tenantId } = yield* Fresh.tenant
      const sendAt = Timestamp.add(yield* clock.now, Timestamp.HOUR)
      const [scheduledId, lostId] = [yield* Fresh.id, yield* Fresh.id]
      yield* store.schedule(scheduledId, tenantId, Timestamp.HOUR, { sendAt })
      yield* store.schedule(lostId, tenantId, Timestamp.HOUR, "unknown")
      const { messageId } = yield* scheduled(0)
      const state = (id: string) =>
        Effect.map(store.findWaiting(id), (found) => Option.getOrUndefined(found)?.state ?? "none")
      const refuses = Effect.fnUntraced(function* (id: string, expected: string) {
        assert.strictEqual(yield* state(id), expected)
        const before = yield* store.findWaiting(id)
        assert.isFalse(yield* store.makeDue(id), expected)
        assert.isFalse(yield* store.giveUp(id), expected)
        assert.deepStrictEqual(yield* store.findWaiting(id), before)
      })
      yield* refuses(scheduledId, "scheduled")
      yield* refuses(lostId, "unknown")
      yield* refuses(yield* Fresh.id, "none")
      assert.strictEqual(yield* state(messageId), "deferred")
      const [first] = yield* store.lease(9, LEASE)
      yield* refuses(messageId, "sending")
      yield* clock.advance(LEASE)
      yield* refuses(messageId, "unknown")
      const [second] = yield* store.lease(9, LEASE)
      assert.isFalse(yield* store.reschedule(first!, Timestamp.HOUR, "deferred"))
      assert.isTrue(yield* store.reschedule(second!, Timestamp.HOUR, "unknown"))
      yield* refuses(messageId, "unknown")
      yield* clock.advance(Timestamp.HOUR)
      const [third] = (yield* store.lease(9, LEASE)).filter((lease) => lease.messageId === messageId)
      assert.isTrue(yield* store.reschedule(third!, Timestamp.HOUR, "deferred"))
      assert.deepInclude(Option.getOrThrow(yield* store.findWaiting(messageId)), { attempts: 3, sendAt: null })
      yield* rolledBack(store.makeDue(messageId))
      assert.deepStrictEqual(yield* store.lease(9, LEASE), [])
      assert.isTrue(yield* store.makeDue(messageId))
      const due = yield* store.findWaiting(messageId)
      assert.isTrue(yield* store.makeDue(messageId))
      assert.deepStrictEqual(yield* store.findWaiting(messageId), due, "due already")
      const [fourth] = yield* store.lease(9, LEASE)
      assert.deepInclude(fourth, { messageId, attempts: 4 })
      yield* store.reschedule(fourth!, Timestamp.HOUR, "deferred")
      yield* rolledBack(store.giveUp(messageId))
      assert.isTrue(yield* store.giveUp(messageId))
      assert.isFalse(yield* store.giveUp(messageId))
      assert.isFalse(yield* store.end(fourth!))
    })
  )

  it.effect("lists the waiting messages by id, that match every condition, page by page", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const [one, two] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const ids = (yield* Effect.replicateEffect(Fresh.id, 3)).toSorted()
      const [first, second, third] = ids as [string, string, string]
      yield* store.schedule(first, one.tenantId, LEASE)
      yield* store.schedule(second, one.tenantId, LEASE, { sendAt: yield* (yield* StoreClock).now })
      yield* store.schedule(third, two.tenantId, LEASE)
      const list = (query: Partial<Parameters<typeof store.listWaiting>[0]>) =>
        Effect.map(store.listWaiting({ limit: 9, ...query }), (all) => all.map(({ messageId }) => messageId))
      assert.deepStrictEqual(yield* list({}), ids)
      assert.deepStrictEqual(yield* list({ limit: 2 }), [first, second])
      assert.deepStrictEqual(yield* list({ after: first }), [second, third])
      assert.deepStrictEqual(yield* list({ before: second }), [first])
      assert.deepStrictEqual(yield* list({ tenantId: one.tenantId }), [first, second])
      assert.deepStrictEqual(yield* list({ state: "deferred" }), [first, third])
      assert.deepStrictEqual(yield* list({ state: "scheduled", tenantId: two.tenantId }), [])
    })
  )

  it.effect("gives a message to the worker that leases it, or to the operator who gives it up", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const messages = yield* Effect.forEach(Array.range(1, 6), () => scheduled(0))
      const [leased, given] = yield* Effect.all(
        [
          Effect.forEach(Array.range(1, 6), () => store.lease(1, LEASE), { concurrency: "unbounded" }),
          Effect.forEach(messages, ({ messageId }) => store.giveUp(messageId), { concurrency: "unbounded" })
        ],
        { concurrency: 2 }
      )
      const rest = yield* store.lease(10, LEASE)
      assert.lengthOf([...leased.flat(), ...rest, ...given.filter(Boolean)], messages.length)
    })
  )

  it.effect("is undone with its transaction", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      yield* rolledBack(scheduled(0))
      assert.deepStrictEqual(yield* store.lease(10, LEASE), [])
      const kept = yield* scheduled(0)
      yield* store.lease(1, LEASE)
      yield* rolledBack(store.end(kept))
      assert.isTrue(yield* store.end(kept))
    })
  )

  it.effect("leases each retry to one of many concurrent workers", () =>
    Effect.gen(function* () {
      const store = yield* emptied
      const retries = yield* Effect.forEach(Array.range(1, 8), () => scheduled(0))
      const taken = yield* Effect.forEach(Array.range(1, 6), () => store.lease(3, LEASE), {
        concurrency: "unbounded"
      })
      const ids = taken.flat().map(({ messageId }) => messageId)
      assert.sameMembers([...new Set(ids)], ids)
      const rest = yield* store.lease(10, LEASE)
      assert.sameMembers(
        [...ids, ...rest.map(({ messageId }) => messageId)],
        retries.map(({ messageId }) => messageId)
      )
    })
  )
})
