import type { Answer } from "@agentos/client/internal"
import { EXIT, Failure, messageOf, type PaymentState, shellWord } from "@agentos/command-line"
import type { Context } from "../command/Command.ts"
import { findToken, saveToken } from "../config/Credentials.ts"
import { isRecord } from "../file/Json.ts"
import { ApiClient } from "../server/ApiClient.ts"
import { apiFailure, requestIdOf } from "../server/ApiFailure.ts"
import { type HeldEntry, withEntry } from "./Journal.ts"
import { isExpired, isOpen, type JournalEntry, type JournalState, readPaymentResponse } from "./JournalEntry.ts"
import { finalState, readStatus } from "./Status.ts"

/** How long to wait for a final answer, over all attempts. */
const DEADLINE_MILLIS = 90_000
/** How many attempts may remain without any answer. */
const LOST_LIMIT = 3
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

type Data = Readonly<Record<string, unknown>>

/** A successful payment. */
export interface Delivered {
  readonly entry: JournalEntry
  /** The data of the response, without the access token, which is saved. */
  readonly data: Data
}

export const resumeCommand = (id: string): string => `agentctl payments resume ${id}`

const openFailure = (entry: JournalEntry, message: string): Failure =>
  new Failure({
    code: "OUTCOME_UNKNOWN",
    message,
    paymentState: "unknown",
    retryable: true,
    next: [resumeCommand(entry.id)]
  })

export const outcomeUnknown = (entry: JournalEntry, why: string): Failure =>
  openFailure(entry, `${why} Payment ${entry.id} may have been charged: do not pay again.`)

/** A payment in the journal that could not be sent, for example because the disk is full. */
export const notSent = (entry: JournalEntry, error: unknown): Failure =>
  openFailure(
    entry,
    `${messageOf(error)} Payment ${entry.id} is signed but was not sent. It stays open: do not pay again.`
  )

type Answered = Extract<JournalState, { tag: "answered" }>

/** Reads the outcome from an answer. `mayWork` is set if the server may have received the bytes before. */
const readAnswer = (
  answer: Answer,
  url: string,
  mayWork: boolean
): { state: Answered; failure?: Failure; isInconclusive: boolean } => {
  const common = {
    tag: "answered",
    status: answer.status,
    requestId: requestIdOf(answer) ?? null,
    ...readPaymentResponse(answer.headers.get("payment-response"))
  } as const
  const envelope = answer.json
  if (answer.status >= 200 && answer.status < 300 && isRecord(envelope) && isRecord(envelope["data"]))
    return { state: { ...common, paymentState: "settled" }, isInconclusive: false }
  const failure = apiFailure(answer, url)
  const { code, paymentState } = failure.parts
  const reported: PaymentState = paymentState ?? (code === "UNEXPECTED_ANSWER" || mayWork ? "unknown" : "none")
  const isInconclusive = reported === "none" && mayWork && BEFORE_LOOKUP.has(code)
  return { state: { ...common, paymentState: isInconclusive ? "unknown" : reported }, failure, isInconclusive }
}

/**
 * Returns the outcome after an error that says nothing about an earlier attempt: that of the payment's status if it has
 * ended, which needs no access token, otherwise unknown.
 */
const outcomeByStatus = async (client: ApiClient, entry: JournalEntry, state: Answered): Promise<Answered> => {
  try {
    const status = await readStatus(client, entry)
    const paymentState = finalState(status)
    return paymentState === undefined ? state : { ...state, paymentState, transaction: status.transaction }
  } catch (error) {
    if (error instanceof Failure) return state
    throw error
  }
}

/** Returns the delay before the same bytes are sent again; undefined if the answer is final. */
const retryDelay = (
  answer: Answer,
  failure: Failure | undefined,
  state: Answered,
  tries: number
): number | undefined => {
  if (failure?.parts.retryable !== true && state.paymentState !== "pending") return undefined
  if (state.paymentState === "refund_due" || state.paymentState === "refunded") return undefined
  const asked = Number(answer.headers.get("retry-after") ?? "0") * 1_000
  return asked > 0 ? asked : RETRY_MILLIS * 2 ** Math.min(tries, 3)
}

/** Saves the access token of a successful answer and returns the data without it. */
const keepToken = async (context: Context, entry: JournalEntry, answer: Answer): Promise<Data> => {
  const envelope = answer.json
  const data = isRecord(envelope) && isRecord(envelope["data"]) ? envelope["data"] : {}
  const { authentication } = data
  const token = isRecord(authentication) ? authentication["accessToken"] : undefined
  if (typeof token !== "string") return data
  await saveToken(context.host, entry.profile, entry.baseUrl, token)
  return { ...data, authentication: { accessTokenSaved: true, profile: entry.profile } }
}

/**
 * Sends a locked payment, and retries with the same bytes for a limited time. The journal says `sent` before a byte
 * leaves, and stores the answer before anything is printed. A failure with an open outcome exits with 8 and names the
 * command that resumes the payment.
 */
