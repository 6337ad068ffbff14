import type { Context } from "../command/Handler.ts"
import { saveToken } from "../config/Credentials.ts"
import { isRecord } from "../file/JsonValue.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure, type PaymentState } from "../failure/Failure.ts"
import { apiFailure } from "../server/ApiFailure.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import type { Answer } from "../server/Exchange.ts"
import type { HeldEntry } from "./Journal.ts"
import { isOpen, type JournalEntry, type JournalState } from "./JournalEntry.ts"
import { transactionIn } from "./SignedPayment.ts"

/** How long an answer is waited for in all, over every attempt. */
const PATIENCE_MILLIS = 90_000
/** How often a request that was not answered at all is sent again. */
const LOST_LIMIT = 3
const PAUSE_MILLIS = 1_000

/** What a server answers before it has looked for the operation: it says nothing of what an earlier attempt did. */
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

/** A payment that bought what it was for. */
export interface Delivered {
  readonly entry: JournalEntry
  /** The API's data, without the access token, which is saved. */
  readonly data: Readonly<Record<string, unknown>>
}

/** The command that goes on with a payment. */
export const resumeCommand = (id: string): string => `agentctl payments resume ${id}`

/** That a payment's outcome is open, with the one thing to do about it. */
export const outcomeUnknown = (entry: JournalEntry, why: string): Failure =>
  new Failure({
    code: "OUTCOME_UNKNOWN",
    message: `${why} The payment ${entry.id} may have been charged: do not pay again.`,
    paymentState: "unknown",
    retryable: true,
    next: [resumeCommand(entry.id)]
  })

/** That a payment was written down and never sent, as where the disk has become full in between. */
export const notSent = (entry: JournalEntry, error: unknown): Failure =>
  new Failure({
    code: "OUTCOME_UNKNOWN",
    message: `${messageOf(error)} The payment ${entry.id} is signed, and was not sent; it is open still: do not pay again.`,
    paymentState: "unknown",
    retryable: true,
    next: [resumeCommand(entry.id)]
  })

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

type Answered = Extract<JournalState, { tag: "answered" }>

/** What an answer says of the payment. `mayWork` where the server may have the same bytes already. */
const readAnswer = (answer: Answer, url: string, mayWork: boolean): { state: Answered; failure?: Failure } => {
  const common = { tag: "answered", status: answer.status, requestId: answer.requestId ?? null } as const
  const transaction = transactionIn(answer.headers.get("payment-response"))
  const envelope = answer.json()
  if (answer.status >= 200 && answer.status < 300 && isRecord(envelope) && isRecord(envelope["data"]))
    return { state: { ...common, paymentState: "settled", transaction } }
  const failure = apiFailure(answer, url)
  const { code, paymentState } = failure.parts
  const said: PaymentState = paymentState ?? (code === "UNEXPECTED_ANSWER" || mayWork ? "unknown" : "none")
  const saysNothing = said === "none" && mayWork && BEFORE_LOOKUP.has(code)
  return { state: { ...common, paymentState: saysNothing ? "unknown" : said, transaction }, failure }
}

/** Milliseconds until the same bytes are worth sending again; undefined where the answer stands. */
const pauseAfter = (
  answer: Answer,
  failure: Failure | undefined,
  state: Answered,
  tries: number
): number | undefined => {
  if (failure?.parts.retryable !== true && state.paymentState !== "pending") return undefined
  if (state.paymentState === "refund_due" || state.paymentState === "refunded") return undefined
  const own = PAUSE_MILLIS * 2 ** Math.min(tries, 3)
  const asked = Number(answer.headers.get("retry-after") ?? "0") * 1_000
  return answer.headers.has("retry-after") && asked > 0 ? asked : own
}

const accessTokenIn = (data: Readonly<Record<string, unknown>>): string | undefined => {
  const { authentication } = data
  const token = isRecord(authentication) ? authentication["accessToken"] : undefined
  return typeof token === "string" ? token : undefined
}

/** The data of a paid answer, its token replaced by where it went. */
const keepToken = async (context: Context, entry: JournalEntry, answer: Answer) => {
  const envelope = answer.json()
  const data = isRecord(envelope) && isRecord(envelope["data"]) ? envelope["data"] : {}
  const token = accessTokenIn(data)
  if (token === undefined) return data
  await saveToken(context.host, entry.profile, entry.baseUrl, token)
  return { ...data, authentication: { accessTokenSaved: true, profile: entry.profile } }
}

/**
 * Sends a payment that this process holds, and the same bytes again while the server asks for patience, within a bound.
 * The journal says `sent` before a byte leaves and what was answered before anything is said. A failure whose outcome is
 * open exits with 8 and names the command that goes on.
 */
