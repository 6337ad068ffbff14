import {
  type Capabilities,
  type CatalogEntry,
  ErrorCode,
  Issue,
  PaymentState,
  PriceRecord,
  ServiceId,
  TimedQuota,
  Uuid
} from "@agentos/core"
import { Schema } from "effect"
import { Guides } from "../Guides.ts"
import { NextCall } from "../schema/NextCall.ts"
import type { ERROR_PAYMENT_STATES } from "./ErrorStatus.ts"

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
  /** The operation that the error is about. Absent if it is about none, or about one that the caller may not see. */
  operationId: Schema.optionalKey(Uuid.Uuid),
  next: Schema.optionalKey(NextCall),
  /** Every invalid part of the request. */
  issues: Schema.optionalKey(Schema.Array(Issue.annotate({ identifier: "Issue" }))),
  onboarding: Schema.optionalKey(Onboarding),
  /** The exceeded quota. Only with QUOTA_EXCEEDED. */
  quota: Schema.optionalKey(TimedQuota)
})
export type ErrorBody = typeof ErrorBody.Type

/** The envelope of every error response. */
export const ErrorEnvelope = Schema.Struct({ error: ErrorBody, guides: Guides }).annotate({ identifier: "Error" })
export type ErrorEnvelope = typeof ErrorEnvelope.Type

/** The parts of a failed request that its error response needs. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The operation of the request; null if it matches none. */
  readonly entry: CatalogEntry | null
  /** The services that this server offers: `next` names no other. */
  readonly capabilities: Capabilities
  /**
   * The state of the request's payment, unless the error states it: `none` without a payment, `unknown` if it was not
   * checked, so that it may have settled before.
   */
  readonly paymentState: PaymentState
}

/**
 * The parts of a response that are specific to one error. The common parts are added to them. The type excludes the
 * payment states that an error with the code can't have.
 */
export type ErrorParts = { readonly [Code in ErrorCode]: PartsOf<Code> }[ErrorCode]

interface PartsOf<Code extends ErrorCode> {
  readonly code: Code
  /** States the problem and the fix. A note is added where nothing was charged. */
  readonly message: string
  /** False by default. */
  readonly retryable?: boolean
  /** The default is that of the request. */
  readonly paymentState?: (typeof ERROR_PAYMENT_STATES)[Code][number]
  readonly operationId?: string | undefined
  readonly next?: NextCall | undefined
  readonly issues?: ReadonlyArray<Issue>
  readonly onboarding?: Onboarding
  readonly quota?: TimedQuota
  readonly headers?: Readonly<Record<string, string>>
}
