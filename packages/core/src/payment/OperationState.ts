import { Schema } from "effect"

/**
 * The states of a paid operation. It only moves forward.
 *
 *     claimed ─► settling ─► settled ─► fulfilling ─► fulfilled
 *        │          │           └───────────┴─► refund_due ─► refunded
 *        │          └─► refused ─┬─► unpaid          ▲
 *        ├────────────► unpaid   └───────────────────┤
 *        └───────────────────────────────────────────┘
 */
export const OperationState = Schema.Literals([
  "claimed",
  "settling",
  "settled",
  "fulfilling",
  "fulfilled",
  "refused",
  "unpaid",
  "refund_due",
  "refunded"
])
export type OperationState = typeof OperationState.Type

export const OperationMove = Schema.Literals([
  "StartSettling",
  "ProveSettled",
  "NoteRefusal",
  "ProveUnpaid",
  "StartFulfilling",
  "Fulfil",
  "OweRefund",
  "ProveRefunded"
])
export type OperationMove = typeof OperationMove.Type

/**
 * Every allowed move; what is not here is refused.
 *
 * - A claim whose authorization was already used buys nothing: nothing was ever
 *   submitted by us. It is owed back where the chain shows that it paid us after
 *   its challenge was issued, and is `unpaid` otherwise.
 * - A refusal by the facilitator is not the end: whoever holds the authorization
 *   can still submit it. A transfer that shows up then is owed back.
 * - `unpaid` is final only by the chain: past validBefore with the nonce unused,
 *   or the nonce used for something that did not pay us.
 */
export const OPERATION_TRANSITIONS: Readonly<Record<OperationState, Partial<Record<OperationMove, OperationState>>>> = {
  claimed: { StartSettling: "settling", ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  settling: { ProveSettled: "settled", NoteRefusal: "refused", ProveUnpaid: "unpaid" },
  settled: { StartFulfilling: "fulfilling", OweRefund: "refund_due" },
  fulfilling: { Fulfil: "fulfilled", OweRefund: "refund_due" },
  refused: { ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  refund_due: { ProveRefunded: "refunded" },
  fulfilled: {},
  unpaid: {},
  refunded: {}
}

export const move = (state: OperationState, by: OperationMove): OperationState | undefined =>
  OPERATION_TRANSITIONS[state][by]

/** States that nothing leads out of. */
export const isFinal = (state: OperationState): boolean => Object.keys(OPERATION_TRANSITIONS[state]).length === 0

/** What is to be told about the money of an operation in a state. */
export const PaymentState = Schema.Literals(["none", "pending", "settled", "refund_due", "refunded", "unknown"])
export type PaymentState = typeof PaymentState.Type

export const PAYMENT_STATES: Readonly<Record<OperationState, PaymentState>> = {
  claimed: "pending",
  settling: "unknown",
  settled: "settled",
  fulfilling: "settled",
  fulfilled: "settled",
  refused: "unknown",
  unpaid: "none",
  refund_due: "refund_due",
  refunded: "refunded"
}
