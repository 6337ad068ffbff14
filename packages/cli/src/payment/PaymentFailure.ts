import { AgentOsError, isOpen, type JournalState } from "@agentos/client"
import { EXIT, Failure, messageOf } from "@agentos/node/command-line"
import type { Host } from "../host/Host.ts"
import { apiFailure, failureOf } from "../server/ApiFailure.ts"
import type { FileJournal } from "./FileJournal.ts"
import type { StoredEntry } from "./JournalFile.ts"

/*
 * How a payment fails: what happened, whether money moved, and the command that comes next.
 */

export const resumeCommand = (id: string): string => `agentctl payments resume ${id}`

const openFailure = (entry: StoredEntry, message: string): Failure =>
  new Failure({
    code: "OUTCOME_UNKNOWN",
    message,
    paymentState: "unknown",
    retryable: true,
    next: [resumeCommand(entry.id)]
  })

const outcomeUnknown = (entry: StoredEntry, why: string): Failure =>
  openFailure(entry, `${why} Payment ${entry.id} may have been charged: do not pay again.`)

/** A payment in the journal that could not be sent, for example because the disk is full. */
const notSent = (entry: StoredEntry, error: unknown): Failure =>
  openFailure(
    entry,
    `${messageOf(error)} Payment ${entry.id} is signed but was not sent. It stays open: do not pay again.`
  )

/** An answer that could not be saved. The payment stays open, so that the answer can be fetched again. */
export const notSaved = ({ signal }: Host, entry: StoredEntry, error: unknown): Failure => {
  const why = signal.aborted ? "Interrupted." : messageOf(error)
  return outcomeUnknown(entry, `The answer arrived but could not be saved. ${why}`)
}

type Answered = Extract<JournalState, { tag: "answered" }>

/** Returns the server's failure with the exit code and the next command that the state of the payment requires. */
const refused = (failure: Failure, entry: StoredEntry, { paymentState, status }: Answered): Failure => {
  const isUnknown = isOpen(entry)
  const { next = [] } = failure.parts
  return failure.with({
    message: paymentState === "unknown" ? failure.message.replace(/ ?Nothing was charged\.$/, "") : failure.message,
    paymentState,
    exit: isUnknown ? EXIT.paymentUnknown : failure.exit === EXIT.paymentUnknown ? EXIT.failure : failure.exit,
    next: isUnknown ? [resumeCommand(entry.id)] : status === 402 ? ["agentctl doctor"] : next
  })
}

/** Returns the answer that an error of the client stands for, or that it was caused by. */
const answerOf = (error: AgentOsError): AgentOsError["answer"] =>
  error.answer ?? (error.cause instanceof AgentOsError ? error.cause.answer : null)

/** Returns the failure of a payment that is in the journal. An open outcome exits with 8 and names the command that resumes it. */
export const deliveryFailure = (host: Host, error: unknown, entry: StoredEntry, journal: FileJournal): unknown => {
  const { baseUrl, state } = entry
  if (host.signal.aborted && state.tag === "given-up")
    return new Failure({ code: "INTERRUPTED", message: "Interrupted. Nothing was sent.", paymentState: "none" })
  if (!(error instanceof AgentOsError)) return error
  const { cause, code } = error
  if (code === "JOURNAL_FAILED" && state.tag === "prepared") return notSent(entry, cause)
  if (code === "JOURNAL_FAILED" && journal.saving === "sent") return outcomeUnknown(entry, messageOf(cause))
  if (code === "JOURNAL_FAILED" && state.tag === "sent") return notSaved(host, entry, cause)
  const answer = answerOf(error)
  if (answer !== null && state.tag === "answered") return refused(apiFailure(answer, baseUrl), entry, state)
  if (code !== "PAYMENT_OUTCOME_UNKNOWN") return failureOf(error, baseUrl)
  const lost = failureOf(cause, baseUrl)
  return outcomeUnknown(entry, lost instanceof Failure ? lost.message : "Interrupted before the answer arrived.")
}
