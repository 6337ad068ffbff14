import { Context, Effect, Layer, Option, Schema } from "effect"
import { type ProviderError, ProviderUnavailable } from "../kernel/ProviderError.ts"
import { Conflict, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { type WalletAddress, walletAddress } from "../tenancy/Tenant.ts"
import { LedgerCheck } from "./LedgerCheck.ts"
import { type ManualRefund, ManualRefundStore, type RefundedPayment } from "./ManualRefundStore.ts"
import type { Operation } from "./Operation.ts"
import { OperationJournal, RETRY_LATER, WORK_LEASE } from "./OperationJournal.ts"
import { OperationStore } from "./OperationStore.ts"
import { PaymentRail, type TransactionTransfer } from "./PaymentRail.ts"
import { proofKey } from "./PaymentTerms.ts"
import * as Refunding from "./Refunding.ts"

/** A transaction of an EVM chain. */
export const TransactionHash = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-f]{64}$/i, { expected: "a transaction: 0x and 64 hexadecimal digits" })
)

/** More operations of one payer are never refunded at the same time. */
const OPEN_LIMIT = 1_000

type Refused = Conflict | ProviderUnavailable

/**
 * Records refunds that the operator made outside of this service, once the chain shows them: any wallet may have sent the
 * token, to the payer, at least the amount that is owed, in a final block. A transfer counts for one refund.
 */
export class ManualRefunds extends Context.Service<
  ManualRefunds,
  {
    /**
     * Completes an operation whose refund is due. `alongside` is part of the transaction. Does nothing if the operation was
     * refunded by this transaction before.
     */
    readonly refund: (
      operationId: string,
      transaction: string,
      alongside: (before: Operation, after: ManualRefund) => Effect.Effect<void>
    ) => Effect.Effect<Operation, Refused | ResourceNotFound>
    /**
     * Records that a received transfer, which no operation has, was returned. If its payer presents the payment later, the
     * operation for it is refunded by this return.
     */
    readonly returnTransfer: (
      received: { readonly transaction: string; readonly wallet?: string | undefined },
      transaction: string,
      alongside: (after: ManualRefund) => Effect.Effect<void>
    ) => Effect.Effect<ManualRefund, Refused>
  }
