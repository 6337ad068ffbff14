import { AgentOsError, type MoneyMoved } from "../AgentOsError.ts"
import { isRecord } from "../Encoding.ts"
import type { components } from "../generated/Components.ts"
import { type Answer, type Http, retryAfterSeconds } from "../http/Http.ts"
import { dataOf, errorOf, isSuccess, isTokenRefused, moneyMovedBy, wireErrorIn } from "../http/WireError.ts"
import type { Clock } from "../Options.ts"
import type { JournalEntry, JournalState } from "./Journal.ts"

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

type Answered = Extract<JournalState, { readonly tag: "answered" }>

/** A payment whose outcome is known. */
export interface Delivered {
  readonly state: Answered
  /** The data of the answer, or its error. */
  readonly outcome: { readonly data: Readonly<Record<string, unknown>> } | { readonly error: AgentOsError }
}

export interface DeliveryParts {
  readonly http: Http
  readonly clock: Clock
  readonly token: string | undefined
  /** Signs in for another token, if that one was revoked. */
  readonly renewToken: () => Promise<string | undefined>
  /** Saves a state before the next step. */
  readonly save: (state: JournalState) => Promise<void>
  readonly signal: AbortSignal | undefined
}

export const outcomeUnknown = (entry: JournalEntry, why: string, cause?: unknown): AgentOsError =>
  new AgentOsError({
    code: "PAYMENT_OUTCOME_UNKNOWN",
    message: `${why} The payment may have been charged. Make the same call again to resume it: the same payment is sent, and nothing is signed.`,
    details: { paymentId: entry.id },
    moneyMoved: "unknown",
    isRetryable: true,
    cause
  })

/**
 * Sends a signed payment until its outcome is known: the same bytes again after a lost answer, and as the server asks.
 * The state is saved as `sent` before a byte leaves. Throws PAYMENT_OUTCOME_UNKNOWN if that takes too long.
 */
export const deliver = async (entry: JournalEntry, parts: DeliveryParts): Promise<Delivered> => {
  const { clock, http, renewToken, save, signal } = parts
  let token = parts.token
  let isRenewed = false
  const start = clock.now()
  let lost = 0
  let attempts = entry.state.tag === "sent" ? entry.state.attempts : 0
  // Whether the server may have received an earlier attempt.
  let mayWork = entry.state.tag !== "prepared"
  /** Waits, unless that would take too long. Returns whether it did. */
  const pause = async (millis: number): Promise<boolean> => {
    if (clock.now() - start + millis >= DEADLINE_MILLIS) return false
    await clock.sleep(millis, signal)
    return true
  }
  for (let tries = 0; ; tries++) {
    if (isAborted(signal)) {
      if (mayWork) throw outcomeUnknown(entry, "Aborted before the answer.", signal?.reason)
      await save({ tag: "given-up" })
      throw signal?.reason
    }
    await save({ tag: "sent", attempts: ++attempts })
    const answer = await attempt(entry, http, token, signal)
    if ("lost" in answer) {
      mayWork = true
      const isLast = ++lost >= LOST_MAX || isAborted(signal)
      if (isLast || !(await pause(RETRY_MILLIS))) throw outcomeUnknown(entry, messageOf(answer.lost), answer.lost)
      continue
    }
    if (isSuccess(answer) && isRecord(answer.json))
      return { state: answeredBy(answer, "yes"), outcome: { data: dataOf(answer) } }
    if (token !== undefined && !isRenewed && isTokenRefused(answer)) {
      token = await renewToken()
      isRenewed = true
      continue
    }
    const error = await judge(entry, answer, { http, mayWork })
    mayWork ||= error.moneyMoved !== "no"
    if (canRepeat(error) && (await waitToRepeat(entry, answer, error, { http, tries, pause }))) continue
    if (error.moneyMoved === "unknown") throw outcomeUnknown(entry, error.message, error)
    return { state: answeredBy(answer, error.moneyMoved), outcome: { error } }
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Sends the bytes once. Any rejection, also an abort, may have happened after they arrived. */
const attempt = async (
  entry: JournalEntry,
  http: Http,
  token: string | undefined,
  signal: AbortSignal | undefined
): Promise<Answer | { readonly lost: unknown }> => {
  const { body, idempotencyKey, method, path, paymentSignature } = entry
  const headers = { "Idempotency-Key": idempotencyKey, "PAYMENT-SIGNATURE": paymentSignature }
  try {
    return await http.send({ method, path, token, headers, ...(body === null ? {} : { body }) }, signal)
  } catch (lost) {
    return { lost }
  }
}

const answeredBy = ({ headers, status }: Answer, moneyMoved: MoneyMoved): Answered => ({
  tag: "answered",
  status,
  requestId: headers.get("x-request-id"),
  moneyMoved,
  receipt: headers.get("payment-response")
})

/** Returns the error of an answer with what is known of the money, from the answer or from the payment's status. */
const judge = async (
  entry: JournalEntry,
  answer: Answer,
  { http, mayWork }: { readonly http: Http; readonly mayWork: boolean }
): Promise<AgentOsError> => {
  const wire = wireErrorIn(answer)
  // An answer that is not the service's, for example of a proxy, says nothing.
  const reported = wire === undefined ? "unknown" : moneyMovedBy(wire.paymentState ?? (mayWork ? "unknown" : "none"))
  const isInconclusive = reported === "no" && mayWork && BEFORE_LOOKUP.has(wire?.code ?? "")
  if (!isInconclusive) return errorOf(answer, reported)
  const status = await readStatus(entry, http)
  return errorOf(answer, status === undefined ? "unknown" : finalOutcome(status))
}

/** Returns the outcome of a payment that ended; unknown while it can still be charged, delivered or refunded. */
const finalOutcome = ({ advice, paymentState }: PaymentStatus): MoneyMoved =>
  advice === "done" ? moneyMovedBy(paymentState) : advice === "pay" ? "no" : "unknown"

/** Reads the state of a payment by its signed header. It executes nothing. Undefined if the server does not tell. */
const readStatus = async (entry: JournalEntry, http: Http): Promise<PaymentStatus | undefined> => {
  const headers = { "PAYMENT-SIGNATURE": entry.paymentSignature }
  try {
    const answer = await http.send({ method: "POST", path: "/api/v1/payments/status", headers })
    return dataOf(answer)["payment"] as PaymentStatus
  } catch (error) {
    if (error instanceof AgentOsError) return undefined
    throw error
  }
}

/** Whether the same bytes may have another answer later. */
const canRepeat = ({ code, isRetryable, moneyMoved }: AgentOsError): boolean =>
  moneyMoved !== "refund_due" && moneyMoved !== "refunded" && (isRetryable || code === "PAYMENT_PENDING")

/**
 * Waits for Retry-After, then while the status of a pending payment says so. Returns whether to send the same bytes
 * again; false if the time is over.
 */
const waitToRepeat = async (
  entry: JournalEntry,
  answer: Answer,
  error: AgentOsError,
  {
    http,
    pause,
    tries
  }: { readonly http: Http; readonly tries: number; readonly pause: (millis: number) => Promise<boolean> }
): Promise<boolean> => {
  const asked = (retryAfterSeconds(answer) ?? 0) * 1_000
  if (!(await pause(asked > 0 ? asked : RETRY_MILLIS * 2 ** Math.min(tries, 3)))) return false
  while (error.code === "PAYMENT_PENDING") {
    const status = await readStatus(entry, http)
    if (status?.advice !== "wait") return true
    if (!(await pause((status.retryAfterSeconds ?? 1) * 1_000))) return false
  }
  return true
}
