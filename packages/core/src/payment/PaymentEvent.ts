import { Schema } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import { ServiceId } from "../catalog/ServiceId.ts"
import * as Usdt from "../catalog/Usdt.ts"
import { declareEvent, draftEvent, type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { type Operation, OperationFailureRecord } from "./Operation.ts"
import { PAYMENT_STATES, PaymentState } from "./OperationState.ts"
import { PriceRecord, symbolOf } from "./PaymentTerms.ts"

/** The payload that all payment events have. */
const payment = {
  operationId: Uuid.annotateKey({ description: "Id of the paid operation." }),
  serviceId: ServiceId.annotateKey({ description: "Id of the service that was paid." }),
  endpoint: Schema.String.annotateKey({ description: "Method and path of the paid request." }),
  requestId: Uuid.annotateKey({ description: "The requestId of the paid request." }),
  price: Schema.optionalKey(PriceRecord).annotateKey({
    description: "Price of the service. Absent if the service has none any more."
  }),
  baseUnits: Schema.String.annotateKey({ description: "The exact amount of the payment, in the token's base units." }),
  network: Schema.String.annotateKey({ description: "CAIP-2 id of the network." }),
  token: Schema.String.annotateKey({ description: "Address of the token's contract, in lower case." }),
  symbol: Schema.optionalKey(Schema.String).annotateKey({
    description: "Symbol of the token: `USDT`, or another dollar token that the server accepts at par."
  }),
  payer: Schema.String.annotateKey({ description: "Address of the wallet that paid, in lower case." }),
  payTo: Schema.String.annotateKey({ description: "Address that the payment was made to, in lower case." }),
  transaction: Schema.NullOr(Schema.String).annotateKey({
    description: "Hash of the transaction that paid; null where nothing was paid."
  }),
  paymentState: PaymentState.annotateKey({ description: "State of the payment when the event was made." })
}

export const PAYMENT_COMPLETED = declareEvent("payment.completed", "A paid operation was fulfilled.", payment)

export const PAYMENT_FAILED = declareEvent(
  "payment.failed",
  "A paid operation was not fulfilled. If its payment was charged, it is refunded.",
  {
    ...payment,
    reason: Schema.NullOr(OperationFailureRecord).annotateKey({
      description: "Why the operation failed; null if the reason was not recorded."
    })
  }
)

export const PAYMENT_REFUNDED = declareEvent(
  "payment.refunded",
  "The payment of a failed or canceled operation was refunded to the wallet that paid. `transaction` is that of the refund.",
  {
    ...payment,
    amount: Schema.optionalKey(PriceRecord).annotateKey({
      description: "The refunded amount. Absent if the service has no price any more."
    }),
    transaction: Schema.NullOr(Schema.String).annotateKey({
      description: "Hash of the transaction of the refund; null if it is not known."
    }),
    paymentTransaction: Schema.NullOr(Schema.String).annotateKey({
      description: "Hash of the transaction that paid; null if it is not known."
    })
  }
)

export const PAYMENT_EVENTS = [PAYMENT_COMPLETED, PAYMENT_FAILED, PAYMENT_REFUNDED] as const

/** Returns the payload that all payment events have. */
const paymentOf = ({ endpoint, operationId, proof, requestId, serviceId, state, terms, transaction }: Operation) => {
  const { price } = serviceEntry(serviceId)
  return {
    operationId,
    serviceId,
    endpoint,
    requestId,
    ...(price === null ? {} : { price: Usdt.toPrice(price) }),
    baseUnits: terms.amount.toString(),
    network: terms.network,
    token: terms.asset.toLowerCase(),
    symbol: symbolOf(terms),
    payer: proof.payer,
    payTo: terms.payTo.toLowerCase(),
    transaction,
    paymentState: PAYMENT_STATES[state]
  }
}

const fieldsOf = ({ operationId, proof, tenantId }: Operation) => ({
  tenantId,
  source: INTERNAL_SOURCE,
  service: "payment",
  resourceId: operationId,
  // A payment belongs to no mailbox and no number: the wallet identifies the agent.
  agentId: proof.payer,
  once: operationId
})

/**
 * Returns the event for the state that an operation has just entered, or undefined if that state has none. Each
 * operation emits exactly one of `payment.completed` and `payment.failed`. An operation in `refund_due` has failed, or was
 * revoked after it was completed; it emits one `payment.refunded` more when the chain shows the refund, whose `transaction`
 * is that of the refund.
 */
export const eventOf = (operation: Operation): EventDraft | undefined => {
  const payload = paymentOf(operation)
  switch (operation.state) {
    case "fulfilled":
      return draftEvent(PAYMENT_COMPLETED, { ...fieldsOf(operation), payload })
    case "unpaid":
    case "refund_due":
      return draftEvent(PAYMENT_FAILED, {
        ...fieldsOf(operation),
        payload: { ...payload, reason: operation.failure === null ? null : { ...operation.failure } }
      })
    case "refunded": {
      const { price } = serviceEntry(operation.serviceId)
      return draftEvent(PAYMENT_REFUNDED, {
        ...fieldsOf(operation),
        payload: {
          ...payload,
          ...(price === null ? {} : { amount: Usdt.toPrice(price) }),
          transaction: operation.refundTransaction,
          paymentTransaction: operation.transaction
        }
      })
    }
    default:
      return undefined
  }
}
