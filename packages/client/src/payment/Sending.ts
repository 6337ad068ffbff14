import type { components } from "../generated/Components.ts"
import { type Answer, retryAfterSeconds } from "../http/Answer.ts"
import type { Http } from "../http/Http.ts"
import { dataIn, dataOf, errorOf, isTokenRefused, wireErrorIn } from "../http/WireError.ts"
import type { Clock } from "../Options.ts"
import type { JournalEntry, JournalState, PaymentState } from "./Journal.ts"

type PaymentStatus = components["schemas"]["PaymentStatus"]

/** How long to wait for a final answer, over all attempts. */
const DEADLINE_MILLIS = 90_000
/** How many attempts may remain without any answer. */
const LOST_MAX = 3
const RETRY_MILLIS = 1_000

/** Errors that a server returns before it looks up the operation. They say nothing about an earlier attempt. */
const BEFORE_LOOKUP: ReadonlySet<string> = new Set([
  "AUTH_REQUIRED",
  "FORBIDDEN",
  "HEADERS_TOO_LARGE",
  "INVALID_TOKEN",
  "METHOD_NOT_ALLOWED",
  "ONBOARDING_REQUIRED",
  "PAYLOAD_TOO_LARGE",
  "RATE_LIMITED",
  "REQUEST_TIMEOUT",
  "SERVICE_UNAVAILABLE",
  "UNSUPPORTED_MEDIA_TYPE",
  "UPGRADE_REQUIRED",
  "URI_TOO_LONG"
])

/** An answer, and the state of the payment after it. */
export interface Answered {
  readonly answer: Answer
  /** `pending` and `unknown`: it can still be charged, delivered or refunded. */
  readonly paymentState: PaymentState
  /** The status of the payment, if the answer did not tell the state. */
  readonly status?: PaymentStatus | undefined
}

/** A payment without an answer. */
export interface Unanswered {
  /** The error of the last attempt, or the reason of the abort. */
  readonly lost: unknown
}

export interface SendingParts {
  readonly http: Http
  readonly clock: Clock
  /** The access token; undefined if none is sent. */
  readonly token: string | undefined
  /** Signs in for another token, if that one was revoked. */
  readonly renewToken: (() => Promise<string | undefined>) | undefined
  /** Saves the state before an attempt. If it rejects, nothing is sent. */
  readonly save: (state: JournalState) => Promise<unknown>
  /** Called before each wait, with its reason. False ends the sending. */
  readonly onRetry: (outcome: Answered | Unanswered, delayMillis: number) => boolean
  readonly signal: AbortSignal | undefined
}

/**
 * Sends a signed payment until its outcome is known: the same bytes again after a lost answer, and as the server asks,
 * for at most 90 s.
 */
