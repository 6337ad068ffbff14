import { ProviderError, type ProviderErrorReason } from "@agentos/core"
import { Predicate } from "effect"

/** Limit of a server's reply that is passed on, in characters. */
const REPLY_LIMIT = 500

/** The fields of an error of nodemailer; any may be missing. */
interface SendFailure {
  /** nodemailer's code: `ECONNECTION`, `EENVELOPE`, `EMESSAGE`, `EAUTH` … */
  readonly code: string | undefined
  /** The underlying system error: `ECONNREFUSED`, `CERT_HAS_EXPIRED` … */
  readonly originalCode: string | undefined
  /** The command that was answered; `CONN` if the connection itself failed. */
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

/** Steps before any mail is offered: a refusal there concerns our configuration, not the mail. */
const SESSION_COMMANDS: ReadonlySet<string> = new Set(["CONN", "EHLO", "HELO", "STARTTLS", "AUTH"])
/** RFC 4954, section 6: authentication is required, or insufficient. */
const AUTHENTICATION_REPLIES: ReadonlySet<number> = new Set([530, 534, 535, 538])
/** Node's error codes for an untrusted certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH/

/** RFC 5321, section 4.2.1. 503 means that commands came in a wrong order, which another connection resolves. */
const isPermanent = (replyCode: number): boolean => replyCode >= 500 && replyCode !== 503

/**
 * Returns why a send failed. With `handedOver`, the whole message had been transferred before, so that only a
 * reply shows whether it was accepted.
 *
 * A reply to a command decides by its class. If a connection failed without one, `handedOver` decides; so it
 * does for a reply that answers no command (`CONN`), since such a reply may not be about the message.
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
    // The client itself cannot send the message: it is too large for this server, or has an unsupported address.
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

/** Returns a server's reply as one line, short enough to store and to show. */
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

/** A recipient that did not get the mail. */
export interface Failed {
  /**
   * The reply that refused it. Without one: 554 5.6.0 if this client can't transfer the mail, 421 4.4.2 if the relay did
   * not answer.
   */
  readonly refusal: string
  /** Whether the relay did not answer, so that other transactions would fail as well. */
  readonly isUnanswered: boolean
  /** Whether the relay refused the recipient with 4xx, by a reply to RCPT, so that it may accept it later. */
  readonly isDeferred: boolean
  readonly error: ProviderError
}

/** Returns the reply to RCPT, which nodemailer reports for each recipient; undefined if the recipient was not refused. */
const recipientReply = (error: unknown): string | undefined => {
  const [refused]: ReadonlyArray<unknown> =
    Predicate.hasProperty(error, "rejectedErrors") && Array.isArray(error.rejectedErrors) ? error.rejectedErrors : []
  if (refused === undefined) return undefined
  const { message, response } = read(refused)
  return replyText(response ?? message)
}

const TEMPORARY = /^4\d\d/
/** A reply to RCPT about the recipient. 421 closes the connection (RFC 5321, section 3.8). */
const DEFERRAL = /^4(?!21)\d\d/

/** Converts an error of nodemailer about the transaction with one recipient. */
export const toFailed = (provider: string, address: string, error: unknown, handedOver: boolean): Failed => {
  const failure = read(error)
  const reply = recipientReply(error)
  const reason = reasonOf(failure, handedOver)
  const detail = replyText(failure.response ?? failure.message)
  const isAnswered = failure.responseCode !== undefined
  const refusal =
    reason === "Rejected"
      ? isAnswered
        ? detail
        : `554 5.6.0 ${detail}`
      : TEMPORARY.test(detail)
        ? detail
        : `421 4.4.2 ${detail}`
  return {
    refusal: reply ?? refusal,
    isDeferred: reply !== undefined && DEFERRAL.test(reply),
    isUnanswered: reason === "Unknown" || reason === "Misconfigured" || (reason === "Temporary" && !isAnswered),
    error: new ProviderError({
      provider,
      reason,
      message: `${SUMMARIES[reason]}: ${detail}`,
      refused: reply === undefined ? [] : [{ address, reason: reply }],
      cause: error
    })
  }
}

/** Returns the error of a mail that no recipient got: the first of the kind that leaves the most open. */
export const mostOpen = (errors: ReadonlyArray<ProviderError>): ProviderError => {
  const kinds: ReadonlyArray<ProviderErrorReason> = ["Unknown", "Temporary", "Misconfigured", "Rejected"]
  const [first] = kinds.flatMap((kind) => errors.filter(({ reason }) => reason === kind))
  const { cause, message, provider, reason } = first!
  return new ProviderError({ provider, reason, message, cause, refused: errors.flatMap(({ refused = [] }) => refused) })
}
