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
  "Fulfill",
  "OweRefund",
  "ProveRefunded"
])
export type OperationMove = typeof OperationMove.Type

/**
 * All allowed transitions.
 *
 * - A claim whose authorization was already used buys nothing, because this server
 *   never submitted it. It is refunded if the chain shows that it paid us after its
 *   challenge was issued, and is `unpaid` otherwise.
 * - A refusal by the facilitator is not final: any holder of the authorization can
 *   still submit it. A transfer that appears later is refunded.
 * - Only the chain proves `unpaid`: the nonce is unused past validBefore, or it was
 *   used for something that did not pay us.
 */
export const OPERATION_TRANSITIONS: Readonly<Record<OperationState, Partial<Record<OperationMove, OperationState>>>> = {
  claimed: { StartSettling: "settling", ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  settling: { ProveSettled: "settled", NoteRefusal: "refused", ProveUnpaid: "unpaid" },
  settled: { StartFulfilling: "fulfilling", OweRefund: "refund_due" },
  fulfilling: { Fulfill: "fulfilled", OweRefund: "refund_due" },
  refused: { ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  refund_due: { ProveRefunded: "refunded" },
  fulfilled: {},
  unpaid: {},
  refunded: {}
}

export const move = (state: OperationState, by: OperationMove): OperationState | undefined =>
  OPERATION_TRANSITIONS[state][by]

/** Returns whether the state has no transition to another one. */
export const isFinal = (state: OperationState): boolean => Object.keys(OPERATION_TRANSITIONS[state]).length === 0

/** The state of an operation's payment as reported to the client. */
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
