import { OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const { assertLeased, lasting, LEASE } = Sample
const WORKER = { by: "worker", millis: LEASE } as const
const NOBODY = { by: "nobody" } as const
const job = (millis: number) => ({ by: "job", millis }) as const

/** Tests of `hold` and `stateAge`. */
export const operationHoldTests: ContractTests<OperationStore> = (it) => {
  describe("stateAge", () => {
    it.effect("counts from the last change of state on the store's clock, whatever leases follow", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const before = yield* clock.now
        const operation = yield* Sample.moved(yield* Sample.claimed(), "settling")
        const { fence, operationId } = operation
        yield* clock.advance(10_000)
        yield* store.hold(operationId, fence, job(LEASE))
        yield* store.takeOver(operationId, LEASE)
        yield* clock.advance(20_000)
        const age = Option.getOrThrow(yield* store.stateAge(operationId))
        assert.isTrue(30_000 <= age && age <= (yield* clock.now) - before, String(age))
        const moved = yield* Sample.moved(yield* Sample.found(operationId), "settled")
        assert.isBelow(Option.getOrThrow(yield* store.stateAge(moved.operationId)), 10_000)
        assert.deepStrictEqual(yield* store.stateAge(yield* Fresh.id), Option.none())
      })
    )
  })

  describe("hold", () => {
    it.effect("leases it to the worker from now, and changes nothing else of it", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        yield* clock.advance(LEASE - 10_000)
        const before = yield* clock.now
        assert.isTrue(yield* store.hold(operationId, fence, WORKER))
        const after = yield* clock.now
        const renewed = yield* Sample.found(operationId)
        assertLeased(renewed, before, after)
        assert.deepStrictEqual(lasting(renewed), lasting(operation))
        assert.strictEqual(renewed.fence, fence)
        yield* clock.advance(LEASE - 10_000)
        assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
      })
    )

    it.effect("leaves it to the job from now, and changes nothing else of it", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        yield* clock.advance(10_000)
        const before = yield* clock.now
        assert.isTrue(yield* store.hold(operationId, fence, job(3 * LEASE)))
        const after = yield* clock.now
        const given = yield* Sample.found(operationId)
        assert.isNull(given.leasedUntil)
        assert.isTrue(before + 3 * LEASE <= given.dueAt! && given.dueAt! <= after + 3 * LEASE, "dueAt")
        assert.deepStrictEqual(lasting(given), lasting(operation))
        assert.strictEqual(given.fence, fence)
        const taken = yield* store.takeOver(operationId, LEASE)
        assert.deepStrictEqual(
          Option.map(taken, (each) => each.fence),
          Option.some(fence + 1)
        )
      })
    )

    it.effect("dies if it would leave an open operation without a due time", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        yield* refused(store.hold(operation.operationId, operation.fence, NOBODY))
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("leaves a final operation without a lease and due time, whatever the request", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.moved(yield* Sample.claimed(), "unpaid")
        for (const hold of [WORKER, job(0), NOBODY]) {
          assert.isFalse(yield* store.hold(operation.operationId, operation.fence, hold))
        }
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("renews an expired lease if no other worker took over", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const { fence, operationId } = yield* Sample.claimed()
        yield* clock.advance(2 * LEASE)
        assert.isTrue(yield* store.hold(operationId, fence, WORKER))
        assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
      })
    )

    it.effect("does nothing with another fence or an unknown id", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        assert.isFalse(yield* store.hold(operationId, fence + 1, job(0)))
        assert.isFalse(yield* store.hold(operationId, fence - 1, job(0)))
        assert.isFalse(yield* store.hold(yield* Fresh.id, fence, WORKER))
        assert.deepStrictEqual(yield* Sample.found(operationId), operation)
      })
    )
  })
}
