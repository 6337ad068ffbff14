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
  ANSWER_EXPIRED: 410,
  PERMIT2_ALLOWANCE_REQUIRED: 412,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UPGRADE_REQUIRED: 426,
  ONBOARDING_REQUIRED: 428,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
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
  ANSWER_EXPIRED: ["settled"],
  PERMIT2_ALLOWANCE_REQUIRED: UNUSED,
  PAYLOAD_TOO_LARGE: UNREAD,
  URI_TOO_LONG: UNREAD,
  UNSUPPORTED_MEDIA_TYPE: UNREAD,
  UPGRADE_REQUIRED: [],
  ONBOARDING_REQUIRED: ANY,
  RATE_LIMITED: UNREAD,
  QUOTA_EXCEEDED: UNUSED,
  HEADERS_TOO_LARGE: UNREAD,
  INTERNAL_ERROR: UNREAD,
  PROVIDER_TEMPORARY_FAILURE: ["none", "pending", "unknown", "settled"],
  PROVIDER_REJECTED: ["refund_due", "refunded"],
  SERVICE_UNAVAILABLE: UNREAD
} as const satisfies Readonly<Record<ErrorCode, ReadonlyArray<PaymentState>>>

export const canHavePaymentState = (code: ErrorCode, state: PaymentState): boolean => {
  const states: ReadonlyArray<PaymentState> = ERROR_PAYMENT_STATES[code]
  return states.includes(state)
}

export const ERROR_RECOVERY: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: "Fix each issue in `error.issues`: `path` is the invalid part.",
  AUTH_REQUIRED:
    "The token is malformed, unknown or revoked. Sign in with your wallet to get its current one, which is free.",
  INVALID_TOKEN:
    "The token is of the wrong kind or has expired. Use access tokens for REST and realtime tokens for the WebSocket.",
  PAYMENT_REQUIRED: "Pay the challenge in PAYMENT-REQUIRED, then repeat the identical request.",
  FORBIDDEN: "The payment comes from another wallet than the token's. Pay from the token's wallet.",
  RESOURCE_NOT_OWNED: "The resource belongs to another tenant. Use one of your own.",
  RESOURCE_NOT_FOUND: "Refresh your ids from the list in `error.next`. Do not guess ids.",
  METHOD_NOT_ALLOWED: "Use a method from the Allow header.",
  REQUEST_TIMEOUT: "The request did not arrive in time. Send it again.",
  CONFLICT: "The request conflicts with the current state, such as an address that is taken. Change the request.",
  IDEMPOTENCY_CONFLICT: "Repeat the original request with its key and payment, or use a new key for a new operation.",
  PAYMENT_PENDING: "Wait for the seconds in Retry-After, then repeat the identical request. Do not pay again.",
  ALLOWANCE_EXHAUSTED: "Buy inbound minutes.",
  NUMBER_EXPIRING: "Renew the number first.",
  NUMBER_RELEASED: "The number was released or has expired. Buy another number.",
  ANSWER_EXPIRED:
    "The operation was paid and fulfilled; its response is no longer kept. Nothing was charged or done again. Read the resource by its list, or use a new key and a new payment for a new operation.",
  PERMIT2_ALLOWANCE_REQUIRED:
    "Sign and send the transaction in `error.transaction` from the wallet that pays, once for each token. Then repeat the identical request. Nothing was charged.",
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  URI_TOO_LONG: "Send a shorter request target.",
  UNSUPPORTED_MEDIA_TYPE: "Send JSON in UTF-8, with Content-Type: application/json.",
  UPGRADE_REQUIRED: "Connect with the WebSocket protocol.",
  ONBOARDING_REQUIRED:
    "Sign in by `POST /api/v1/auth/token`, which is free, if the wallet has bought here before. Otherwise call the start-here service in `error.onboarding`. Nothing was charged.",
  RATE_LIMITED: "Wait for the seconds in Retry-After, then repeat the request.",
  QUOTA_EXCEEDED:
    "A quota of your wallet, named in `error.quota`, is used up. Wait for the seconds in Retry-After, or read your limits by `GET /api/v1/limits`.",
  HEADERS_TOO_LARGE: "Send fewer or shorter headers.",
  INTERNAL_ERROR: "Repeat the identical request. If it fails again, report the requestId to the operator.",
  PROVIDER_TEMPORARY_FAILURE:
    "Wait for the seconds in Retry-After, then repeat the identical request with the same key and payment.",
  PROVIDER_REJECTED: "The provider refused permanently. The payment is refunded to your wallet.",
  SERVICE_UNAVAILABLE:
    "This server does not offer the service, or not at the moment. Wait for the seconds in Retry-After if the response has it. Otherwise see the catalog for the services that it offers."
}
