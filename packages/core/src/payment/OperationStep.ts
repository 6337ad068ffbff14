import { Context, Effect, Schema } from "effect"
import type { Operation } from "./Operation.ts"

/**
 * The moments between which a paid operation can be cut off, in the order in
 * which they come. What is committed at each of them is what a worker that
 * takes the operation up again can rely on.
 */
export const OperationStep = Schema.Literals([
  /** The claim is committed; nothing was asked outside. */
  "claimed",
  /** `settling` is committed; nobody outside has seen the authorization. */
  "before_simulate",
  /** The chain's node has simulated the transfer; nothing of that is written. */
  "after_simulate",
  /** The transfer would succeed; the facilitator has not been asked. */
  "before_settle",
  /** The facilitator or the chain has answered; nothing of that is written. */
  "after_settle",
  /** `settled` is committed. */
  "settled",
  /** `fulfilling` is committed; the provider has not been called. */
  "before_perform",
  /** The provider has answered; nothing of that is written. */
  "after_perform",
  /** `fulfilled`, the result and the answer are committed. */
  "fulfilled",
  /** The answer is about to be given to whoever asked. */
  "before_answer",
  /** `refund_due` is committed. */
  "refund_owed",
  /** The chain or the facilitator is about to be asked for the refund. */
  "before_refund",
  /** The chain shows the refund; nothing of that is written. */
  "after_refund",
  /** `refunded` is committed. */
  "refunded"
])
export type OperationStep = typeof OperationStep.Type

/**
 * Told of each step as it is reached, before the work goes on: for a host that
 * traces or counts, and for tests that cut the work off there. Does nothing
 * unless a host provides another.
 */
export const OperationSteps = Context.Reference<(step: OperationStep, operation: Operation) => Effect.Effect<void>>(
  "@agentos/core/payment/OperationSteps",
  { defaultValue: () => () => Effect.void }
)