export const sendUntilAnswered = async (entry: JournalEntry, parts: SendingParts): Promise<Answered | Unanswered> => {
  const { clock, http, onRetry, save, signal } = parts
  let { renewToken, token } = parts
  const start = clock.now()
  let lost = 0
  let attempts = entry.state.tag === "sent" ? entry.state.attempts : 0
  let mayHaveArrived = entry.state.tag !== "prepared"
  const isAborted = (): boolean => signal?.aborted === true
  /** Waits, unless that would take too long. Returns whether it did. */
  const pause = async (millis: number, outcome: Answered | Unanswered): Promise<boolean> => {
    if (clock.now() - start + millis >= DEADLINE_MILLIS) return false
    if (!onRetry(outcome, millis)) return false
    await clock.sleep(millis, signal)
    return true
  }
  /** Waits for Retry-After, then while the status of a pending payment says so. Returns whether it did. */
  const waitToRepeat = async (outcome: Answered, tries: number): Promise<boolean> => {
    const { answer } = outcome
    // A server that asks for no delay would be asked for ever.
    const least = 2 ** Math.min(tries, 5) / 4
    let seconds = retryAfterSeconds(answer) || 2 ** Math.min(tries, 3)
    while (await pause(Math.max(seconds, least) * 1_000, outcome)) {
      if (wireErrorIn(answer)?.code !== "PAYMENT_PENDING" || isAborted()) return true
      const status = await readStatus(entry, http)
      if (status?.advice !== "wait") return true
      // A server may answer with less than a second, or with no number.
      seconds = Math.max(Number(status.retryAfterSeconds) || 1, 1)
    }
    return false
  }
  for (let tries = 0; ; tries++) {
    if (isAborted()) return { lost: signal?.reason }
    await save({ tag: "sent", attempts: ++attempts })
    const answer = await sendPayment(entry, http, token, signal)
    if ("lost" in answer) {
      mayHaveArrived = true
      const isLast = ++lost >= LOST_MAX || isAborted()
      if (isLast || !(await pause(RETRY_MILLIS, answer))) return answer
      continue
    }
    const renewed = isTokenRefused(answer) ? await renewToken?.() : undefined
    if (renewed !== undefined) {
      token = renewed
      renewToken = undefined
      continue
    }
    const outcome = await judge(entry, answer, http, mayHaveArrived)
    mayHaveArrived ||= outcome.paymentState !== "none"
    if (!canRepeat(outcome) || !(await waitToRepeat(outcome, tries))) return outcome
  }
}

/** Sends the bytes once. Any rejection, also an abort, may have happened after they arrived. */
export const sendPayment = async (
  { body, idempotencyKey, method, path, paymentSignature }: JournalEntry,
  http: Http,
  token: string | undefined,
  signal: AbortSignal | undefined
): Promise<Answer | Unanswered> => {
  const headers = { "Idempotency-Key": idempotencyKey, "PAYMENT-SIGNATURE": paymentSignature }
  try {
    return await http.send({ method, path, token, headers, ...(body === null ? {} : { body }) }, signal)
  } catch (lost) {
    return { lost }
  }
}

/**
 * Returns the state of a payment that an answer reports; undefined if the answer says nothing about an earlier attempt
 * that may have arrived.
 */
export const reportedState = (answer: Answer, mayHaveArrived: boolean): PaymentState | undefined => {
  if (dataIn(answer) !== undefined) return "settled"
  const error = wireErrorIn(answer)
  // An answer that is not the service's, for example of a proxy, says nothing.
  if (error === undefined) return "unknown"
  const { code, paymentState = mayHaveArrived ? "unknown" : "none" } = error
  if (paymentState === "none" && mayHaveArrived && BEFORE_LOOKUP.has(code)) return undefined
  // It was charged, and its result is to come.
  return code === "PAYMENT_PENDING" && paymentState === "settled" ? "pending" : paymentState
}

const judge = async (entry: JournalEntry, answer: Answer, http: Http, mayHaveArrived: boolean): Promise<Answered> => {
  const reported = reportedState(answer, mayHaveArrived)
  if (reported !== undefined) return { answer, paymentState: reported }
  const status = await readStatus(entry, http)
  if (status?.advice === "done") return { answer, paymentState: status.paymentState, status }
  // Otherwise it can still be charged, delivered or refunded.
  return { answer, paymentState: status?.advice === "pay" ? "none" : "unknown", status }
}

/** Reads the state of a payment by its signed header. It executes nothing. Undefined if the server does not tell. */
const readStatus = async (
  { paymentSignature }: JournalEntry,
  http: SendingParts["http"]
): Promise<PaymentStatus | undefined> => {
  const headers = { "PAYMENT-SIGNATURE": paymentSignature }
  try {
    const answer = await http.send({ method: "POST", path: "/api/v1/payments/status", headers })
    return dataOf(answer)["payment"] as PaymentStatus
  } catch {
    // An unread status leaves the payment open, whatever the reason.
    return undefined
  }
}

/** Whether the same bytes may have another answer later. */
const canRepeat = ({ answer, paymentState }: Answered): boolean =>
  !paymentState.startsWith("refund") && errorOf(answer).isRetryable
