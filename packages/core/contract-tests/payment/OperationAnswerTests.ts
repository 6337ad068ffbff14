import { AS_CLAIMED, type Operation, OperationStore, proofKey, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./OperationSample.ts"

const AGE = 10_000 * Timestamp.DAY
const MANY = 10_000

/** The store without old answers of other tests, which all tests share. */
const cleared = Effect.gen(function* () {
  const store = yield* OperationStore
  while ((yield* store.removeAnswers({ age: AGE, limit: MANY })) === MANY);
  return store
})

/** A fulfilled operation with an answer, created `age` milliseconds ago. */
const fulfilled = Effect.fnUntraced(function* (age: number) {
  const store = yield* OperationStore
  const now = yield* (yield* StoreClock).now
  const claimed = yield* Sample.claimed({ createdAt: Timestamp.add(now, -age) })
  yield* store.setNextAttempt(claimed.operationId, claimed.fence, { kind: "leased", millis: Sample.LEASE }, "failed")
  const failed = yield* Sample.found(claimed.operationId)
  const open = yield* Sample.movedAlong(failed, ["settling", "settled", "fulfilling"])
  const change = {
    transaction: "0x01",
    receipt: "a receipt",
    answer: { created: true, body: '{"secret":""}', slots: [] }
  }
  yield* store.advance(open, { to: "fulfilled", change, next: { kind: "none" } })
  return yield* Sample.found(claimed.operationId)
})

/** What stays of an operation whose answer was removed. */
const bare = (operation: Operation): Operation => {
  const { proof, terms } = operation
  const accepted = { ...terms, amount: `${terms.amount}`, maxTimeoutSeconds: 0, extra: {} }
  return {
    ...operation,
    answer: null,
    failedAttempt: null,
    receipt: null,
    input: "null",
    plan: "null",
    proof: {
      ...proofKey(proof),
      digest: proof.digest,
      payTo: terms.payTo,
      value: terms.amount,
      validAfter: 0,
      validBefore: 0,
      accepted,
      payload: "{}"
    }
  }
}

/** Tests of `removeAnswers`. */
export const operationAnswerTests: ContractTests<OperationStore> = (it) => {
  describe("removeAnswers", () => {
    it.effect(
      "removes what only answers retries, oldest first, each once, and keeps the keys and the ledger's facts",
      () =>
        Effect.gen(function* () {
          const store = yield* cleared
          const made = yield* Effect.forEach([1_000, 3_000, 2_000, -60_000], (more) => fulfilled(AGE + more))
          const [first, oldest, second, young] = made as [Operation, Operation, Operation, Operation]
          assert.strictEqual(yield* store.removeAnswers({ age: AGE, limit: 2 }), 2)
          const stored = yield* Effect.forEach(made, ({ operationId }) => Sample.found(operationId))
          assert.deepStrictEqual(stored, [first, bare(oldest), bare(second), young])
          assert.strictEqual(yield* store.removeAnswers({ age: AGE, limit: MANY }), 1)
          assert.strictEqual(yield* store.removeAnswers({ age: AGE, limit: MANY }), 0)
          const keys = { proof: first.proof, endpoint: first.endpoint, idempotencyKey: first.idempotencyKey }
          assert.deepStrictEqual(yield* store.findByKeys(keys), [bare(first)])
          assert.isFalse(yield* store.claim({ ...first, ...AS_CLAIMED, operationId: yield* Fresh.id }, Sample.LEASE))
        })
    )

    it.effect("leaves out open operations, and those that a refund reopens stay as they are", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const now = yield* (yield* StoreClock).now
        const open = yield* Sample.claimed({ createdAt: Timestamp.add(now, -AGE - 1_000) })
        const revoked = yield* fulfilled(AGE + 1_000)
        const due = yield* Sample.moved(revoked, "refund_due", { kind: "scheduled", millis: 1_000 })
        assert.strictEqual(yield* store.removeAnswers({ age: AGE, limit: MANY }), 0)
        assert.deepStrictEqual(yield* Sample.found(open.operationId), open)
        assert.deepStrictEqual(yield* Sample.found(due.operationId), due)
      })
    )

    it.effect("takes the operations of one tenant, or of all but some", () =>
      Effect.gen(function* () {
        const store = yield* cleared
        const [one, two, three] = (yield* Effect.forEach([1, 2, 3], () => fulfilled(AGE + 1_000))) as [
          Operation,
          Operation,
          Operation
        ]
        const old = { age: AGE, limit: MANY }
        assert.strictEqual(yield* store.removeAnswers({ ...old, except: [one.tenantId, two.tenantId] }), 1)
        assert.strictEqual(yield* store.removeAnswers({ ...old, tenantId: three.tenantId }), 0)
        assert.strictEqual(yield* store.removeAnswers({ ...old, tenantId: two.tenantId }), 1)
        assert.deepStrictEqual(yield* Sample.found(one.operationId), one)
        assert.strictEqual(yield* store.removeAnswers(old), 1)
      })
    )
  })
}
