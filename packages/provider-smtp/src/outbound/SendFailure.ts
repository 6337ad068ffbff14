import { ProviderError, type ProviderErrorReason, type SendReceipt } from "@agentos/core"
import { Predicate } from "effect"

/** Longest part of a server's reply that is passed on, in characters. */
const REPLY_LIMIT = 500

/** What an error of nodemailer says. All of it may be missing. */
interface SendFailure {
  /** What failed, in nodemailer's words: `ECONNECTION`, `EENVELOPE`, `EMESSAGE`, `EAUTH` … */
  readonly code: string | undefined
  /** The system's own code under it: `ECONNREFUSED`, `CERT_HAS_EXPIRED` … */
  readonly originalCode: string | undefined
  /** The command that was answered; `CONN` when the connection itself failed. */
  readonly command: string | undefined
  readonly responseCode: number | undefined
  readonly response: string | undefined
  readonly message: string
}

const read = (error: unknown): SendFailure => {
  const text = (name: string): string | undefined =>
    Predicate.hasProperty(error, name) && typeof error[name] === "string" ? error[name] : undefined
  const responseCode = Predicate.hasProperty(error, "responseCode") ? error.responseCode : undefined
  return {
    code: text("code"),
    originalCode: text("originalCode"),
    command: text("command"),
    responseCode: typeof responseCode === "number" ? responseCode : undefined,
    response: text("response"),
    message: text("message") ?? String(error)
  }
}

/** Steps before any mail is offered: what the server refuses there concerns us, not the mail. */
const SESSION_COMMANDS: ReadonlySet<string> = new Set(["CONN", "EHLO", "HELO", "STARTTLS", "AUTH"])
/** RFC 4954, section 6: authentication is required, or not enough. */
const AUTHENTICATION_REPLIES: ReadonlySet<number> = new Set([530, 534, 535, 538])
/** The codes that node gives a certificate it does not trust. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH/

/** RFC 5321, section 4.2.1. 503 says that the session was out of step, which another connection mends. */
const isPermanent = (replyCode: number): boolean => replyCode >= 500 && replyCode !== 503

/**
 * Why a send failed. `handedOver`: the whole message had been given to the connection before, so
 * that only a reply can tell what became of it.
 *
 * A reply to a command decides by its class. A connection that failed without one decides by
 * `handedOver`; so does a reply that answers no command (`CONN`), since it need not be about the message.
 */
const reasonOf = (failure: SendFailure, handedOver: boolean): ProviderErrorReason => {
  const { code, command, responseCode } = failure
  const answered = responseCode !== undefined && command !== "CONN"
  if (handedOver && !answered) return "Unknown"
  if (responseCode !== undefined) {
    if (!isPermanent(responseCode)) return responseCode < 400 && handedOver ? "Unknown" : "Temporary"
    const concernsUs =
      code === "EAUTH" ||
      AUTHENTICATION_REPLIES.has(responseCode) ||
      SESSION_COMMANDS.has(command?.split(" ", 1)[0] ?? "")
    return concernsUs ? "Misconfigured" : "Rejected"
  }
  switch (code) {
    case "EAUTH":
    case "ENOAUTH":
    case "ECONFIG":
      return "Misconfigured"
    // The client itself found the message impossible to send: too large for this server, an address it can't carry.
    case "EENVELOPE":
    case "EMESSAGE":
    case "EMAXRECIPIENTS":
      return "Rejected"
    case "EDNS":
      return failure.originalCode === "ENOTFOUND" ? "Misconfigured" : "Temporary"
    default:
      return CERTIFICATE.test(failure.originalCode ?? "") ? "Misconfigured" : "Temporary"
  }
}

/** One line of a server's words, short enough to store and to show. */
export const replyText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    .slice(0, REPLY_LIMIT)
    .toWellFormed()

const SUMMARIES: Readonly<Record<ProviderErrorReason, string>> = {
  Temporary: "The mail relay can't take the mail now",
  Rejected: "The mail relay refused the mail",
  Misconfigured: "The mail relay does not let this service send",
  Unknown: "The connection to the mail relay was lost before it said whether it took the mail"
}

/** The recipients that an outcome of nodemailer, good or bad, says were refused, and the replies to them. */
export const refusalsIn = (outcome: unknown): ReadonlyArray<{ readonly recipient: string; readonly reply: string }> => {
  const errors = Predicate.hasProperty(outcome, "rejectedErrors") ? outcome.rejectedErrors : undefined
  return (Array.isArray(errors) ? errors : []).flatMap((error: unknown) => {
    const { message, response } = read(error)
    return Predicate.hasProperty(error, "recipient") && typeof error.recipient === "string"
      ? [{ recipient: error.recipient, reply: replyText(response ?? message) }]
      : []
  })
}

/** The error of the port for an error of nodemailer. */
export const toProviderError = (
  provider: string,
  error: unknown,
  handedOver: boolean,
  refused: SendReceipt["rejected"]
): ProviderError => {
  const failure = read(error)
  const reason = reasonOf(failure, handedOver)
  const detail = replyText(failure.response ?? failure.message)
  return new ProviderError({ provider, reason, message: `${SUMMARIES[reason]}: ${detail}`, refused, cause: error })
}
