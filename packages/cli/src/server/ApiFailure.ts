import {
  EXIT,
  type ExitCode,
  Failure,
  type FailureIssue,
  type OwnCode,
  type PaymentState,
  plainLine
} from "@agentos/node/command-line"
import type { ErrorBody } from "@agentos/api"
import { AgentOsError, type Answer } from "@agentos/client"
import { isRecord } from "../file/Json.ts"
import { nextCommand } from "./Routes.ts"

/** The exit code of each error code of the API. The compiler checks that it is complete. */
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
  ANSWER_EXPIRED: EXIT.conflict,
  PERMIT2_ALLOWANCE_REQUIRED: EXIT.payment,
  PAYLOAD_TOO_LARGE: EXIT.usage,
  URI_TOO_LONG: EXIT.usage,
  UNSUPPORTED_MEDIA_TYPE: EXIT.usage,
  UPGRADE_REQUIRED: EXIT.usage,
  ONBOARDING_REQUIRED: EXIT.authentication,
  RATE_LIMITED: EXIT.failure,
  QUOTA_EXCEEDED: EXIT.failure,
  HEADERS_TOO_LARGE: EXIT.usage,
  INTERNAL_ERROR: EXIT.failure,
  PROVIDER_TEMPORARY_FAILURE: EXIT.provider,
  PROVIDER_REJECTED: EXIT.provider,
  SERVICE_UNAVAILABLE: EXIT.provider
}

/** Whether an error with this payment state leaves the payment open: it may still be charged, or be paid and unanswered. */
const OPEN: Readonly<Record<PaymentState, boolean>> = {
  none: false,
  pending: true,
  unknown: true,
  // Paid but not fulfilled: the same request, repeated, returns the result.
  settled: true,
  refund_due: false,
  refunded: false
}

/** An open payment exits with 8 whatever the code, because paying again would be the expensive mistake. */
const exitOf = (code: ErrorBody["code"], paymentState: PaymentState | undefined): ExitCode => {
  // The payment is settled, for another request or long ago: there is nothing to wait for.
  if ((code === "IDEMPOTENCY_CONFLICT" || code === "ANSWER_EXPIRED") && paymentState === "settled") return EXIT.conflict
  if (paymentState !== undefined && OPEN[paymentState]) return EXIT.paymentUnknown
  // A newer server may use codes that this version does not know.
  return ERROR_EXIT[code] ?? EXIT.failure
}

/** Errors that another token would solve. */
const NEEDS_TOKEN: ReadonlySet<string> = new Set(["AUTH_REQUIRED", "INVALID_TOKEN", "ONBOARDING_REQUIRED"])

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const issuesOf = (value: unknown): ReadonlyArray<FailureIssue> =>
  Array.isArray(value)
    ? value
        .filter(isRecord)
        .map(({ message, path }) => ({ path: plainLine(text(path) ?? ""), message: plainLine(text(message) ?? "") }))
    : []

const nextOf = (value: unknown): ReadonlyArray<string> => {
  if (!isRecord(value)) return []
  const { body, method, path } = value
  if (typeof method !== "string" || typeof path !== "string") return []
  const command = nextCommand({ method, path, body })
  // A command with invisible characters would not be the one that the user reads before running it.
  return command === plainLine(command) ? [command] : []
}

export const requestIdOf = ({ headers }: Answer): string | undefined => headers.get("x-request-id") ?? undefined

/** Returns the command that gives a missing allowance, for an id of a network. */
const allowCommand = (network: unknown): ReadonlyArray<string> =>
  typeof network === "string" && /^eip155:[1-9]\d{0,14}$/.test(network) ? [`agentctl wallet allow ${network}`] : []

/** Turns an error response into a failure. A response without the error envelope comes from another kind of server. */
export const apiFailure = (answer: Answer, url: string): Failure => {
  const envelope = answer.json
  const error = isRecord(envelope) && isRecord(envelope["error"]) ? envelope["error"] : undefined
  const code = text(error?.["code"])
  if (error === undefined || code === undefined)
    return new Failure({
      code: "UNEXPECTED_ANSWER",
      message: `${url} returned ${answer.status} with a body that is not from the AgentOS API. Is the URL correct?`,
      requestId: requestIdOf(answer),
      next: ["agentctl config list"]
    })
  const paymentState = (Object.keys(OPEN) as Array<PaymentState>).find((state) => state === error["paymentState"])
  const known = code as ErrorBody["code"]
  const login = code === "AUTH_REQUIRED" ? "agentctl login" : "agentctl login --wallet"
  const advised = nextOf(error["next"])
  // One way to a token is enough.
  const onboarding =
    NEEDS_TOKEN.has(code) && !advised.some((command) => command.startsWith("agentctl login")) ? [login] : []
  const transaction = code === "PERMIT2_ALLOWANCE_REQUIRED" ? error["transaction"] : undefined
  const allowing = isRecord(transaction) ? allowCommand(transaction["network"]) : []
  const next = [...onboarding, ...allowing, ...advised]
  // On one line, because the lines below it (the money, the next command) are agentctl's own.
  const message = withoutRequests(plainLine(text(error["message"]) ?? code), next)
  return new Failure({
    code: known,
    exit: exitOf(known, paymentState),
    message: code in ERROR_EXIT || message.includes(code) ? message : `${code}: ${message}`,
    requestId: text(error["requestId"]) ?? requestIdOf(answer),
    retryable: error["retryable"] === true,
    paymentState,
    next,
    issues: issuesOf(error["issues"])
  })
}

/** Advice for programs that send the requests themselves. */
const FOR_PROGRAMS = /\b(?:GET|POST|DELETE) \/|PAYMENT-(?:REQUIRED|SIGNATURE)\b/

/** Removes the sentences that name HTTP requests and headers, which the next command replaces. Keeps the first one. */
const withoutRequests = (message: string, next: ReadonlyArray<string>): string =>
  next.length === 0
    ? message
    : message
        .split(/(?<=[.!?]) (?=[A-Z])/)
        .filter((sentence, index) => index === 0 || !FOR_PROGRAMS.test(sentence))
        .join(" ")

/** The codes of errors of the client that are not those of the API. */
const OWN_CODES: Readonly<Record<string, OwnCode>> = {
  UNREACHABLE: "UNREACHABLE",
  UNEXPECTED_ANSWER: "UNEXPECTED_ANSWER",
  PAYMENT_UNSUPPORTED: "PAYMENT_DECLINED"
}

/** Turns an error of the client into a failure. Returns any other error as it is. */
export const failureOf = (error: unknown, baseUrl: string): unknown => {
  if (!(error instanceof AgentOsError)) return error
  const { answer, cause, code, message, requestId } = error
  if (answer !== null) return apiFailure(answer, baseUrl)
  // The network or a file of this machine.
  if (cause instanceof Failure) return cause
  // The client has found out before it signed.
  if (error.code === "PERMIT2_ALLOWANCE_REQUIRED")
    return new Failure({
      code: error.code,
      exit: EXIT.payment,
      message: message.replace(/Send the transaction in details.* which takes/, "The transaction takes"),
      paymentState: "none",
      next: allowCommand(error.details.transaction?.network)
    })
  const isInvalid = error.code === "PAYMENT_UNSUPPORTED" && error.details.reason === "invalid"
  return new Failure({
    code: isInvalid ? "UNEXPECTED_ANSWER" : (OWN_CODES[code] ?? "FAILED"),
    message,
    requestId: requestId ?? undefined
  })
}
