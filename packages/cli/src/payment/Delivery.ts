import {
  type Answer,
  type Delivered as Outcome,
  dataIn,
  deliver as deliverPayment,
  reportedState,
  sendPayment
} from "@agentos/client/internal"
import { EXIT, Failure, messageOf, shellWord } from "@agentos/command-line"
import { findToken, saveToken } from "../config/Credentials.ts"
import type { Context } from "../context/Context.ts"
import { isRecord } from "../file/Json.ts"
import { ApiClient } from "../server/ApiClient.ts"
import { apiFailure, requestIdOf } from "../server/ApiFailure.ts"
import { type HeldEntry, withEntry } from "./Journal.ts"
import { isExpired, isOpen, type JournalEntry, type JournalState, readPaymentResponse } from "./JournalEntry.ts"

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

/** Returns the state of a payment after an answer. */
const stateOf = ({ answer, paymentState, status }: Outcome): Answered => {
  const { receipt, transaction } = readPaymentResponse(answer.headers.get("payment-response"))
  return {
    tag: "answered",
    status: answer.status,
    requestId: requestIdOf(answer) ?? null,
    transaction: status?.transaction ?? transaction,
    receipt,
    paymentState
  }
}

/** Returns the failure of a lost answer. If it is none, the wait was interrupted; the bytes may have been sent. */
const lostFailure = (lost: unknown): Failure =>
  lost instanceof Failure
    ? lost
    : new Failure({ code: "INTERRUPTED", message: "Interrupted before the answer arrived." })

/** Saves the access token of a successful answer and returns the data without it; undefined for an error. */
const keepToken = async (context: Context, entry: JournalEntry, answer: Answer): Promise<Data | undefined> => {
  const data = dataIn(answer)
  const authentication = data?.["authentication"]
  const token = isRecord(authentication) ? authentication["accessToken"] : undefined
  if (typeof token !== "string") return data
  await saveToken(context.host, entry.profile, entry.baseUrl, token)
  return { ...data, authentication: { accessTokenSaved: true, profile: entry.profile } }
}

/**
 * Sends a locked payment until its outcome is known, for a limited time. The journal says `sent` before a byte leaves, and
 * stores the answer before anything is printed. A failure with an open outcome exits with 8 and names the command that
 * resumes the payment.
 */
export const deliver = async (context: Context, client: ApiClient, held: HeldEntry): Promise<Delivered> => {
  const { host, output } = context
  const outcome = await deliverPayment(held.current(), {
    http: {
      send: async (request) => {
        const answer = await client.send(request)
        await host.atStep?.("answered")
        return answer
      }
    },
    // After an interruption the delivery ends by itself.
    clock: { now: () => host.now(), sleep: (millis) => host.sleep(millis).catch(() => undefined) },
    save: async (state) => {
      await noteSending(held, state)
      await host.atStep?.("sending")
    },
    onRetry: (cause, delayMillis) => {
      output.note(
        "lost" in cause
          ? `${lostFailure(cause.lost).message} Sending the same payment again.`
          : `${apiFailure(cause.answer, client.baseUrl).message} Trying again in ${Math.ceil(delayMillis / 1_000)} s.`
      )
      return true
    },
    signal: host.signal
  })
  if ("lost" in outcome) {
    const entry = held.current()
    if (entry.state.tag !== "prepared") throw outcomeUnknown(entry, lostFailure(outcome.lost).message)
    await held.advance({ tag: "given-up" })
    throw new Failure({ code: "INTERRUPTED", message: "Interrupted. Nothing was sent.", paymentState: "none" })
  }
  const state = stateOf(outcome)
  const { data, entry } = await keep(context, held, outcome.answer, state)
  await host.atStep?.("closed")
  if (data !== undefined) return { data, entry }
  throw failureOf(apiFailure(outcome.answer, client.baseUrl), entry, state)
}

/** Writes `sent` to the journal. If that fails, nothing is sent and the payment stays as open as it was. */
const noteSending = async (held: HeldEntry, state: JournalState): Promise<void> => {
  const before = held.current()
  try {
    await held.advance(state)
  } catch (error) {
    throw before.state.tag === "prepared" ? notSent(before, error) : outcomeUnknown(before, messageOf(error))
  }
}

/** Stores the answer. If that fails, the payment stays open, so that the answer can be fetched again. */
const keep = async (context: Context, held: HeldEntry, answer: Answer, state: Answered) => {
  try {
    // The token comes first: if it is lost in between, the journal still says that there is an answer to fetch.
    const data = await keepToken(context, held.current(), answer)
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
  const answer = await sendPayment(known, client)
  if ("lost" in answer) throw lostFailure(answer.lost)
  const state = stateOf({ answer, paymentState: reportedState(answer, true) ?? "unknown" })
  const hasNews = ["settled", "refund_due", "refunded"].includes(state.paymentState)
  const entry = hasNews ? await held.advance(state) : known
  const data = await keepToken(context, entry, answer)
  if (data !== undefined) return { data, entry }
  throw failureOf(apiFailure(answer, client.baseUrl), entry, entry.state.tag === "answered" ? entry.state : state)
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
