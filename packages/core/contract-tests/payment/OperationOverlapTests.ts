import { OperationStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const { LEASE } = Sample
const LEASED = { kind: "leased", millis: LEASE } as const
const SETTLE = { to: "settling", change: {}, next: LEASED } as const

/** Tests of overlapping transactions on one operation. */
export const operationOverlapTests: ContractTests<OperationStore> = (it, capabilities) => {
  describe("two transactions on one key or operation", () => {
    it.effect("claim a proof's key once: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const proof = yield* Sample.proof(tenant)
          const [one, two] = yield* Effect.all([
            Sample.operation(tenant, { proof }),
            Sample.operation(tenant, { proof })
          ])
          const claims = { first: store.claim(one, LEASE), second: store.claim(two, LEASE), firstEnds }
          assert.deepStrictEqual(yield* overlapping(capabilities, claims), [true, firstEnds === "rolled back"])
          const found = [yield* store.find(one.operationId), yield* store.find(two.operationId)]
          assert.deepStrictEqual(found.map(Option.isSome), [firstEnds === "committed", firstEnds === "rolled back"])
        }
      })
    )

    it.effect("claim a payer's Idempotency-Key once: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const tenant = yield* Fresh.tenant
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const idempotencyKey = yield* Fresh.word
          const [one, two] = yield* Effect.all([
            Sample.operation(tenant, { idempotencyKey }),
            Sample.operation(tenant, { idempotencyKey })
          ])
          const claims = { first: store.claim(one, LEASE), second: store.claim(two, LEASE), firstEnds }
          assert.deepStrictEqual(yield* overlapping(capabilities, claims), [true, firstEnds === "rolled back"])
        }
      })
    )

    it.effect("change the state once", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const operation = yield* Sample.claimed()
          const move = store.advance(operation, SETTLE)
          const [first, second] = yield* overlapping(capabilities, { first: move, second: move, firstEnds })
          assert.isTrue(Option.isSome(first))
          assert.strictEqual(Option.isSome(second), firstEnds === "rolled back")
        }
      })
    )

    it.effect("take over an operation once", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const { operationId } = yield* Sample.claimed({}, 0)
        const take = store.takeOver(operationId, LEASE)
        const [first, second] = yield* overlapping(capabilities, { first: take, second: take, firstEnds: "committed" })
        assert.isTrue(Option.isSome(first))
        assert.deepStrictEqual(second, Option.none())
        assert.strictEqual((yield* Sample.found(operationId)).fence, 2)
      })
    )

    it.effect("take a due operation once", () =>
      Effect.gen(function* () {
        const store = yield* Sample.emptiedQueue
        const { operationId } = yield* Sample.claimed({}, 0)
        const take = Effect.map(store.takeDue(10, LEASE), (taken) => taken.map((operation) => operation.operationId))
        const answers = yield* overlapping(capabilities, { first: take, second: take, firstEnds: "committed" })
        assert.deepStrictEqual(answers, [[operationId], []])
        assert.strictEqual((yield* Sample.found(operationId)).fence, 2)
      })
    )

    it.effect("exclude a worker whose operation the other takes over", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        const operation = yield* Sample.claimed()
        yield* clock.advance(LEASE)
        const [taken, late] = yield* overlapping(capabilities, {
          first: store.takeOver(operation.operationId, LEASE),
          second: store.advance(operation, SETTLE),
          firstEnds: "committed"
        })
        assert.isTrue(Option.isSome(taken))
        assert.deepStrictEqual(late, Option.none())
        assert.isFalse(yield* store.setNextAttempt(operation.operationId, operation.fence, LEASED))
      })
    )

    it.effect("do not take over an operation that the other continues after its lease", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const clock = yield* StoreClock
        for (const goOn of ["advance", "setNextAttempt"] as const) {
          const operation = yield* Sample.claimed()
          const { fence, operationId } = operation
          yield* clock.advance(LEASE)
          const working: Effect.Effect<unknown> =
            goOn === "advance" ? store.advance(operation, SETTLE) : store.setNextAttempt(operationId, fence, LEASED)
          const [, taken] = yield* overlapping(capabilities, {
            first: working,
            second: store.takeOver(operationId, LEASE),
            firstEnds: "committed"
          })
          assert.deepStrictEqual(taken, Option.none(), goOn)
          assert.strictEqual((yield* Sample.found(operationId)).fence, fence)
        }
      })
    )

    it.effect("post to one account without losing an entry", () =>
      Effect.gen(function* () {
        const store = yield* OperationStore
        const { operationId, terms } = yield* Sample.claimed()
        const entry = { operationId, network: terms.network, asset: terms.asset }
        const post = store.post([
          { ...entry, account: "received", amount: -5n },
          { ...entry, account: "inFlight", amount: 5n }
        ])
        yield* overlapping(capabilities, { first: post, second: post, firstEnds: "committed" })
        const balances = (yield* store.books).balances.filter(({ asset }) => asset === terms.asset)
        assert.sameMembers(
          balances.map(({ account, amount }) => `${account} ${amount}`),
          ["received -10", "inFlight 10"]
        )
      })
    )
  })
}
