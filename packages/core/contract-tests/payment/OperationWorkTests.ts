import { type Operation, type OperationChange, OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { refused } from "../Refused.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const { assertLeased, lasting, LEASE } = Sample
const LEASED = { kind: "leased", millis: LEASE } as const
const NONE = { kind: "none" } as const
const scheduled = (millis: number) => ({ kind: "scheduled", millis }) as const

/** Tests of `advance` and `takeOver`. */
export const operationWorkTests: ContractTests<OperationStore> = (it) => {
  describe("hasFulfilled", () => {
    it.effect("returns whether an operation of the wallet is fulfilled, in whatever state its others are", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        const claim = Effect.gen(function* () {
          const made = yield* Sample.operation(tenant)
          assert.isTrue(yield* store.claim(made, LEASE))
          return yield* Sample.found(made.operationId)
        })
        const isFulfilled = store.hasFulfilled(tenant.wallet)
        assert.isFalse(yield* isFulfilled)
        yield* Sample.moved(yield* claim, "unpaid")
        let bought = yield* claim
        for (const state of ["settling", "settled", "fulfilling"] as const) {
          bought = yield* Sample.moved(bought, state)
          assert.isFalse(yield* isFulfilled, state)
        }
        yield* Sample.moved(bought, "fulfilled")
        assert.isTrue(yield* isFulfilled)
        yield* claim
        assert.isTrue(yield* isFulfilled)
        assert.isFalse(yield* store.hasFulfilled((yield* Fresh.tenant).wallet))
      })
    )
  })

  describe("advance", () => {
    it.effect("changes the state, renews the worker's lease, and returns the stored operation", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        yield* clock.advance(LEASE / 2)
        const before = yield* clock.now
        const moved = yield* Sample.moved(operation, "settling")
        const after = yield* clock.now
        const { updatedAt } = moved
        assert.deepStrictEqual(lasting(moved), { ...lasting(operation), state: "settling", updatedAt })
        assert.strictEqual(moved.fence, operation.fence)
        assertLeased(moved, before, after)
        assert.isTrue(before <= moved.updatedAt && moved.updatedAt <= after, "updatedAt is the store's clock")
        assert.deepStrictEqual(yield* store.find(operation.operationId), Option.some(moved))
      })
    )

    it.effect("writes the fields of the change exactly, and does not change the others", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        let operation = yield* Sample.claimed()
        const answer = {
          created: true,
          body: `{"data":{"text":"👩‍👩‍👧‍👦 \\u0000 \\\\ 'x' $1"},"token":""}`,
          slots: [
            { kind: "access-token" as const, keyId: 1, version: 1, subject: operation.tenantId, offset: 51 },
            { kind: "callback-secret" as const, keyId: 255, version: 2, subject: "number", offset: 0 }
          ]
        }
        const changes: ReadonlyArray<OperationChange> = [
          {},
          { nonceReadAtBlock: 9_007_199_254_740_993n },
          { transaction: `0x${"ab".repeat(32)}` },
          { failure: { kind: "rejected", message: 'it\'s "over" \\ 100%' } },
          { answer },
          { receipt: "eyJzdWNjZXNzIjp0cnVlfQ==" },
          { refundNonce: `0x${"cd".repeat(32)}` },
          { refundTransaction: "0xff", failure: null },
          { answer: { created: false, body: "", slots: [] }, nonceReadAtBlock: 0n, transaction: null },
          { nonceReadAtBlock: null, refundNonce: null, answer: null, receipt: null }
        ]
        for (const change of changes) {
          const moved = yield* store.advance(operation, { to: operation.state, change, next: LEASED })
          const expected = { ...operation, ...change }
          operation = yield* Sample.found(operation.operationId)
          const { updatedAt } = operation
          assert.deepStrictEqual(moved, Option.some(operation))
          assert.deepStrictEqual(lasting(operation), { ...lasting(expected), updatedAt })
        }
      })
    )

    it.effect("changes nothing from another state or with another fence", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.moved(yield* Sample.claimed(), "settling")
        assert.isTrue(yield* store.isUnchanged(operation))
        const move = { to: "settled", change: { transaction: "0x1" }, next: scheduled(0) } as const
        const unlike: ReadonlyArray<Operation> = [
          { ...operation, state: "claimed" },
          { ...operation, state: "settled" },
          { ...operation, fence: operation.fence + 1 },
          { ...operation, fence: operation.fence - 1 },
          { ...operation, operationId: yield* Fresh.id }
        ]
        for (const known of unlike) {
          assert.deepStrictEqual(yield* store.advance(known, move), Option.none())
          assert.isFalse(yield* store.isUnchanged(known))
        }
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("is due at the given time, and can be taken over by id before that", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const before = yield* clock.now
        const operation = yield* Sample.moved(yield* Sample.claimed(), "settling", scheduled(LEASE))
        const after = yield* clock.now
        assert.isNull(operation.leasedUntil)
        assert.isTrue(before + LEASE <= operation.dueAt! && operation.dueAt! <= after + LEASE, "dueAt")
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
        assert.isTrue(Option.isSome(yield* store.takeOver(operation.operationId, LEASE)))
      })
    )

    it.effect("leaves a final operation without a lease and due time", () =>
      Effect.gen(function* () {
        const operation = yield* Sample.moved(yield* Sample.claimed(), "unpaid", NONE)
        assert.isNull(operation.leasedUntil)
        assert.isNull(operation.dueAt)
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("dies if it would leave an open operation without a due time, or a final one with one", () =>
      Effect.gen(function* () {
        const operation = yield* Sample.claimed()
        yield* refused(Sample.moved(operation, "settling", NONE))
        yield* refused(Sample.moved(operation, "unpaid", LEASED))
        yield* refused(Sample.moved(operation, "unpaid", scheduled(0)))
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )

    it.effect("succeeds after the lease has expired, if no other worker took over", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        yield* clock.advance(2 * LEASE)
        const moved = yield* Sample.moved(operation, "settling")
        assert.deepStrictEqual(yield* store.takeOver(moved.operationId, LEASE), Option.none(), "leased again")
      })
    )

    it.effect("lets one of many concurrent callers change the state", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const operation = yield* Sample.claimed()
        const answers = yield* Effect.forEach(
          Array.range(1, 10),
          (n) => store.advance(operation, { to: "settling", change: { nonceReadAtBlock: BigInt(n) }, next: LEASED }),
          { concurrency: "unbounded" }
        )
        const won = answers.flatMap((answer) => Option.toArray(answer))
        assert.strictEqual(won.length, 1)
        assert.deepStrictEqual(won, [yield* Sample.found(operation.operationId)])
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const operation = yield* Sample.claimed()
        yield* rolledBack(Sample.moved(operation, "settling"))
        assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
      })
    )
  })

  describe("takeOver", () => {
    it.effect("takes the operation when the lease has ended, and excludes the earlier worker", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        const { operationId } = operation
        yield* clock.advance(LEASE - 10_000)
        assert.deepStrictEqual(yield* store.takeOver(operationId, LEASE), Option.none())
        assert.deepStrictEqual(yield* Sample.found(operationId), operation, "nothing has changed")
        yield* clock.advance(10_000)
        const before = yield* clock.now
        const taken = yield* store.takeOver(operationId, LEASE)
        const after = yield* clock.now
        const stored = yield* Sample.found(operationId)
        assert.deepStrictEqual(taken, Option.some(stored))
        assert.deepStrictEqual(lasting(stored), lasting(operation))
        assert.strictEqual(stored.fence, operation.fence + 1)
        assertLeased(stored, before, after)

        assert.deepStrictEqual(yield* store.advance(operation, { to: "unpaid", change: {}, next: NONE }), Option.none())
        assert.isFalse(yield* store.setNextAttempt(operationId, operation.fence, LEASED))
        assert.deepStrictEqual(yield* Sample.found(operationId), stored)
        assert.strictEqual((yield* Sample.moved(stored, "settling")).state, "settling")
      })
    )

    it.effect("takes no final operation, however old", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        for (const path of Sample.FINAL_PATHS) {
          const operation = yield* Sample.movedAlong(yield* Sample.claimed(), path)
          yield* clock.advance(2 * LEASE)
          assert.deepStrictEqual(yield* store.takeOver(operation.operationId, LEASE), Option.none(), operation.state)
          assert.deepStrictEqual(yield* Sample.found(operation.operationId), operation)
        }
      })
    )

    it.effect("takes nothing with an unknown id", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        assert.deepStrictEqual(yield* store.takeOver(yield* Fresh.id, LEASE), Option.none())
      })
    )

    it.effect("lets one of many concurrent callers take the operation, each time", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const { fence, operationId } = yield* Sample.claimed()
        for (const round of Array.range(1, 3)) {
          yield* clock.advance(LEASE)
          const answers = yield* Effect.forEach(Array.range(1, 10), () => store.takeOver(operationId, LEASE), {
            concurrency: "unbounded"
          })
          const fences = answers.flatMap((answer) => Option.toArray(answer)).map((operation) => operation.fence)
          assert.deepStrictEqual(fences, [fence + round])
        }
      })
    )
  })
}
