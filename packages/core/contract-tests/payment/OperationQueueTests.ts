import { type Operation, OperationStore, Timestamp, Transactor } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Option } from "effect"
import { type ContractTests, needing } from "../Contract.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const { assertLeased, lasting, LEASE } = Sample

const ids = (operations: ReadonlyArray<Operation>) => operations.map(({ operationId }) => operationId)

/** Adds `count` operations that become due 10 s apart, the first of them in 10 s, in a shuffled order. */
const queued = Effect.fnUntraced(function* (count: number) {
  const store = yield* OperationStore
  const operations = yield* Effect.forEach(Array.range(1, count), () => Sample.claimed())
  const shuffled = [
    ...operations.filter((_, index) => index % 2 === 1),
    ...operations.filter((_, index) => index % 2 === 0)
  ]
  for (const { fence, operationId } of shuffled) {
    const place = ids(operations).indexOf(operationId) + 1
    assert.isTrue(yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: place * 10_000 }))
  }
  return yield* Effect.forEach(operations, ({ operationId }) => Sample.found(operationId))
})

/** Tests of `takeDue`. All tests share the queue: each begins by emptying it. */
export const operationQueueTests: ContractTests<OperationStore> = (it, capabilities) => {
  describe("takeDue", () => {
    it.effect("takes up to `limit` due operations, the longest due first", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const [a, b, c, d, e] = ids(yield* queued(5))
        assert.deepStrictEqual(yield* store.takeDue(10, LEASE), [])
        yield* clock.advance(40_000)
        assert.deepStrictEqual(ids(yield* store.takeDue(0, LEASE)), [])
        assert.deepStrictEqual(ids(yield* store.takeDue(1, LEASE)), [a])
        assert.deepStrictEqual(ids(yield* store.takeDue(2, LEASE)), [b, c])
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [d], "and not what is due later")
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [])
        yield* clock.advance(10_000)
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [e])
      })
    )

    it.effect("raises the fence, leases to the taker, and returns each operation as stored", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const operations = yield* queued(3)
        yield* clock.advance(LEASE)
        const before = yield* clock.now
        const taken = yield* store.takeDue(10, LEASE)
        const after = yield* clock.now
        assert.deepStrictEqual(taken.map(lasting), operations.map(lasting))
        for (const [index, operation] of taken.entries()) {
          const { fence, operationId } = operations[index]!
          assert.strictEqual(operation.fence, fence + 1)
          assertLeased(operation, before, after)
          assert.deepStrictEqual(yield* Sample.found(operationId), operation)
          assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
          assert.isFalse(
            yield* store.setNextAttempt(operationId, fence, { kind: "leased", millis: LEASE }),
            "the older worker"
          )
          assert.strictEqual((yield* Sample.moved(operation, "settling")).state, "settling")
        }
      })
    )

    it.effect("takes an operation at once that is due now", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const { fence, operationId } = yield* Sample.claimed()
        yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: 0 })
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [operationId])
      })
    )

    it.effect("takes an operation from a worker when its lease has ended, and not before", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const [dead, alive] = yield* Effect.all([Sample.claimed(), Sample.claimed()])
        yield* clock.advance(LEASE - 10_000)
        assert.deepStrictEqual(yield* store.takeDue(10, LEASE), [])
        assert.isTrue(yield* store.setNextAttempt(alive.operationId, alive.fence, { kind: "leased", millis: LEASE }))
        yield* clock.advance(10_000)
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [dead.operationId])
      })
    )

    it.effect("takes an operation again after its taker has left it, as long as it is open", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const { operationId } = yield* Sample.claimed()
        for (const fence of [2, 3, 4]) {
          yield* clock.advance(LEASE)
          assert.deepStrictEqual(
            (yield* store.takeDue(10, LEASE)).map((each) => [each.operationId, each.fence]),
            [[operationId, fence]]
          )
        }
        yield* Sample.moved(yield* Sample.found(operationId), "unpaid")
        yield* clock.advance(LEASE)
        assert.deepStrictEqual(yield* store.takeDue(10, LEASE), [])
      })
    )

    it.effect("never takes a final operation", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        for (const path of Sample.FINAL_PATHS) yield* Sample.movedAlong(yield* Sample.claimed(), path)
        yield* clock.advance(400 * Timestamp.DAY)
        assert.deepStrictEqual(yield* store.takeDue(10, LEASE), [])
      })
    )

    it.effect("distributes all due operations among concurrent takers", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const operations = yield* queued(24)
        yield* clock.advance(240_000)
        const takers = yield* Effect.forEach(Array.range(1, 8), () => store.takeDue(3, LEASE), {
          concurrency: "unbounded"
        })
        const taken = takers.flat()
        // A taker may skip rows that another has just locked, and find fewer than there are: the next pass takes them.
        taken.push(...(yield* store.takeDue(100, LEASE)))
        assert.sameMembers(ids(taken), ids(operations))
        assert.isTrue(taken.every(({ fence }) => fence === 2))
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const operations = yield* queued(3)
        yield* clock.advance(LEASE)
        yield* rolledBack(Effect.map(store.takeDue(2, LEASE), (taken) => assert.strictEqual(taken.length, 2)))
        for (const operation of operations) {
          assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
        }
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), ids(operations))
      })
    )

    const passing = needing(capabilities.concurrentTransactions, "passes over what others are at, without waiting")
    it.effect.skipIf(passing.missing)(passing.name, () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const clock = yield* StoreClock
        const { transact } = yield* Transactor
        const operations = yield* queued(5)
        const [a, b, late, d, e] = ids(operations)
        yield* clock.advance(LEASE)
        const [done, proceed] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
        const others = yield* Effect.forkChild(
          transact(
            Effect.gen(function* () {
              assert.deepStrictEqual(ids(yield* store.takeDue(2, LEASE)), [a, b])
              yield* Sample.moved(yield* Sample.found(late!), "settling")
              yield* Deferred.succeed(done, undefined)
              yield* Deferred.await(proceed)
            })
          )
        )
        yield* Effect.raceFirst(Deferred.await(done), Effect.asVoid(Fiber.join(others)))
        assert.deepStrictEqual(ids(yield* store.takeDue(10, LEASE)), [d, e])
        yield* Deferred.succeed(proceed, undefined)
        yield* Fiber.join(others)
        assert.deepStrictEqual(yield* store.takeDue(10, LEASE), [])
      })
    )
  })
}
