import { AgentOsError, type ErrorDetails, type MoneyMoved, type WireErrorCode } from "../AgentOsError.ts"
import { isRecord, type Json } from "../Encoding.ts"
import type { components } from "../generated/Components.ts"
import { type Answer, retryAfterSeconds } from "./Answer.ts"

type WireError = components["schemas"]["Error"]["error"]

const MONEY_MOVED: Readonly<Record<NonNullable<WireError["paymentState"]>, MoneyMoved>> = {
  none: "no",
  pending: "unknown",
  settled: "yes",
  refund_due: "refund_due",
  refunded: "refunded",
  unknown: "unknown"
}

/** Returns whether money moved, by the state that the server reports for a payment. */
export const moneyMovedBy = (state: NonNullable<WireError["paymentState"]>): MoneyMoved => MONEY_MOVED[state]

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300

/** Returns the error in an answer; undefined if the answer is not an error of this API. */
export const wireErrorIn = ({ json }: Answer): WireError | undefined => {
  const error = isRecord(json) ? json["error"] : undefined
  return isRecord(error) && typeof error["code"] === "string" && typeof error["message"] === "string"
    ? (error as unknown as WireError)
    : undefined
}

/** Whether the access token was refused, because it is not valid or was revoked. */
export const isTokenRefused = (answer: Answer): boolean =>
  ["AUTH_REQUIRED", "INVALID_TOKEN"].includes(wireErrorIn(answer)?.code ?? "")

/** Returns `data` of a successful answer; undefined for any other. */
export const dataIn = (answer: Answer): Json | undefined => {
  const data = isSuccess(answer) && isRecord(answer.json) ? answer.json["data"] : undefined
  return isRecord(data) ? data : undefined
}

/** Returns `data` of a successful answer. Throws the error of any other. */
export const dataOf = (answer: Answer): Json => {
  const data = dataIn(answer)
  if (data !== undefined) return data
  throw errorOf(answer)
}

const detailsOf = (error: WireError, answer: Answer): ErrorDetails<WireErrorCode> => {
  switch (error.code) {
    case "INVALID_REQUEST":
      return { issues: error.issues ?? [] }
    case "ONBOARDING_REQUIRED":
      return { onboarding: error.onboarding ?? null }
    case "PERMIT2_ALLOWANCE_REQUIRED":
      return { transaction: error.transaction ?? null }
    case "PAYMENT_PENDING":
    case "RATE_LIMITED":
    case "QUOTA_EXCEEDED":
    case "PROVIDER_TEMPORARY_FAILURE":
    case "SERVICE_UNAVAILABLE":
      return { retryAfterSeconds: retryAfterSeconds(answer) }
    default:
      return {}
  }
}

/** Returns the error of an answer. `moneyMoved` replaces the value in the answer. */
export const errorOf = (answer: Answer, moneyMoved?: MoneyMoved): AgentOsError => {
  const { headers, status } = answer
  const error = wireErrorIn(answer)
  const requestId = headers.get("x-request-id")
  if (error === undefined)
    return new AgentOsError({
      code: "UNEXPECTED_ANSWER",
      message: `The answer with status ${status} is not one of this API. Is the base URL that of an AgentOS?`,
      status,
      requestId,
      moneyMoved: moneyMoved ?? "no",
      isRetryable: status >= 500,
      answer
    })
  return new AgentOsError({
    code: error.code,
    message: error.message,
    details: detailsOf(error, answer),
    status,
    requestId: error.requestId ?? requestId,
    moneyMoved: moneyMoved ?? moneyMovedBy(error.paymentState ?? "none"),
    isRetryable: error.retryable,
    nextCalls: error.next === undefined ? [] : [error.next],
    answer
  }) as AgentOsError
}
