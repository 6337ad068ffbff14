import { ErrorCode, Issue, PaymentState, PriceRecord, ServiceId, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { Guides } from "../Guides.ts"
import { NextCall } from "../schema/NextCall.ts"

/**
 * How a caller without an access token obtains one: the start-here service to call, its price and its required inputs.
 */
export const Onboarding = Schema.Struct({
  serviceId: ServiceId,
  method: Schema.Literals(["GET", "POST"]),
  endpoint: Schema.String,
  price: PriceRecord,
  requiredInput: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String }))
}).annotate({ identifier: "Onboarding" })
export type Onboarding = typeof Onboarding.Type

/** The error, whether money moved, and the next step. */
export const ErrorBody = Schema.Struct({
  code: ErrorCode,
  /** For people. Programs use the other fields. */
  message: Schema.String,
  requestId: Uuid.Uuid,
  /** Whether the same request, unchanged, may succeed later. */
  retryable: Schema.Boolean,
  /** The state of the payment. Only on paid operations. */
  paymentState: Schema.optionalKey(PaymentState),
  next: Schema.optionalKey(NextCall),
  /** Every invalid part of the request. */
  issues: Schema.optionalKey(Schema.Array(Issue.annotate({ identifier: "Issue" }))),
  onboarding: Schema.optionalKey(Onboarding)
})
export type ErrorBody = typeof ErrorBody.Type

/** The envelope of every error response. */
export const ErrorEnvelope = Schema.Struct({ error: ErrorBody, guides: Guides }).annotate({ identifier: "Error" })
export type ErrorEnvelope = typeof ErrorEnvelope.Type
