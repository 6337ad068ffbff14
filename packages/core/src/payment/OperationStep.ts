import { Context, Effect, Schema } from "effect"
import type { Operation } from "./Operation.ts"
import { countMoney } from "./SalesMetrics.ts"

/**
 * The points at which a paid operation can be interrupted, in order. A worker that takes the operation over can rely on
 * everything that is committed at that point.
 */
export const OperationStep = Schema.Literals([
  /** The large parts of the input are stored, and nothing is claimed. Only for a service with `staging`. */
  "staged",
  /** The claim is committed; no external call was made. */
  "claimed",
  /** `settling` is committed; no other system has seen the authorization. */
  "before_simulate",
  /** The chain's node has simulated the transfer; the result is not stored. */
  "after_simulate",
  /** The transfer would succeed; the facilitator has not been called. */
  "before_settle",
  /** The facilitator or the chain has answered; the answer is not stored. */
  "after_settle",
  /** `settled` is committed. This step and the next two exist only for a service that calls a provider. */
  "settled",
  /** `fulfilling` is committed; the provider has not been called. */
  "before_perform",
  /** The provider has answered; the answer is not stored. */
  "after_perform",
  /** `fulfilled`, the result and the answer are committed. */
  "fulfilled",
  /** The answer is about to be returned to the caller. */
  "before_answer",
  /** `refund_due` is committed. */
  "refund_owed",
  /** The refund is about to be requested from the chain or the facilitator. */
  "before_refund",
  /** The chain shows the refund; this is not stored. */
  "after_refund",
  /** `refunded` is committed. */
  "refunded"
])
export type OperationStep = typeof OperationStep.Type

/** The operation that has reached a step. Its tenant may not exist before the claim. */
export type ReachedOperation = Omit<Operation, "tenantId">

/**
 * Called at each step before the work continues. Hosts use it for tracing and counting, tests to interrupt the work.
 * Counts money by default.
 */
export const OperationSteps = Context.Reference<
  (step: OperationStep, operation: ReachedOperation) => Effect.Effect<void>
>("@agentos/core/payment/OperationSteps", { defaultValue: () => countMoney })
