import type { Capabilities, CatalogEntry, ErrorCode, Issue, PaymentState } from "@agentos/core"
import type { NextCall } from "../schema/NextCall.ts"
import type { Onboarding } from "./ErrorEnvelope.ts"
import type { ERROR_PAYMENT_STATES } from "./ErrorStatus.ts"

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
  readonly next?: NextCall | undefined
  readonly issues?: ReadonlyArray<Issue>
  readonly onboarding?: Onboarding
  readonly headers?: Readonly<Record<string, string>>
}
