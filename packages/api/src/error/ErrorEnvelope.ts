import { ErrorCode, Issue, PaymentState, ServiceId, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { Guides } from "../Guides.ts"
import { PriceRecord } from "../Price.ts"

/** A call to make. Without a body, it has none, or the same one as the call that failed. */
export const NextCall = Schema.Struct({
  method: Schema.Literals(["GET", "POST"]),
  path: Schema.String,
  body: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}).annotate({ identifier: "NextCall" })
export type NextCall = typeof NextCall.Type

/** How a caller without an access token gets one: the start-here service to call, and what it costs and needs. */
export const Onboarding = Schema.Struct({
  serviceId: ServiceId,
  method: Schema.Literals(["GET", "POST"]),
  endpoint: Schema.String,
  price: PriceRecord,
  requiredInput: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String }))
}).annotate({ identifier: "Onboarding" })
export type Onboarding = typeof Onboarding.Type

/** What went wrong, whether money moved, and what to do. */
export const ErrorBody = Schema.Struct({
  code: ErrorCode,
  /** For people; programs go by the other fields. */
  message: Schema.String,
  requestId: Uuid.Uuid,
  /** Whether the same request, unchanged, may succeed later. */
  retryable: Schema.Boolean,
  /** What became of the payment; on paid operations alone. */
  paymentState: Schema.optionalKey(PaymentState),
  next: Schema.optionalKey(NextCall),
  /** Every part of the request that is wrong. */
  issues: Schema.optionalKey(Schema.Array(Issue.annotate({ identifier: "Issue" }))),
  onboarding: Schema.optionalKey(Onboarding)
})
export type ErrorBody = typeof ErrorBody.Type

/** Every answer that is not a success. */
export const ErrorEnvelope = Schema.Struct({ error: ErrorBody, guides: Guides }).annotate({ identifier: "Error" })
export type ErrorEnvelope = typeof ErrorEnvelope.Type
