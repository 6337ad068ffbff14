import { Schema } from "effect"
import { PaymentState } from "./OperationState.ts"

/** Nothing was charged by this request: pay the challenge, and repeat the request with the payment. */
export class PaymentRequired extends Schema.TaggedError<PaymentRequired>()("PaymentRequired", {
  /** The value of the PAYMENT-REQUIRED header. */
  challenge: Schema.String,
  /** What is wrong with the payment that came with the request; null when none came. */
  reason: Schema.NullOr(Schema.String)
}) {}

/** The Idempotency-Key or the payment stands for another request already, or the payment was used up elsewhere. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  message: Schema.String,
  paymentState: PaymentState
}) {}

/** The payment comes from another wallet than the token's. Nothing was charged. */
export class PayerMismatch extends Schema.TaggedError<PayerMismatch>()("PayerMismatch", {
  payer: Schema.String
}) {}

/** The operation is under way, or what became of its payment is not known yet. Repeat the same request unchanged. */
export class PaymentPending extends Schema.TaggedError<PaymentPending>()("PaymentPending", {
  operationId: Schema.String,
  paymentState: PaymentState,
  retryAfterSeconds: Schema.Int
}) {}

/** A provider could not be reached or is unwell. Repeat the same request unchanged: it is charged once at most. */
export class OperationDelayed extends Schema.TaggedError<OperationDelayed>()("OperationDelayed", {
  /** Null when nothing was claimed yet. */
  operationId: Schema.NullOr(Schema.String),
  paymentState: PaymentState,
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

/** The provider refused for good after the payment had settled: the money goes back. */
export class OperationRejected extends Schema.TaggedError<OperationRejected>()("OperationRejected", {
  operationId: Schema.String,
  paymentState: PaymentState,
  message: Schema.String
}) {}

/**
 * Somebody else submitted the payment to the chain before the server had claimed it. It bought nothing, and goes back to
 * the wallet that made it.
 */
export class PaymentReturned extends Schema.TaggedError<PaymentReturned>()("PaymentReturned", {
  operationId: Schema.String,
  paymentState: PaymentState
}) {}

/** Every way in which a paid request can fail in payment. */
export type PaymentError =
  | PaymentRequired
  | IdempotencyConflict
  | PayerMismatch
  | PaymentPending
  | OperationDelayed
  | OperationRejected
  | PaymentReturned

/** The payment did not come about: it was refused, or can no longer be used. Nothing was charged. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  operationId: Schema.String,
  message: Schema.String
}) {}

/** Every way in which carrying on an operation can fail to give an answer now. */
export type OperationError =
  | IdempotencyConflict
  | PaymentPending
  | PaymentRefused
  | OperationDelayed
  | OperationRejected
  | PaymentReturned