>()("@agentos/core/payment/ManualRefunds") {
  static readonly layer = Layer.effect(
    ManualRefunds,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const store = yield* ManualRefundStore
      const rail = yield* PaymentRail
      const ledger = yield* LedgerCheck
      const { whileLeased } = yield* OperationJournal
      const { prove } = yield* Refunding.make
      const { transact } = yield* Transactor

      const reading = <A>(read: Effect.Effect<A, ProviderError>): Effect.Effect<A, ProviderUnavailable> =>
        Effect.mapError(read, ({ message }) => new ProviderUnavailable({ message, retryAfterSeconds: RETRY_LATER }))

      const candidatesFor = Effect.fnUntraced(function* (payment: RefundedPayment, transaction: string) {
        const found = yield* reading(rail.readTransfers(payment, transaction))
        if (Option.isNone(found)) return yield* refuse(`The chain ${payment.network} does not show ${transaction} yet.`)
        const { isFinal, transfers } = found.value
        if (!isFinal) return yield* refuse(`${transaction} is not final yet. Repeat this in some minutes.`)
        const candidates = transfers.filter(
          ({ amount, to }) => to === payment.wallet && amount >= payment.receivedAmount
        )
        if (candidates.length > 0) return candidates
        return yield* refuse(
          `${transaction} has no transfer of at least ${payment.receivedAmount} base units of ${payment.asset} to ${payment.wallet}.`
        )
      })

      const recordFirst = Effect.fnUntraced(function* (
        payment: RefundedPayment,
        transaction: string,
        candidates: ReadonlyArray<TransactionTransfer>,
        operationId: string | null
      ) {
        for (const { amount, transferId } of candidates) {
          const createdAt = yield* Timestamp.now
          const made = { ...payment, transferId, transaction, amount, operationId, createdAt }
          if (yield* store.record(made)) return made
        }
        return yield* refuse(`The transfer in ${transaction} is that of another refund.`)
      })

      /** Refuses a transfer that this service made for a refund: of this operation, or of another one of its payer. */
      const requireByHand = Effect.fnUntraced(function* (operation: Operation, transaction: string) {
        const { payer } = proofKey(operation.proof)
        const open = yield* operations.list({ state: "refund_due", payer: walletAddress(payer), limit: OPEN_LIMIT })
        for (const { operationId } of open) {
          const one =
            operationId === operation.operationId
              ? operation
              : yield* operations.find(operationId).pipe(Effect.map(Option.getOrUndefined))
          if (one === undefined || one.refundNonce === null || one.transaction === null) continue
          const { nonceReadAtBlock, proof, refundNonce: nonce, terms } = one
          const refund = { terms, proof, transaction: one.transaction, afterBlock: nonceReadAtBlock ?? 0n, nonce }
          const progress = yield* reading(rail.findRefund(refund))
          if (Option.isNone(progress)) continue
          if (operationId === operation.operationId) return yield* refuse(IN_PROGRESS)
          if (progress.value._tag === "Paid" && progress.value.transaction.toLowerCase() === transaction) {
            return yield* refuse(`${transaction} is the refund of the operation ${operationId}.`)
          }
        }
      })

      const find = Effect.fnUntraced(function* (operationId: string) {
        const found = yield* operations.find(operationId)
        return Option.isSome(found) ? found.value : yield* new ResourceNotFound({ kind: "operation", id: operationId })
      })

      const paymentOf = (operation: Operation): RefundedPayment | undefined => {
        const { asset, network, payer: wallet } = proofKey(operation.proof)
        const { terms, transaction: receivedTransaction } = operation
        if (receivedTransaction === null) return undefined
        return { network, asset, wallet, receivedTransaction, receivedAmount: terms.amount }
      }

      const refundLeased = Effect.fnUntraced(function* (
        operation: Operation,
        transaction: string,
        alongside: (before: Operation, after: ManualRefund) => Effect.Effect<void>
      ) {
        const payment = paymentOf(operation)
        if (operation.state !== "refund_due" || payment === undefined) return yield* refuse(notDue(operation))
        yield* requireByHand(operation, transaction)
        const candidates = yield* candidatesFor(payment, transaction)
        const recording = Effect.flatMap(recordFirst(payment, transaction, candidates, operation.operationId), (made) =>
          Effect.as(alongside(operation, made), made.transaction)
        )
        return yield* Effect.catchTag(prove(operation, recording), "PaymentPending", () => refuse(HELD))
      })

      return ManualRefunds.of({
        refund: Effect.fnUntraced(function* (operationId, given, alongside) {
          const transaction = given.toLowerCase()
          const known = yield* find(operationId)
          if (known.state === "refunded" && known.refundTransaction?.toLowerCase() === transaction) return known
          if (known.state !== "refund_due") return yield* refuse(notDue(known))
          const taken = yield* operations.takeOver(operationId, WORK_LEASE)
          if (Option.isNone(taken)) return yield* refuse(HELD)
          const operation = taken.value
          const millis = Math.max(0, (known.dueAt ?? 0) - (yield* Timestamp.now))
          return yield* refundLeased(operation, transaction, alongside).pipe(
            whileLeased(operation),
            Effect.onError(() => operations.setNextAttempt(operationId, operation.fence, { kind: "scheduled", millis }))
          )
        }),
        returnTransfer: Effect.fnUntraced(function* (received, given, alongside) {
          const [transaction, receivedTransaction] = [given.toLowerCase(), received.transaction.toLowerCase()]
          const ofWallet = ({ wallet }: { readonly wallet: string }) =>
            received.wallet === undefined || wallet === received.wallet.toLowerCase()
          const before = (yield* store.list(receivedTransaction)).filter(ofWallet)
          const repeated = before.find((refund) => refund.transaction === transaction)
          if (repeated !== undefined) return repeated
          const unclaimed = (yield* reading(ledger.findUnclaimedIn(receivedTransaction))).filter(ofWallet)
          const [one, other] = unclaimed
          if (one === undefined) return yield* refuse(`${receivedTransaction} has no unclaimed transfer.`)
          if (other !== undefined && other.wallet !== one.wallet) {
            return yield* refuse(`${receivedTransaction} has unclaimed transfers of several wallets. Name one of them.`)
          }
          const { amount: receivedAmount, network, wallet } = one
          const asset = one.asset.toLowerCase()
          const open = yield* operations.list({ state: "open", payer: wallet as WalletAddress, limit: OPEN_LIMIT })
          const waiting = open.find(({ amount, transaction: paid }) => amount === receivedAmount && paid === null)
          if (waiting !== undefined) return yield* refuse(mayClaim(waiting.operationId))
          const payment = { network, asset, wallet, receivedTransaction, receivedAmount }
          const candidates = yield* candidatesFor(payment, transaction)
          return yield* transact(
            Effect.tap(recordFirst(payment, transaction, candidates, null), (made) => alongside(made))
          )
        })
      })
    })
  ).pipe(Layer.provide(OperationJournal.layer))
}

const refuse = (message: string): Effect.Effect<never, Conflict> => Effect.fail(new Conflict({ message }))

const IN_PROGRESS =
  "This service has made or submitted the refund itself. Its completion is recorded within minutes: read the operation again."

const HELD = "A worker holds the lease of the operation, and is advancing it. Repeat this in a few seconds."

const notDue = ({ operationId, refundTransaction, state }: Operation): string =>
  state === "refunded"
    ? `The operation ${operationId} was refunded by ${refundTransaction}.`
    : `The operation ${operationId} is ${state}, so no refund is due. Never pay it back by hand in this state.`

const mayClaim = (operationId: string): string =>
  `The open operation ${operationId} of the payer may hold this transfer. Wait until it has ended.`
