import { serviceEntry } from "../catalog/Catalog.ts"
import * as Usdt from "../catalog/Usdt.ts"
import { type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import type { Operation } from "./Operation.ts"
import { PAYMENT_STATES } from "./OperationState.ts"

/** Drafts the fields common to all payment events. `baseUnits` is the exact amount paid, in the token's base units. */
const draft = (
  operation: Operation,
  type: "payment.completed" | "payment.failed" | "payment.refunded",
  more: EventDraft["payload"]
): EventDraft => {
  const { endpoint, operationId, proof, requestId, serviceId, state, tenantId, terms, transaction } = operation
  const { price } = serviceEntry(serviceId)
  return {
    tenantId,
    type,
    source: INTERNAL_SOURCE,
    service: "payment",
    resourceId: operationId,
    // A payment belongs to no mailbox and no number: the wallet identifies the agent.
    agentId: proof.payer,
    payload: {
      operationId,
      serviceId,
      endpoint,
      requestId,
      ...(price === null ? {} : { price: { ...Usdt.toPrice(price) } }),
      baseUnits: terms.amount.toString(),
      network: terms.network,
      token: terms.asset,
      payer: proof.payer,
      payTo: terms.payTo,
      transaction,
      paymentState: PAYMENT_STATES[state],
      ...more
    },
    dedupeKey: `${type}:${operationId}`
  }
}

/**
 * Returns the event for the state that an operation has just entered, or undefined if that state has none. Each
 * operation emits exactly one of `payment.completed` and `payment.failed`. An operation in `refund_due` has failed; it
 * emits one `payment.refunded` more when the chain shows the refund, whose `transaction` is that of the refund.
 */
export const eventOf = (operation: Operation): EventDraft | undefined => {
  switch (operation.state) {
    case "fulfilled":
      return draft(operation, "payment.completed", {})
    case "unpaid":
    case "refund_due":
      return draft(operation, "payment.failed", {
        reason: operation.failure === null ? null : { ...operation.failure }
      })
    case "refunded": {
      const { price } = serviceEntry(operation.serviceId)
      return draft(operation, "payment.refunded", {
        ...(price === null ? {} : { amount: { ...Usdt.toPrice(price) } }),
        transaction: operation.refundTransaction,
        paymentTransaction: operation.transaction
      })
    }
    default:
      return undefined
  }
}