export const deliver = async (context: Context, client: ApiClient, held: HeldEntry): Promise<Delivered> => {
  const { host } = context
  const began = host.now()
  let lost = 0
  // Whether an earlier attempt may have got as far as to be worked on.
  let mayWork = held.current().state.tag !== "prepared"
  for (let tries = 0; ; tries++) {
    const entry = await noteSending(held)
    await host.atStep?.("sending")
    const outcome = await attempt(client, entry)
    if (outcome instanceof Failure) {
      mayWork = true
      if (++lost >= LOST_LIMIT || host.signal.aborted) throw outcomeUnknown(entry, outcome.message)
      context.output.note(`${outcome.message} Sending the same bytes again.`)
      await pause(context, entry, PAUSE_MILLIS)
      continue
    }
    await host.atStep?.("answered")
    const { failure, state } = readAnswer(outcome, client.baseUrl, mayWork)
    mayWork ||= state.paymentState !== "none"
    const wait = pauseAfter(outcome, failure, state, tries)
    if (wait !== undefined && host.now() - began + wait < PATIENCE_MILLIS) {
      context.output.note(`${failure?.message ?? "The payment is under way."} Waiting ${Math.ceil(wait / 1_000)} s.`)
      await pause(context, entry, wait)
      continue
    }
    return close(context, held, outcome, { state, failure })
  }
}

/** Writes down that it is being sent. Where that can't be, not a byte leaves, and it stays as open as it was. */
const noteSending = async (held: HeldEntry): Promise<JournalEntry> => {
  const before = held.current()
  const { state } = before
  try {
    return await held.advance({ tag: "sent", attempts: (state.tag === "sent" ? state.attempts : 0) + 1 })
  } catch (error) {
    throw state.tag === "prepared" ? notSent(before, error) : outcomeUnknown(before, messageOf(error))
  }
}

/**
 * Sends a payment whose outcome is known once more, for what it bought. The journal keeps what it knows unless the
 * answer knows better, as that a refund has arrived.
 */
export const askAgain = async (context: Context, client: ApiClient, held: HeldEntry): Promise<Delivered> => {
  const known = held.current()
  const answer = await attempt(client, known)
  if (answer instanceof Failure) throw answer
  const { failure, state } = readAnswer(answer, client.baseUrl, true)
  const knowsBetter = ["settled", "refund_due", "refunded"].includes(state.paymentState)
  const entry = knowsBetter ? await held.advance(state) : known
  if (failure === undefined) return { entry, data: await keepToken(context, entry, answer) }
  throw failureOf(failure, entry, entry.state.tag === "answered" ? entry.state : state)
}

const attempt = async (client: ApiClient, entry: JournalEntry): Promise<Answer | Failure> => {
  try {
    return await client.send({
      method: entry.method,
      path: entry.path,
      ...(entry.body === null ? {} : { body: entry.body }),
      headers: { "Idempotency-Key": entry.idempotencyKey, "PAYMENT-SIGNATURE": entry.paymentSignature },
      repeatable: false
    })
  } catch (error) {
    if (error instanceof Failure) return error
    // An interruption, most likely: whatever it was, the bytes may have left.
    return new Failure({ code: "INTERRUPTED", message: "Interrupted before the answer came." })
  }
}

const pause = async (context: Context, entry: JournalEntry, millis: number): Promise<void> => {
  try {
    await context.host.sleep(millis)
  } catch {
    throw outcomeUnknown(entry, "Interrupted before the answer came.")
  }
}

const close = async (
  context: Context,
  held: HeldEntry,
  answer: Answer,
  { failure, state }: { readonly state: Answered; readonly failure: Failure | undefined }
): Promise<Delivered> => {
  const { data, entry } = await keep(context, held, answer, { failure, state })
  await context.host.atStep?.("closed")
  if (failure === undefined) return { entry, data }
  throw failureOf(failure, entry, state)
}

/** Keeps what was answered. Where that can't be, it is still at the server, and the payment is left open to fetch it. */
const keep = async (
  context: Context,
  held: HeldEntry,
  answer: Answer,
  { failure, state }: { readonly state: Answered; readonly failure: Failure | undefined }
): Promise<Delivered> => {
  try {
    // The token first: were it lost in between, the journal would still say that there is something to fetch.
    const data = failure === undefined ? await keepToken(context, held.current(), answer) : {}
    await context.host.atStep?.("kept")
    return { data, entry: await held.advance(state) }
  } catch (error) {
    const why = context.host.signal.aborted ? "Interrupted." : messageOf(error)
    throw outcomeUnknown(held.current(), `The answer came, and was not kept. ${why}`)
  }
}

/** What the server said, with the exit code and the next command that the journal's state asks for. */
const failureOf = (failure: Failure, entry: JournalEntry, { paymentState, status }: Answered): Failure => {
  const isUnknown = isOpen(entry)
  const { next = [] } = failure.parts
  return new Failure({
    ...failure.parts,
    message: paymentState === "unknown" ? failure.message.replace(/ ?Nothing was charged\.$/, "") : failure.message,
    paymentState,
    exit: isUnknown ? EXIT.paymentUnknown : failure.exit === EXIT.paymentUnknown ? EXIT.failure : failure.exit,
    next: isUnknown ? [resumeCommand(entry.id)] : status === 402 ? ["agentctl doctor"] : next
  })
}
