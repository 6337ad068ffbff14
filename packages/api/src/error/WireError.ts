import type { PaymentState } from "@agentos/core"
import { GUIDES } from "../Guides.ts"
import { type DomainError, domainErrorParts } from "./DomainErrorParts.ts"
import type { ErrorEnvelope, ErrorParts, FailedRequest } from "./ErrorEnvelope.ts"
import { ERROR_STATUS } from "./ErrorStatus.ts"
import { isRequestError, type RequestError } from "./RequestError.ts"
import { requestErrorParts } from "./RequestErrorParts.ts"

export type ApiError = DomainError | RequestError

/** An error as sent to the client. */
export interface WireError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ErrorEnvelope
}

/** Returns the response to an error: status, headers and envelope. */
export const toWireError = (error: ApiError, request: FailedRequest): WireError => {
  const parts = isRequestError(error) ? requestErrorParts(error, request) : domainErrorParts(error, request)
  const { code, headers, issues, next, onboarding, operationId, quota, retryable, transaction } = parts
  const isPaid = request.entry !== null && request.entry.price !== null
  return {
    status: ERROR_STATUS[code],
    headers: headers ?? {},
    body: {
      error: {
        code,
        message: isPaid ? withMoney(parts, request) : parts.message,
        requestId: request.requestId,
        retryable: retryable ?? false,
        ...(isPaid ? { paymentState: parts.paymentState ?? request.paymentState } : {}),
        ...(operationId === undefined ? {} : { operationId }),
        ...(next === undefined ? {} : { next }),
        ...(issues === undefined ? {} : { issues }),
        ...(onboarding === undefined ? {} : { onboarding }),
        ...(quota === undefined ? {} : { quota }),
        ...(transaction === undefined ? {} : { transaction })
      },
      guides: GUIDES
    }
  }
}

/**
 * Adds to the message that nothing was charged, if that is certain, or that a payment which may have been charged must
 * be kept. The message of an error that states the payment's state says it itself.
 */
const withMoney = ({ message, paymentState }: ErrorParts, request: FailedRequest): string => {
  const state = paymentState ?? request.paymentState
  if (state === "none") return `${message} Nothing was charged.`
  return paymentState === undefined ? `${message} ${KEEP_PAYMENT[state]}` : message
}

const KEEP_PAYMENT: Readonly<Record<Exclude<PaymentState, "none">, string>> = {
  unknown:
    "The payment was not processed and may have been used before. Fix the request, then retry with the same payment. Do not sign another.",
  pending:
    "The payment belongs to an operation in progress. Fix the request, then retry with the same payment. Do not sign another.",
  settled: "The payment has been charged before. Repeat the request for which it was signed to get its answer.",
  refund_due: "The payment has been charged before, and is being refunded to the wallet that paid.",
  refunded: "The payment has been charged before, and was refunded to the wallet that paid."
}
