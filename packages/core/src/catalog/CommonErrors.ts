import type { ErrorCode } from "./ErrorCode.ts"

/** The errors that every operation with a bearer token may return. */
export const BEARER_ERRORS = [
  "INVALID_REQUEST",
  "ONBOARDING_REQUIRED",
  "AUTH_REQUIRED",
  "INVALID_TOKEN",
  "RATE_LIMITED"
] as const satisfies ReadonlyArray<ErrorCode>

/** The errors of an operation that a wallet signs in to. */
export const SIGN_IN_ERRORS = [
  "INVALID_REQUEST",
  "AUTH_REQUIRED",
  "PAYMENT_REQUIRED",
  "FORBIDDEN",
  "RESOURCE_NOT_FOUND",
  "RATE_LIMITED",
  "PROVIDER_TEMPORARY_FAILURE"
] as const satisfies ReadonlyArray<ErrorCode>

/** The errors that every paid operation may return. */
export const PAID_ERRORS = [
  "INVALID_REQUEST",
  "AUTH_REQUIRED",
  "INVALID_TOKEN",
  "PAYMENT_REQUIRED",
  "FORBIDDEN",
  "CONFLICT",
  "IDEMPOTENCY_CONFLICT",
  "PAYMENT_PENDING",
  "ANSWER_EXPIRED",
  "PERMIT2_ALLOWANCE_REQUIRED",
  "RATE_LIMITED",
  "PROVIDER_TEMPORARY_FAILURE",
  "PROVIDER_REJECTED",
  "SERVICE_UNAVAILABLE"
] as const satisfies ReadonlyArray<ErrorCode>

/** The errors that every paid operation on a tenant's resource may return. */
export const PAID_BEARER_ERRORS = [
  ...PAID_ERRORS,
  "ONBOARDING_REQUIRED",
  "RESOURCE_NOT_FOUND",
  "RESOURCE_NOT_OWNED"
] as const satisfies ReadonlyArray<ErrorCode>
