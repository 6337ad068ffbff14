import { Schema } from "effect"

/**
 * The states of a paid operation. It only moves forward.
 *
 *     claimed ─► settling ─► settled ─► fulfilling ─► fulfilled
 *        │          │           └───────────┴─► refund_due ─► refunded
 *        │          └─► refused ─┬─► unpaid          ▲
 *        ├────────────► unpaid   └───────────────────┤
 *        └───────────────────────────────────────────┘
 *
 * `settling` goes to `fulfilled` at once, by `FulfillAtOnce`, if the service calls no provider.
 * `fulfilled` goes to `refund_due` too, by `Revoke`, if the goods were withdrawn before they were delivered.
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

/** The states from which a worker moves an operation: those that are not final. */
export const OpenState = Schema.Literals(["claimed", "settling", "settled", "fulfilling", "refused", "refund_due"])
export type OpenState = typeof OpenState.Type

export const OperationMove = Schema.Literals([
  "StartSettling",
  "ProveSettled",
  "FulfillAtOnce",
  "NoteRefusal",
  "ProveUnpaid",
  "StartFulfilling",
  "Fulfill",
  "OweRefund",
  "Revoke",
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
 * - A service that calls no provider has nothing to announce: its payment and its result are committed together.
 * - A fulfilled operation is revoked if its goods are for later, and are withdrawn before they are delivered: a scheduled
 *   message that is canceled. It keeps its answer and its receipt, which a retry is answered with.
 */
export const OPERATION_TRANSITIONS: Readonly<Record<OperationState, Partial<Record<OperationMove, OperationState>>>> = {
  claimed: { StartSettling: "settling", ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  settling: { ProveSettled: "settled", FulfillAtOnce: "fulfilled", NoteRefusal: "refused", ProveUnpaid: "unpaid" },
  settled: { StartFulfilling: "fulfilling", OweRefund: "refund_due" },
  fulfilling: { Fulfill: "fulfilled", OweRefund: "refund_due" },
  refused: { ProveUnpaid: "unpaid", OweRefund: "refund_due" },
  refund_due: { ProveRefunded: "refunded" },
  fulfilled: { Revoke: "refund_due" },
  unpaid: {},
  refunded: {}
}

export const move = (state: OperationState, by: OperationMove): OperationState | undefined =>
  OPERATION_TRANSITIONS[state][by]

/** Returns whether no worker moves an operation from the state: it has no transition, or only `Revoke`. */
export const isFinal = (state: OperationState): boolean =>
  Object.keys(OPERATION_TRANSITIONS[state]).every((by) => by === "Revoke")

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
