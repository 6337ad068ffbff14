import type { CatalogEntry, ErrorCode, Issue, PaymentState } from "@agentos/core"
import type { NextCall, Onboarding } from "./ErrorEnvelope.ts"

/** The parts of a failed request that its error response needs. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The operation of the request; null if it matches none. */
  readonly entry: CatalogEntry | null
  /** Whether the request has a payment whose state was not checked, so that it may have settled before. */
  readonly hasUnknownPayment: boolean
}

/** The parts of a response that are specific to one error. The common parts are added to them. */
export interface ErrorParts {
  readonly code: ErrorCode
  /** States the problem and the fix. A note is added where nothing was charged. */
  readonly message: string
  /** False by default. */
  readonly retryable?: boolean
  /** The default is `none`, or `unknown` if the request has a payment that was not checked. */
  readonly paymentState?: PaymentState
  readonly next?: NextCall | undefined
  readonly issues?: ReadonlyArray<Issue>
  readonly onboarding?: Onboarding
  readonly headers?: Readonly<Record<string, string>>
}
