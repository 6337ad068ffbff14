import type { ErrorCode, PaymentState } from "@agentos/core"

/** The HTTP status of each error code. Each code has exactly one status. */
export const ERROR_STATUS = {
  INVALID_REQUEST: 400,
  AUTH_REQUIRED: 401,
  INVALID_TOKEN: 401,
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  RESOURCE_NOT_OWNED: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 409,
  PAYMENT_PENDING: 409,
  ALLOWANCE_EXHAUSTED: 409,
  NUMBER_EXPIRING: 409,
  NUMBER_RELEASED: 409,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UPGRADE_REQUIRED: 426,
  ONBOARDING_REQUIRED: 428,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  PROVIDER_TEMPORARY_FAILURE: 502,
  PROVIDER_REJECTED: 502,
  SERVICE_UNAVAILABLE: 503
} as const satisfies Readonly<Record<ErrorCode, number>>

export type ErrorStatus = (typeof ERROR_STATUS)[ErrorCode]

const ANY = ["none", "pending", "settled", "refund_due", "refunded", "unknown"] as const
/** Found before the payment is processed: the payment is unused, or none was sent. */
const UNUSED = ["none"] as const
/** Answered before the payment was read: `unknown` if one was sent. */
const UNREAD = ["none", "unknown"] as const

/**
 * The payment states that an error of a paid operation can have, by code. A request whose payment is not its own
 * (another key, token, wallet or request) is answered with the state of that payment, which can be any.
 */
export const ERROR_PAYMENT_STATES = {
  INVALID_REQUEST: ANY,
  AUTH_REQUIRED: ANY,
  INVALID_TOKEN: ANY,
  PAYMENT_REQUIRED: UNUSED,
  FORBIDDEN: ANY,
  RESOURCE_NOT_OWNED: UNUSED,
  RESOURCE_NOT_FOUND: UNUSED,
  METHOD_NOT_ALLOWED: [],
  REQUEST_TIMEOUT: UNREAD,
  CONFLICT: UNUSED,
  IDEMPOTENCY_CONFLICT: ANY,
  PAYMENT_PENDING: ["pending", "unknown", "settled"],
  ALLOWANCE_EXHAUSTED: UNUSED,
  NUMBER_EXPIRING: UNUSED,
  NUMBER_RELEASED: UNUSED,
  PAYLOAD_TOO_LARGE: UNREAD,
  URI_TOO_LONG: UNREAD,
  UNSUPPORTED_MEDIA_TYPE: UNREAD,
  UPGRADE_REQUIRED: [],
  ONBOARDING_REQUIRED: ANY,
  RATE_LIMITED: UNREAD,
  HEADERS_TOO_LARGE: UNREAD,
  INTERNAL_ERROR: UNREAD,
  PROVIDER_TEMPORARY_FAILURE: ["none", "pending", "unknown", "settled"],
  PROVIDER_REJECTED: ["refund_due", "refunded"],
  SERVICE_UNAVAILABLE: UNREAD
} as const satisfies Readonly<Record<ErrorCode, ReadonlyArray<PaymentState>>>

/** Returns whether an error with this code can have this payment state. */
export const canHavePaymentState = (code: ErrorCode, state: PaymentState): boolean => {
  const states: ReadonlyArray<PaymentState> = ERROR_PAYMENT_STATES[code]
  return states.includes(state)
}