export const deliver = async (context: Context, client: ApiClient, held: HeldEntry): Promise<Delivered> => {
  const { host, output } = context
  const start = host.now()
  let lost = 0
  // Whether the server may have received an earlier attempt.
  let mayWork = held.current().state.tag !== "prepared"
  for (let tries = 0; ; tries++) {
    const entry = await noteSending(held)
    await host.atStep?.("sending")
    const outcome = await attempt(client, entry)
    if (outcome instanceof Failure) {
      mayWork = true
      if (++lost >= LOST_LIMIT || host.signal.aborted) throw outcomeUnknown(entry, outcome.message)
      output.note(`${outcome.message} Sending the same payment again.`)
      await pause(context, entry, RETRY_MILLIS)
      continue
    }
    await host.atStep?.("answered")
    const { failure, isInconclusive, state: reported } = readAnswer(outcome, client.baseUrl, mayWork)
    const state = isInconclusive ? await outcomeByStatus(client, entry, reported) : reported
    mayWork ||= state.paymentState !== "none"
    const delay = retryDelay(outcome, failure, state, tries)
    if (delay !== undefined && host.now() - start + delay < DEADLINE_MILLIS) {
      const seconds = Math.ceil(delay / 1_000)
      output.note(`${failure?.message ?? "The payment is in progress."} Trying again in ${seconds} s.`)
      await pause(context, entry, delay)
      continue
    }
    const delivered = await keep(context, held, outcome, { state, failure })
    await host.atStep?.("closed")
    if (failure === undefined) return delivered
    throw failureOf(failure, delivered.entry, state)
  }
}

/** Writes `sent` to the journal. If that fails, nothing is sent and the payment stays as open as it was. */
const noteSending = async (held: HeldEntry): Promise<JournalEntry> => {
  const before = held.current()
  const { state } = before
  try {
    return await held.advance({ tag: "sent", attempts: (state.tag === "sent" ? state.attempts : 0) + 1 })
  } catch (error) {
    throw state.tag === "prepared" ? notSent(before, error) : outcomeUnknown(before, messageOf(error))
  }
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
    // Most likely an interruption. The bytes may have been sent.
    return new Failure({ code: "INTERRUPTED", message: "Interrupted before the answer arrived." })
  }
}

const pause = async (context: Context, entry: JournalEntry, millis: number): Promise<void> => {
  try {
    await context.host.sleep(millis)
  } catch {
    throw outcomeUnknown(entry, "Interrupted before the answer arrived.")
  }
}

/** Stores the answer. If that fails, the payment stays open, so that the answer can be fetched again. */
const keep = async (
  context: Context,
  held: HeldEntry,
  answer: Answer,
  { failure, state }: { readonly state: Answered; readonly failure: Failure | undefined }
): Promise<Delivered> => {
  try {
    // The token comes first: if it is lost in between, the journal still says that there is an answer to fetch.
    const data = failure === undefined ? await keepToken(context, held.current(), answer) : {}
    await context.host.atStep?.("kept")
    return { data, entry: await held.advance(state) }
  } catch (error) {
    const why = context.host.signal.aborted ? "Interrupted." : messageOf(error)
    throw outcomeUnknown(held.current(), `The answer arrived but could not be saved. ${why}`)
  }
}

/** Returns the server's failure with the exit code and the next command that the state of the payment requires. */
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

/**
 * Sends a payment with a known outcome once more, to get its result again. The journal changes only if the answer has
 * news, for example that a refund has arrived.
 */
const fetchAgain = async (context: Context, client: ApiClient, held: HeldEntry): Promise<Delivered> => {
  const known = held.current()
  const answer = await attempt(client, known)
  if (answer instanceof Failure) throw answer
  const { failure, state } = readAnswer(answer, client.baseUrl, true)
  const hasNews = ["settled", "refund_due", "refunded"].includes(state.paymentState)
  const entry = hasNews ? await held.advance(state) : known
  if (failure === undefined) return { entry, data: await keepToken(context, entry, answer) }
  throw failureOf(failure, entry, entry.state.tag === "answered" ? entry.state : state)
}

/** A payment after `resume`. The data is null if it bought nothing and will not be sent again. */
export interface Resumed {
  readonly entry: JournalEntry
  readonly data: Data | null
}

const clientFor = async (context: Context, entry: JournalEntry): Promise<ApiClient> => {
  const token = entry.withToken ? await findToken(context.host, entry.profile, entry.baseUrl) : undefined
  if (entry.withToken && token === undefined)
    throw new Failure({
      code: "NOT_LOGGED_IN",
      message: `Payment ${entry.id} was made with an access token, but profile ${entry.profile} has none for ${entry.baseUrl}.`,
      next: [`agentctl login --profile ${entry.profile} --base-url ${shellWord(entry.baseUrl)}`]
    })
  return new ApiClient(context, entry.baseUrl, token?.value)
}

/** Whether the payment was refused without a charge, or given up. */
const isOver = ({ state }: JournalEntry): boolean =>
  state.tag === "given-up" || (state.tag === "answered" && state.paymentState === "none")

const resumeHeld = async (context: Context, held: HeldEntry): Promise<Resumed> => {
  const entry = held.current()
  if (isOver(entry)) return { entry, data: null }
  // A payment that was never sent and has expired could only be refused.
  if (entry.state.tag === "prepared" && isExpired(entry.paymentSignature, context.host.now()) === true)
    return { entry: await held.advance({ tag: "given-up" }), data: null }
  const client = await clientFor(context, entry)
  return isOpen(entry) ? deliver(context, client, held) : fetchAgain(context, client, held)
}

/**
 * Resumes a payment with the same bytes; nothing is signed. An answered payment is sent again for its result. Throws
 * LOCKED if another process works on it.
 */
export const resume = async (context: Context, id: string): Promise<Resumed> => {
  let resumed: Resumed | undefined
  await withEntry(context.host, id, async (held) => {
    resumed = await resumeHeld(context, held)
  })
  if (resumed === undefined) throw new Failure({ code: "FAILED", message: `Payment ${id} was not resumed.` })
  return resumed
}
