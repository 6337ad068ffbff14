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
  serviceId: ServiceId.annotateKey({ description: "Id of the service to start with." }),
  method: Schema.Literals(["GET", "POST"]).annotateKey({ description: "Method of the service." }),
  endpoint: Schema.String.annotateKey({ description: "Path of the service." }),
  price: PriceRecord.annotateKey({ description: "Price of the service." }),
  requiredInput: Schema.Array(
    Schema.Struct({
      name: Schema.String.annotateKey({ description: "Name of the input." }),
      description: Schema.String.annotateKey({ description: "Description of the input with its limits." })
    })
  ).annotateKey({ description: "The inputs that the service requires." })
}).annotate({ identifier: "Onboarding" })
export type Onboarding = typeof Onboarding.Type

/** A transaction for the payer's wallet to sign and send, without value. */
export const WalletTransaction = Schema.Struct({
  network: Schema.String.annotateKey({ description: "CAIP-2 id of the chain." }),
  to: Schema.String.annotateKey({ description: "The called contract: the token." }),
  data: Schema.String.annotateKey({ description: "The data of the call: `approve` for Permit2." })
}).annotate({ identifier: "WalletTransaction" })
export type WalletTransaction = typeof WalletTransaction.Type

/** The error, whether money moved, and the next step. */
export const ErrorBody = Schema.Struct({
  code: ErrorCode.annotateKey({ description: "The error code, for programs." }),
  message: Schema.String.annotateKey({ description: "The problem and the fix, for people." }),
  requestId: Uuid.Uuid.annotateKey({ description: "Id of the request. It also appears in the server's log." }),
  retryable: Schema.Boolean.annotateKey({ description: "Whether the same request, unchanged, may succeed later." }),
  paymentState: Schema.optionalKey(PaymentState).annotateKey({
    description: "State of the payment of the request. Only on paid operations."
  }),
  operationId: Schema.optionalKey(Uuid.Uuid).annotateKey({
    description: "The operation that the error is about. Absent if it is about none, or about one that you may not see."
  }),
  next: Schema.optionalKey(NextCall).annotateKey({
    description: "The call to make next. Absent if none follows from the error."
  }),
  issues: Schema.optionalKey(Schema.Array(Issue.annotate({ identifier: "Issue" }))).annotateKey({
    description: "Every invalid part of the request. Only with INVALID_REQUEST."
  }),
  onboarding: Schema.optionalKey(Onboarding).annotateKey({
    description: "The service to start with. Only with ONBOARDING_REQUIRED."
  }),
  quota: Schema.optionalKey(TimedQuota).annotateKey({ description: "The exceeded quota. Only with QUOTA_EXCEEDED." }),
  transaction: Schema.optionalKey(WalletTransaction).annotateKey({
    description: "The transaction that the payer's wallet sends. Only with PERMIT2_ALLOWANCE_REQUIRED."
  })
})
export type ErrorBody = typeof ErrorBody.Type

/** The envelope of every error response. */
export const ErrorEnvelope = Schema.Struct({
  error: ErrorBody.annotateKey({ description: "The error and the next step." }),
  guides: Guides.annotateKey({ description: "Paths of the documentation." })
}).annotate({ identifier: "Error" })
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
  readonly transaction?: WalletTransaction
  readonly headers?: Readonly<Record<string, string>>
}
