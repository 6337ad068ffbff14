import { Effect } from "effect"
import type { OfferReceipts } from "./OfferReceipts.ts"
import type { Operation } from "./Operation.ts"
import { delayed, OperationJournal, pending, RETRY_LATER } from "./OperationJournal.ts"
import { OperationSteps } from "./OperationStep.ts"
import type { OperationError } from "./PaymentError.ts"
import { PaymentRail } from "./PaymentRail.ts"
import * as PaymentResponse from "./PaymentResponse.ts"

export interface Refunding {
  /** From `refund_due`: advances the refund, and commits `refunded` once the chain shows it. */
  readonly refund: (operation: Operation) => Effect.Effect<Operation, OperationError>
}

export const make: Effect.Effect<Refunding, never, PaymentRail | OfferReceipts | OperationJournal> = Effect.gen(
  function* () {
    const rail = yield* PaymentRail
    const { commit, whileLeased } = yield* OperationJournal
    const reach = yield* OperationSteps
    const { signed } = yield* PaymentResponse.make

    /** A refund often waits for the operator to fix something: an empty wallet, a setting. */
    const logDelay = ({ operationId }: Operation, why: string) =>
      Effect.logWarning(`operation ${operationId} is not refunded yet: ${why}`)

    const refund = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
      const { nonceReadAtBlock, proof, refundNonce, terms, transaction } = operation
      if (refundNonce === null || transaction === null) {
        return yield* Effect.die(new Error(`operation ${operation.operationId} has a refund due without its payment`))
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
        return yield* pending(operation, RETRY_LATER)
      }
      yield* reach("after_refund", operation)
      return yield* Effect.tap(
        commit(operation, "ProveRefunded", () =>
          // A revoked operation keeps the receipt of its answer, which every retry gets.
          operation.answer !== null
            ? Effect.succeed({ refundTransaction: progress.transaction })
            : Effect.map(signed(operation, { transaction, refundTransaction: progress.transaction }), (receipt) => ({
                refundTransaction: progress.transaction,
                receipt
              }))
        ),
        (refunded) => reach("refunded", refunded)
      )
    })

    return { refund }
  }
)
