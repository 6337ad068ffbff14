import type { ErrorBody } from "@agentos/api"
import { isRecord } from "../file/JsonValue.ts"
import { ERROR_EXIT, exitOf } from "../failure/ErrorExit.ts"
import { Failure, type FailureIssue, type PaymentState } from "../failure/Failure.ts"
import { plainLine } from "../output/Plain.ts"
import type { Answer } from "./Exchange.ts"
import { nextCommand } from "./NextCommand.ts"

const STATES: ReadonlyArray<PaymentState> = ["none", "pending", "settled", "refund_due", "refunded", "unknown"]

/** Errors that another token would mend. */
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
  // What can't be shown as it is would not be what somebody reads before it is run.
  return command === plainLine(command) ? [command] : []
}

/** What an answer that is no success says; or that it is none of this API's. */
export const apiFailure = (answer: Answer, url: string): Failure => {
  const envelope = answer.json()
  const error = isRecord(envelope) && isRecord(envelope["error"]) ? envelope["error"] : undefined
  const code = text(error?.["code"])
  if (error === undefined || code === undefined)
    return new Failure({
      code: "UNEXPECTED_ANSWER",
      message: `${url} answered ${answer.status} in a way that this API does not. Is it the right server?`,
      requestId: answer.requestId,
      next: ["agentctl config list"]
    })
  const paymentState = STATES.find((state) => state === error["paymentState"])
  // Any text may come from a newer server; the exit code of one that is not known is 1.
  const known = code as ErrorBody["code"]
  const onboarding = NEEDS_TOKEN.has(code) ? ["agentctl login"] : []
  // On one line: the lines below it say what happened to the money and what to run next, and are not the server's.
  const message = plainLine(text(error["message"]) ?? code)
  const issues = issuesOf(error["issues"])
  return new Failure({
    code: known,
    exit: exitOf({ code: known, ...(paymentState === undefined ? {} : { paymentState }) }),
    message: code in ERROR_EXIT || message.includes(code) ? message : `${code}: ${message}`,
    requestId: text(error["requestId"]) ?? answer.requestId,
    retryable: error["retryable"] === true,
    paymentState,
    next: [...onboarding, ...nextOf(error["next"])],
    issues
  })
}
