import { Effect } from "effect"
import type { OfferReceipts } from "./OfferReceipts.ts"
import type { Operation } from "./Operation.ts"
import { delayed, OperationJournal, pending, RETRY_LATER } from "./OperationJournal.ts"
import { OperationSteps } from "./OperationStep.ts"
import type { OperationError, PaymentPending } from "./PaymentError.ts"
import { ManualRefundStore } from "./ManualRefundStore.ts"
import { PaymentRail } from "./PaymentRail.ts"
import { proofKey } from "./PaymentTerms.ts"
import * as PaymentResponse from "./PaymentResponse.ts"

export interface Refunding {
  /** From `refund_due`: advances the refund, and commits `refunded` once the chain shows it. */
  readonly refund: (operation: Operation) => Effect.Effect<Operation, OperationError>
  /** Commits `refunded` by the transaction that `proven` returns, in the same transaction of the store. */
  readonly prove: <E>(
    operation: Operation,
    proven: Effect.Effect<string, E>
  ) => Effect.Effect<Operation, E | PaymentPending>
}

export const make: Effect.Effect<Refunding, never, ManualRefundStore | PaymentRail | OfferReceipts | OperationJournal> =
  Effect.gen(function* () {
    const rail = yield* PaymentRail
    const manual = yield* ManualRefundStore
    const { commit, whileLeased } = yield* OperationJournal
    const reach = yield* OperationSteps
    const { signed } = yield* PaymentResponse.make

    /** A refund often waits for the operator to fix something: an empty wallet, a setting. */
    const logDelay = ({ operationId }: Operation, why: string) =>
      Effect.logWarning(`operation ${operationId} is not refunded yet: ${why}`)

    const prove = <E>(operation: Operation, proven: Effect.Effect<string, E>) =>
      Effect.tap(
        commit(operation, "ProveRefunded", () =>
          Effect.gen(function* () {
            const refundTransaction = yield* proven
            // A revoked operation keeps the receipt of its answer, which every retry gets.
            if (operation.answer !== null || operation.transaction === null) return { refundTransaction }
            const { transaction } = operation
            return { refundTransaction, receipt: yield* signed(operation, { transaction, refundTransaction }) }
          })
        ),
        (refunded) => reach("refunded", refunded)
      )

    /** Returns the return of the payment, of which a token may have kept a fee, that the operator made before an operation held it. */
    const findReturn = ({ operationId, proof, terms, transaction }: Operation) => {
      const { asset, network, payer } = proofKey(proof)
      return Effect.map(manual.list(transaction ?? ""), (returns) =>
        returns.find(
          (one) =>
            one.network === network &&
            one.asset === asset &&
            one.wallet === payer &&
            one.receivedAmount <= terms.amount &&
            (one.operationId ?? operationId) === operationId
        )
      )
    }

    const refund = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
      const { nonceReadAtBlock, proof, refundNonce, terms, transaction } = operation
      if (refundNonce === null || transaction === null) {
        return yield* Effect.die(new Error(`operation ${operation.operationId} has a refund due without its payment`))
      }
      const returned = yield* findReturn(operation)
      if (returned !== undefined) {
        return yield* prove(
          operation,
          Effect.flatMap(manual.assign(returned.transferId, operation.operationId), (isOurs) =>
            isOurs ? Effect.succeed(returned.transaction) : Effect.fail(pending(operation, RETRY_LATER))
          )
        )
      }
      yield* reach("before_refund", operation)
      const progress = yield* rail
        .refund({ terms, proof, transaction, afterBlock: nonceReadAtBlock ?? 0n, nonce: refundNonce })
        .pipe(
          whileLeased(operation),
          Effect.tapError((error) => logDelay(operation, error.message)),
          Effect.mapError((error) => delayed(operation, error))
        )
      if (progress._tag === "Pending") {
        yield* logDelay(operation, progress.message)
        return yield* pending(operation, RETRY_LATER, progress.message)
      }
      yield* reach("after_refund", operation)
      return yield* prove(operation, Effect.succeed(progress.transaction))
    })

    return { refund, prove }
  })
