import type { ErrorCode } from "@agentos/core"

/** The recommended action for each error. */
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
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  URI_TOO_LONG: "Send a shorter request target.",
  UNSUPPORTED_MEDIA_TYPE: "Send JSON in UTF-8, with Content-Type: application/json.",
  UPGRADE_REQUIRED: "Connect with the WebSocket protocol.",
  ONBOARDING_REQUIRED:
    "Sign in by `POST /api/v1/auth/token`, which is free, if the wallet has bought here before. Otherwise call the start-here service in `error.onboarding`. Nothing was charged.",
  RATE_LIMITED: "Wait for the seconds in Retry-After, then repeat the request.",
  HEADERS_TOO_LARGE: "Send fewer or shorter headers.",
  INTERNAL_ERROR: "Repeat the identical request. If it fails again, report the requestId to the operator.",
  PROVIDER_TEMPORARY_FAILURE:
    "Wait for the seconds in Retry-After, then repeat the identical request with the same key and payment.",
  PROVIDER_REJECTED: "The provider refused permanently. The payment is refunded to your wallet.",
  SERVICE_UNAVAILABLE: "This server does not offer the service. See its catalog for the services that it offers."
}
