import { type ApiError, type ErrorBody, toWireError } from "@agentos/api"
import type { ErrorCode, PaymentState } from "@agentos/core"
import { randomUUID } from "node:crypto"

/**
 * The error of a use case. `code` and `status` are those of the HTTP API: 402 `PAYMENT_REQUIRED` has the challenge to pay,
 * 409 `PAYMENT_PENDING` is to be repeated unchanged, 428 `ONBOARDING_REQUIRED` needs a tenant.
 */
export class AgentOsError extends Error {
  override readonly name = "AgentOsError"
  readonly code: ErrorCode
  readonly status: number
  readonly requestId: string
  /** Whether the same call, unchanged, may succeed later. */
  readonly retryable: boolean
  readonly retryAfterSeconds: number | null
  /** Whether money moved; null for use cases that are free. */
  readonly paymentState: PaymentState | null
  /** Every invalid part of the input. */
  readonly issues: NonNullable<ErrorBody["issues"]>
  /** The challenge of 402: the value of the header PAYMENT-REQUIRED. */
  readonly challenge: string | null

  constructor(status: number, error: ErrorBody, headers: Headers = new Headers()) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.requestId = error.requestId
    this.retryable = error.retryable
    this.paymentState = error.paymentState ?? null
    this.issues = error.issues ?? []
    this.challenge = headers.get("payment-required")
    const retryAfter = headers.get("retry-after")
    this.retryAfterSeconds = retryAfter === null ? null : Number(retryAfter)
  }
}

const CAPABILITIES = { email: true, phone: true }

/** Returns an error of the core as the API would answer it. */
export const toAgentOsError = (error: ApiError): AgentOsError => {
  const request = { requestId: randomUUID(), method: "", path: "", entry: null, capabilities: CAPABILITIES }
  const { body, headers, status } = toWireError(error, { ...request, paymentState: "none" })
  return new AgentOsError(status, body.error, new Headers(headers))
}
