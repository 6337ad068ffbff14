import { serviceEntry } from "../catalog/Catalog.ts"
import * as Usdt from "../catalog/Usdt.ts"
import { type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import type { Operation } from "./Operation.ts"
import { PAYMENT_STATES } from "./OperationState.ts"

/** What every event of a payment says. `baseUnits` is the amount as the token counts it, exactly as it was paid. */
const draft = (
  operation: Operation,
  type: "payment.completed" | "payment.failed",
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
    // No mailbox and no number speaks for a payment: the wallet does.
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
 * The event of an operation that has just come to its state, if that is one to
 * tell of: each operation ends in `payment.completed` or in `payment.failed`,
 * told once. One that is owed back has failed; that the money then arrives is
 * for the chain to show, and for a repeated request to say.
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
    default:
      return undefined
  }
}
