import type { ErrorBody } from "@agentos/api"
import { EXIT, type ExitCode } from "./ExitCode.ts"
import type { PaymentState } from "./Failure.ts"

/** The exit code of each error code of the API. The compiler holds it complete. */
export const ERROR_EXIT: Readonly<Record<ErrorBody["code"], ExitCode>> = {
  INVALID_REQUEST: EXIT.usage,
  AUTH_REQUIRED: EXIT.authentication,
  INVALID_TOKEN: EXIT.authentication,
  PAYMENT_REQUIRED: EXIT.payment,
  FORBIDDEN: EXIT.authentication,
  RESOURCE_NOT_OWNED: EXIT.authentication,
  RESOURCE_NOT_FOUND: EXIT.notFound,
  METHOD_NOT_ALLOWED: EXIT.usage,
  REQUEST_TIMEOUT: EXIT.failure,
  CONFLICT: EXIT.conflict,
  IDEMPOTENCY_CONFLICT: EXIT.conflict,
  PAYMENT_PENDING: EXIT.paymentUnknown,
  ALLOWANCE_EXHAUSTED: EXIT.conflict,
  NUMBER_EXPIRING: EXIT.conflict,
  NUMBER_RELEASED: EXIT.conflict,
  PAYLOAD_TOO_LARGE: EXIT.usage,
  URI_TOO_LONG: EXIT.usage,
  UNSUPPORTED_MEDIA_TYPE: EXIT.usage,
  UPGRADE_REQUIRED: EXIT.usage,
  ONBOARDING_REQUIRED: EXIT.authentication,
  RATE_LIMITED: EXIT.failure,
  HEADERS_TOO_LARGE: EXIT.usage,
  INTERNAL_ERROR: EXIT.failure,
  PROVIDER_TEMPORARY_FAILURE: EXIT.provider,
  PROVIDER_REJECTED: EXIT.provider,
  SERVICE_UNAVAILABLE: EXIT.provider
}

/** What a payment in this state means beside an error: `open` ones may still charge, or have charged without an answer. */
const OPEN: Readonly<Record<PaymentState, boolean>> = {
  none: false,
  pending: true,
  unknown: true,
  // Paid, and not yet given: the same request, repeated, will answer.
  settled: true,
  refund_due: false,
  refunded: false
}

/**
 * The exit code of an error of the API. An open payment makes it 8 whatever the
 * code, since paying again would be the one mistake that costs.
 */
export const exitOf = ({ code, paymentState }: Pick<ErrorBody, "code" | "paymentState">): ExitCode => {
  // A proof that was used for something else is settled, and there is nothing to wait for.
  if (code === "IDEMPOTENCY_CONFLICT" && paymentState === "settled") return EXIT.conflict
  if (paymentState !== undefined && OPEN[paymentState]) return EXIT.paymentUnknown
  // A newer server may know codes that this program does not.
  return ERROR_EXIT[code] ?? EXIT.failure
}
