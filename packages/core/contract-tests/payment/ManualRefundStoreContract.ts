import {
  type ManualRefund,
  ManualRefundStore,
  type Operation,
  OperationStore,
  type Tenant,
  Timestamp
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { rolledBack } from "../RolledBack.ts"
import * as Sample from "./OperationSample.ts"

const refundOf = (changes: Partial<ManualRefund> = {}) =>
  Effect.map(
    Effect.all([Fresh.word, Fresh.word, Fresh.word, Fresh.wallet]),
    ([transferId, transaction, receivedTransaction, wallet]): ManualRefund => ({
      transferId,
      transaction,
      network: "eip155:196",
      asset: "0xa1",
      wallet,
      amount: Sample.UINT256_MAX,
      receivedTransaction,
      receivedAmount: 250_000n,
      operationId: null,
      createdAt: Timestamp.fromMillis(1_800_000_000_000),
      ...changes
    })
  )

/** Stores an operation whose refund is due to a tenant. */
const owedTo = Effect.fnUntraced(function* (tenant: Tenant) {
  const made = yield* Sample.operation(tenant)
  const { claim } = yield* OperationStore
  assert.isTrue(yield* claim(made, Sample.LEASE))
  return yield* Sample.movedAlong(yield* Sample.found(made.operationId), ["refund_due"])
})

/** Completes the refund of an operation by a transaction. */
const refundedBy = (known: Operation, refundTransaction: string) =>
  Effect.flatMap(OperationStore, ({ advance }) =>
    advance(known, { to: "refunded", change: { refundTransaction }, next: { kind: "none" } })
  )

/** The contract tests of `ManualRefundStore`. */
export const ManualRefundStoreContract = defineContract<ManualRefundStore | OperationStore>(
  "ManualRefundStore",
  (it, capabilities) => {
    it.effect("returns refunds as stored, all or those of the payments in a transaction", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        const { operationId } = yield* Sample.claimed()
        const one = yield* refundOf({ operationId })
        const others = [
          yield* refundOf({ receivedTransaction: one.receivedTransaction }),
          yield* refundOf({ receivedTransaction: one.receivedTransaction })
        ]
        const all = [one, ...others].toSorted((a, b) => (a.transferId < b.transferId ? -1 : 1))
        for (const refund of all.toReversed()) assert.isTrue(yield* store.record(refund))
        assert.isTrue(yield* store.record(yield* refundOf()))
        assert.deepStrictEqual(yield* store.list(one.receivedTransaction), all)
        assert.includeDeepMembers([...(yield* store.list())], all)
        assert.deepStrictEqual(yield* store.list(yield* Fresh.word), [])
      })
    )

    it.effect("uses a transfer for one refund, and refunds an operation once", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        const { operationId } = yield* Sample.claimed()
        const refund = yield* refundOf({ operationId })
        yield* rolledBack(store.record(refund))
        assert.isTrue(yield* store.record(refund))
        assert.isFalse(yield* store.record(refund))
        assert.isFalse(yield* store.record(yield* refundOf({ transferId: refund.transferId })))
        assert.isFalse(yield* store.record(yield* refundOf({ operationId })))
      })
    )

    it.effect("refuses a transfer by which this service refunded another operation of the wallet", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        const tenant = yield* Fresh.tenant
        const transaction = `0x${yield* Fresh.word}`
        const paid = yield* owedTo(tenant)
        yield* refundedBy(paid, transaction)
        assert.isFalse(yield* store.record(yield* refundOf({ transaction, wallet: tenant.wallet })))
        assert.isTrue(yield* store.record(yield* refundOf({ transaction })), "to another wallet")
      })
    )

    it.effect("takes several transfers of a transaction that refund operations of one wallet", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        const tenant = yield* Fresh.tenant
        const transaction = `0x${yield* Fresh.word}`
        for (let count = 0; count < 2; count++) {
          const paid = yield* owedTo(tenant)
          const { operationId } = paid
          assert.isTrue(yield* store.record(yield* refundOf({ transaction, wallet: tenant.wallet, operationId })))
          yield* refundedBy(paid, transaction)
        }
      })
    )

    it.effect("assigns a refund to one operation, which has one refund", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        const [one, two] = [yield* Sample.claimed(), yield* Sample.claimed()]
        const [refund, second] = [yield* refundOf(), yield* refundOf()]
        yield* Effect.forEach([refund, second], store.record)
        yield* rolledBack(store.assign(refund.transferId, two.operationId))
        assert.isTrue(yield* store.assign(refund.transferId, one.operationId))
        assert.isTrue(yield* store.assign(refund.transferId, one.operationId), "again")
        assert.isFalse(yield* store.assign(refund.transferId, two.operationId))
        assert.isFalse(yield* store.assign(second.transferId, one.operationId))
        assert.isFalse(yield* store.assign(yield* Fresh.word, two.operationId))
        const { operationId } = one
        assert.deepStrictEqual(yield* store.list(refund.receivedTransaction), [{ ...refund, operationId }])
      })
    )

    it.effect("records a transfer once in two transactions: the other waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* ManualRefundStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const refund = yield* refundOf()
          const [first, second] = yield* overlapping(capabilities, {
            first: store.record(refund),
            second: store.record(refund),
            firstEnds
          })
          assert.deepStrictEqual([first, second], [true, firstEnds === "rolled back"])
        }
      })
    )
  }
)
