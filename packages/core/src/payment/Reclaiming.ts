import { Effect, Option, Result } from "effect"
import { claimRefund, type ClaimPorts } from "./Claiming.ts"
import { IdempotencyConflict, type PaymentError, PaymentReturned, undetermined } from "./PaymentError.ts"
import type { PaymentRail } from "./PaymentRail.ts"
import type { PaymentTerms } from "./PaymentTerms.ts"
import { AuthorizationUsed, type PresentedPayment } from "./PresentedPayments.ts"
import * as UnclaimedPayment from "./UnclaimedPayment.ts"

export interface ReclaimPorts extends ClaimPorts {
  readonly rail: PaymentRail["Service"]
}

/**
 * Handles the payment of a request that is about to be refused and that has no operation. `acceptedTerms` are those of our
 * challenge for this request, even an expired one, or none.
 *
 * Succeeds if the payer did not sign the authorization, if it is unused, or if an operation holds it meanwhile. A transfer
 * that paid us in full after its challenge was issued becomes an operation in `refund_due` that buys nothing; then, and if
 * the authorization was used otherwise, fails with the error that the client receives. Fails with `AuthorizationUsed` if
 * the chain does not show yet by which transfer.
 */
export const reclaim = Effect.fnUntraced(
  function* (
    ports: ReclaimPorts,
    payment: PresentedPayment,
    acceptedTerms: Effect.Effect<Option.Option<PaymentTerms>>
  ) {
    const { reach, rail } = ports
    const { authenticated, proof } = payment
    yield* authenticated
    const { used } = yield* rail.readNonce(proof)
    if (!used) return
    const terms = yield* acceptedTerms
    if (Option.isNone(terms)) return yield* usedForAnother
    const { afterBlock, settlement } = yield* UnclaimedPayment.find(rail, proof, terms.value)
    switch (settlement._tag) {
      case "Paid": {
        const owed = yield* Effect.result(claimRefund(ports, payment, terms.value, { afterBlock, paid: settlement }))
        if (Result.isFailure(owed)) return yield* unowed[owed.failure._tag]
        yield* reach("refund_owed", owed.success)
        const { operationId } = owed.success
        return yield* new PaymentReturned({ operationId, paymentState: "refund_due", receipt: null })
      }
      case "UsedOtherwise":
        return yield* usedBefore
      case "Unused":
      case "Unsettled":
        return yield* new AuthorizationUsed()
    }
  },
  Effect.catchTags({
    ProofInvalid: () => Effect.void,
    ProviderError: ({ message }) => undetermined(message)
  })
) satisfies (...args: never) => Effect.Effect<void, PaymentError | AuthorizationUsed>

const usedBefore = new IdempotencyConflict({
  message: "This authorization was already used, so it buys nothing here.",
  paymentState: "none"
})

const usedForAnother = new IdempotencyConflict({
  message: "This authorization was already used, and it was signed for another request.",
  paymentState: "unknown"
})

const unowed = { ClaimLost: Effect.void, PaymentPending: new AuthorizationUsed(), TransferTaken: usedBefore } as const
