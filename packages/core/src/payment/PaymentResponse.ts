import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { OfferReceipts } from "./OfferReceipts.ts"
import type { Operation, OperationStatus } from "./Operation.ts"
import { type Extensions, PaymentRail } from "./PaymentRail.ts"
import type { PaymentTerms } from "./PaymentTerms.ts"

const encode = (
  rail: PaymentRail["Service"],
  payer: string,
  terms: PaymentTerms,
  outcome: { readonly transaction: string; readonly isRefunded: boolean; readonly extensions: Extensions }
): string => rail.encodeReceipt({ network: terms.network, payer, amount: terms.amount, ...outcome })

/** Writes the PAYMENT-RESPONSE of operations when they end. */
export const make = Effect.gen(function* () {
  const rail = yield* PaymentRail
  const receipts = yield* OfferReceipts

  /** Returns the header for an operation that is fulfilled or refunded now. It differs each time: store it. */
  const signed = Effect.fnUntraced(function* (
    operation: Operation,
    { transaction, refundTransaction }: { readonly transaction: string; readonly refundTransaction: string | null }
  ) {
    const { endpoint, operationId, proof, terms } = operation
    const extensions = receipts.receipt({
      // Whoever compares a receipt with an offer for the service must not take a refund for a delivery.
      path: refundTransaction === null ? endpoint.slice(endpoint.indexOf(" ") + 1) : `/api/v1/payments/${operationId}`,
      network: terms.network,
      payer: proof.payer,
      transaction,
      refundTransaction,
      issuedAt: yield* Timestamp.now
    })
    return encode(rail, proof.payer, terms, { transaction, isRefunded: refundTransaction !== null, extensions })
  })
  return { signed }
})

/** Returns the header of a fulfilled operation from before receipts were signed. Equal each time. */
export const unsigned = (
  rail: PaymentRail["Service"],
  { payer, terms }: Pick<OperationStatus, "payer" | "terms">,
  transaction: string
): string => encode(rail, payer, terms, { transaction, isRefunded: false, extensions: {} })
