import { OperationStore, walletAddress } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const { assertLeased, lasting, LEASE } = Sample
const LEASED = { kind: "leased", millis: LEASE } as const
const NONE = { kind: "none" } as const
const scheduled = (millis: number) => ({ kind: "scheduled", millis }) as const

/** Tests of `setNextAttempt` and `stateAge`. */
export const operationNextAttemptTests: ContractTests<OperationStore> = (it) => {
  describe("stateAge", () => {
    it.effect("counts from the last change of state on the store's clock, whatever leases follow", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const before = yield* clock.now
        const operation = yield* Sample.moved(yield* Sample.claimed(), "settling")
        const { fence, operationId } = operation
        yield* clock.advance(10_000)
        yield* store.setNextAttempt(operationId, fence, scheduled(LEASE))
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

  describe("setNextAttempt", () => {
    it.effect("renews the lease from now and changes nothing else", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        yield* clock.advance(LEASE - 10_000)
        const before = yield* clock.now
        assert.isTrue(yield* store.setNextAttempt(operationId, fence, LEASED))
        const after = yield* clock.now
        const renewed = yield* Sample.found(operationId)
        assertLeased(renewed, before, after)
        assert.deepStrictEqual(lasting(renewed), lasting(operation))
        assert.strictEqual(renewed.fence, fence)
        yield* clock.advance(LEASE - 10_000)
        assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
      })
    )

    it.effect("ends the lease, sets the due time from now and changes nothing else", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        yield* clock.advance(10_000)
        const before = yield* clock.now
        assert.isTrue(yield* store.setNextAttempt(operationId, fence, scheduled(3 * LEASE)))
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

    it.effect("stores why an attempt failed, and counts those of a state until another follows", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { operationId } = operation
        const failing = Effect.fnUntraced(function* (reason: string) {
          const { fence } = yield* Sample.found(operationId)
          const before = yield* clock.now
          assert.isTrue(yield* store.setNextAttempt(operationId, fence, scheduled(0), reason))
          const after = yield* clock.now
          assert.isTrue(Option.isSome(yield* store.takeOver(operationId, LEASE)))
          const taken = yield* Sample.found(operationId)
          const [summary] = yield* store.list({ payer: walletAddress(taken.proof.payer), limit: 1 })
          assert.deepStrictEqual(summary?.failedAttempt, taken.failedAttempt)
          const { at, ...failed } = taken.failedAttempt!
          assert.isTrue(before <= at && at <= after, "at")
          return failed
        })
        assert.isNull(operation.failedAttempt)
        const reason = 'The carrier isn\'t available: "503", 50 % of calls. 号'
        assert.deepStrictEqual(yield* failing("first"), { state: "claimed", attempts: 1, reason: "first" })
        yield* clock.advance(1_000)
        const second = { state: "claimed", attempts: 2, reason } as const
        assert.deepStrictEqual(yield* failing(reason), second)
        const renewed = yield* Sample.found(operationId)
        assert.isTrue(yield* store.setNextAttempt(operationId, renewed.fence, LEASED))
        const settling = yield* Sample.moved(yield* Sample.found(operationId), "settling")
        assert.deepStrictEqual(settling.failedAttempt, renewed.failedAttempt)
        assert.deepStrictEqual(yield* failing("third"), { state: "settling", attempts: 1, reason: "third" })
        assert.isFalse(yield* store.setNextAttempt(operationId, settling.fence, scheduled(0), "of another worker"))
        assert.strictEqual((yield* Sample.found(operationId)).failedAttempt?.reason, "third")
      })
    )

    it.effect("dies if it would leave an open operation without a due time", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        yield* refused(store.setNextAttempt(operation.operationId, operation.fence, NONE))
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("leaves a final operation without a lease and due time, whatever the request", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.moved(yield* Sample.claimed(), "unpaid")
        for (const next of [LEASED, scheduled(0), NONE]) {
          assert.isFalse(yield* store.setNextAttempt(operation.operationId, operation.fence, next))
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
        assert.isTrue(yield* store.setNextAttempt(operationId, fence, LEASED))
        assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
      })
    )

    it.effect("does nothing with another fence or an unknown id", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        const { fence, operationId } = operation
        assert.isFalse(yield* store.setNextAttempt(operationId, fence + 1, scheduled(0)))
        assert.isFalse(yield* store.setNextAttempt(operationId, fence - 1, scheduled(0)))
        assert.isFalse(yield* store.setNextAttempt(yield* Fresh.id, fence, LEASED))
        assert.deepStrictEqual(yield* Sample.found(operationId), operation)
      })
    )
  })
}
