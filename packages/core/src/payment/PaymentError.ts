import { Effect, Schema } from "effect"
import { PaymentState } from "./OperationState.ts"
import type { AllowanceRequired } from "./PaymentRail.ts"

/** The state of a payment whose operation is not complete. */
const OpenPaymentState = Schema.Literals(["pending", "unknown", "settled"])
/** The state of a payment that bought nothing and is owed back. */
const ReturnedPaymentState = Schema.Literals(["refund_due", "refunded"])
/** The value of PAYMENT-RESPONSE; null until the payment is refunded. */
const Receipt = Schema.NullOr(Schema.String)

/** Nothing was charged by this request. Pay the challenge, and repeat the request with the payment. */
export class PaymentRequired extends Schema.TaggedError<PaymentRequired>()("PaymentRequired", {
  /** The value of the PAYMENT-REQUIRED header. */
  challenge: Schema.String,
  /** The problem of the payment that came with the request; null when none came. */
  reason: Schema.NullOr(Schema.String),
  /** The payer's alternative to signing another payment. */
  remedy: Schema.optionalKey(Schema.String),
  /** The operation that holds the payment and its key, if it ended without a charge. */
  endedOperationId: Schema.optionalKey(Schema.String)
}) {}

/** The Idempotency-Key or the payment belongs to another request, or the payment was used elsewhere. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  message: Schema.String,
  paymentState: PaymentState
}) {}

/** The payment comes from a wallet other than the token's. Nothing was charged by this request. */
export class PayerMismatch extends Schema.TaggedError<PayerMismatch>()("PayerMismatch", {
  payer: Schema.String,
  paymentState: PaymentState
}) {}

/** The operation is in progress, or the state of its payment is not known yet. Repeat the same request unchanged. */
export class PaymentPending extends Schema.TaggedError<PaymentPending>()("PaymentPending", {
  operationId: Schema.String,
  paymentState: OpenPaymentState,
  retryAfterSeconds: Schema.Int,
  /** Why the payment was refused, while its authorization can still be used by others. */
  refusal: Schema.optionalKey(Schema.String),
  /** Why the operation does not go on, for its operator. */
  why: Schema.optionalKey(Schema.String)
}) {}

/** A provider is unreachable or unavailable. Repeat the same request unchanged: it is charged once at most. */
export class OperationDelayed extends Schema.TaggedError<OperationDelayed>()("OperationDelayed", {
  /** Null when nothing is claimed yet. */
  operationId: Schema.NullOr(Schema.String),
  paymentState: OpenPaymentState,
  message: Schema.String,
  retryAfterSeconds: Schema.Int
}) {}

const RETRY_AFTER_SECONDS = 5

/** Fails with `OperationDelayed`: nothing is claimed, and the state of the payment can't be determined now. */
export const undetermined = (message: string) =>
  Effect.fail(
    new OperationDelayed({
      operationId: null,
      paymentState: "unknown",
      message,
      retryAfterSeconds: RETRY_AFTER_SECONDS
    })
  )

/** The provider refused permanently after the payment had settled. The payment is refunded. */
export class OperationRejected extends Schema.TaggedError<OperationRejected>()("OperationRejected", {
  operationId: Schema.String,
  paymentState: ReturnedPaymentState,
  message: Schema.String,
  receipt: Receipt
}) {}

/**
 * A third party submitted the payment to the chain before the server claimed it. It bought nothing, and is refunded to
 * the wallet that paid.
 */
export class PaymentReturned extends Schema.TaggedError<PaymentReturned>()("PaymentReturned", {
  operationId: Schema.String,
  paymentState: ReturnedPaymentState,
  receipt: Receipt
}) {}

/** The operation is fulfilled, and its answer was deleted since (see `RetentionPolicy`). Nothing was charged or done again. */
export class AnswerExpired extends Schema.TaggedError<AnswerExpired>()("AnswerExpired", {
  operationId: Schema.String
}) {}

/** All payment failures of a paid request. */
export type PaymentError =
  | PaymentRequired
  | AllowanceRequired
  | IdempotencyConflict
  | PayerMismatch
  | PaymentPending
  | OperationDelayed
  | OperationRejected
  | PaymentReturned
  | AnswerExpired

/** The chain proves that the payment was not made and can no longer be used. Nothing was charged. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  operationId: Schema.String,
  message: Schema.String
}) {}

/** All reasons why advancing an operation can fail to return an answer now. */
export type OperationError =
  | IdempotencyConflict
  | PaymentPending
  | PaymentRefused
  | OperationDelayed
  | OperationRejected
  | PaymentReturned
  | AnswerExpired
