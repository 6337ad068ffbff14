import { Schema } from "effect"

/** All error codes that a client can receive. Their HTTP statuses are defined in the API contract. */
export const ErrorCode = Schema.Literals([
  "INVALID_REQUEST",
  "AUTH_REQUIRED",
  "INVALID_TOKEN",
  "PAYMENT_REQUIRED",
  "FORBIDDEN",
  "RESOURCE_NOT_OWNED",
  "RESOURCE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "REQUEST_TIMEOUT",
  "CONFLICT",
  "IDEMPOTENCY_CONFLICT",
  "PAYMENT_PENDING",
  "ALLOWANCE_EXHAUSTED",
  "NUMBER_EXPIRING",
  "NUMBER_RELEASED",
  "PERMIT2_ALLOWANCE_REQUIRED",
  "PAYLOAD_TOO_LARGE",
  "URI_TOO_LONG",
  "UNSUPPORTED_MEDIA_TYPE",
  "UPGRADE_REQUIRED",
  "ONBOARDING_REQUIRED",
  "RATE_LIMITED",
  "QUOTA_EXCEEDED",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "PROVIDER_TEMPORARY_FAILURE",
  "PROVIDER_REJECTED",
  "SERVICE_UNAVAILABLE"
]).annotate({ identifier: "ErrorCode" })
export type ErrorCode = typeof ErrorCode.Type
