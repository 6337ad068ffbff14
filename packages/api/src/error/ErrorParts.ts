import type { CatalogEntry, ErrorCode, Issue, PaymentState } from "@agentos/core"
import type { NextCall, Onboarding } from "./ErrorEnvelope.ts"

/** The request that failed, as far as its error speaks of it. */
export interface FailedRequest {
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The operation that it was for; null when it was for none. */
  readonly entry: CatalogEntry | null
  /** Whether it came with a payment of which nobody has looked up what became of it: it may have settled before. */
  readonly hasUnknownPayment: boolean
}

/** What is peculiar to an error on the wire. What all errors have is added to it. */
export interface ErrorParts {
  readonly code: ErrorCode
  /** What happened and what to do. Where nothing was charged, that is added to it. */
  readonly message: string
  /** False when left out. */
  readonly retryable?: boolean
  /** When left out: `none`, or `unknown` where the request has a payment of which nothing was looked up. */
  readonly paymentState?: PaymentState
  readonly next?: NextCall | undefined
  readonly issues?: ReadonlyArray<Issue>
  readonly onboarding?: Onboarding
  readonly headers?: Readonly<Record<string, string>>
}
