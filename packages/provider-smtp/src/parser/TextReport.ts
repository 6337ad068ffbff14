import type { DeliveryReport } from "@agentos/core"
import type { Email } from "postal-mime"
import { headerText } from "./TextLimits.ts"

/** Beginning of the text that is read, in characters. Forms name the failure before they quote the mail. */
const TEXT_CHARACTERS = 6_000
const ADDRESS_CHARACTERS = 320
const DIAGNOSTIC_CHARACTERS = 500
const RECIPIENTS_MAX = 50

const phrases = (list: string): ReadonlyArray<string> => list.split("|").map((phrase) => phrase.trim())

/** Where forms begin to quote the original mail, which is not part of the report. */
const QUOTED = phrases(`
  --- below this line is a copy | --- below the next line is a copy | copy of the message, including |
  original message follows | original message ----- | --- original message | --- mensaje original |
  message header follows | message headers follow | returned mail follows | returned mail --- |
  message text follows | unsent message below | header of the source mail | original message below this line |
  copy of the first part of the message | here is a copy of
`)

/** Phrases of reports that a mail is still being retried. They count before those of a failure, which they may contain. */
const DELAYS = phrases(`
  not yet been delivered | has been delayed | is delayed | delivery is delayed | was delayed |
  warning message only | this is just a warning | this is a warning | do not need to resend |
  attempts will continue to be made | will continue to attempt | will continue to try | will keep trying |
  will be retried | has been postponed | still trying to deliver | advisory-only |
  no action is required on your part
`)

/** Phrases of reports of a final failure, by qmail (QSBMF), Exim, Postfix, sendmail, Exchange, Domino and others. */
const FAILURES = phrases(`
  able to deliver your message | was unable to deliver | unable to deliver | could not deliver |
  could not be delivered | couldn't be delivered | cannot be delivered | can not be delivered | can't be delivered |
  was not delivered | were not delivered | not been delivered | not delivered to | did not reach |
  could not be reached | could not reach | did not receive a copy | permanent fatal | permanent error |
  failed permanently | following recipients failed | following recipient failed | recipients was aborted |
  following address(es) failed | following addresses failed | following address failed |
  following addresses could not | failed addresses follow | failed recipient | undeliverable address |
  undeliverable mail | undeliverable message | non-delivery report | has been returned because |
  no valid recipients | no mailbox here by that name | no such user | no user by that name | user unknown |
  unknown user | user not known | user not found | mailbox is full | mailbox unavailable | is no longer valid |
  did not exactly match | invalid final delivery | does not like recipient | problem with the e-mail address |
  was automatically rejected | was not accepted | encountered delivery problems | error-for: |
  does not have a final email delivery point | pudo ser entregado | pas pu etre delivre | pas pu être délivré |
  konnte nicht zugestellt werden | nicht zugestellt werden konnte | did not succeed | could not be sent |
  not a valid user | 无法发送 | 无法投递 | 配信できません | не может быть доставлено | не удалось доставить | was undeliverable |
  pas pu être remis | no se pudo entregar | no se ha podido entregar | impossibile recapitare |
  não foi possível entregar | kan niet worden bezorgd | kon niet worden bezorgd | nie można dostarczyć |
  nelze doručit | nebylo možné doručit | kunde inte levereras | kunne ikke leveres | teslim edilemedi |
  не может быть отправлено | не удается доставить | 配信不能 | 送信できません | 邮件被退 | 退信原因 | 無法傳遞 | 未能送达 | 전송되지 못 | 전송 실패 |
  배달되지 않 | check your send e-mail address
`)

/** Forms that no person and no other program writes. They begin the text, whoever the author is. */
const OPENINGS = phrases(`
  hi. this is the | this message was created automatically by mail delivery software | this is the postfix program |
  this is the mail system at host | this is the mail delivery agent |
  this is an automatically generated delivery status notification | the original message was received at
`)
const OPENING_CHARACTERS = 100

/** Returns a text in lower case, with each white space as a space. Places in it are those in the text. */
const fold = (text: string): string => text.toLowerCase().replace(/\s/g, " ")

const isOpening = (text: string): boolean => {
  const start = fold(text.trimStart().slice(0, OPENING_CHARACTERS))
  return OPENINGS.some((opening) => start.startsWith(opening))
}

/** Local parts and names by which mail systems sign (RFC 5321, section 6.1, and their defaults). */
const DAEMON =
  /^(?:"?(?:mailer-?daemon|postmaster|mdaemon|mail-?daemon|mail[ ._-]delivery[ ._-](?:sub)?system|ndr|smtp-?server|root|imss|system administrator)\b)/i
const DAEMON_NAME =
  /^["'\s]*(?:mail delivery (?:sub)?system|mailer-?daemon|postmaster|delivery subsystem|system administrator|mail administrator|mail deliver|microsoft outlook|e\d+_smtp_mail_service)/i

/** Subjects by which other mail systems begin, whatever their author is. A reply begins with its own prefix. */
const SUBJECT =
  /^(?:undeliver|undelivered|returned mail|failure notice|mail (?:delivery failed|could not be delivered|delivery failure)|delivery (?:status notification \(fail|fail)|non-delivery)/

/**
 * Returns the enhanced status code (RFC 3463) that a text from another server names after its reply code, or after `#`
 * as qmail does; undefined if it names no code of the class.
 */
export const statusIn = (text: string, ofClass = ""): string | undefined => {
  const found = /(?:(?:^|[^\d.])[45]\d\d[ \t-]{1,8}#?|#)([45]\.\d{1,3}\.\d{1,3})(?![.\d])/.exec(text)?.[1]
  return found === undefined || !found.startsWith(ofClass) ? undefined : found
}

const ADDRESS = /[^\s<>"'`,;:()[\]@]{1,252}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi

const earliest = (text: string, phrases: ReadonlyArray<string>): number => {
  const found = phrases.map((phrase) => text.indexOf(phrase)).filter((at) => at >= 0)
  return found.length === 0 ? -1 : Math.min(...found)
}

const headerOf = ({ headers }: Email, name: string): string | undefined =>
  headers.find(({ key }) => key === name)?.value

/** A reply of SMTP, by its code, which is no part of an address, a name or a longer number. */
const REPLY = /(?:^|[^\w.+-])([45][0-5]\d(?!\S*@)[ -].{3,})/

/** Returns the reply of the other server in the text of a report, or what follows the phrase of the failure. */
const diagnosticIn = (text: string, from: number): string | null => {
  const reply = text
    .split("\n")
    .flatMap((line) => REPLY.exec(line)?.[1] ?? (/#[45]\.\d{1,3}\.\d/.test(line) ? line : []))[0]
  return headerText(reply ?? text.slice(from, from + DIAGNOSTIC_CHARACTERS), DIAGNOSTIC_CHARACTERS).trim() || null
}

/**
 * Returns the report in a mail of a mail system without a machine-readable part; undefined if its text has no known
 * form. The addresses that it names are a hint: the return path decides whom the report is about.
 */
export const readTextReport = (email: Email, text: string | null): DeliveryReport | undefined => {
  const subject = (email.subject ?? "").trim().toLowerCase()
  const failed = headerOf(email, "x-failed-recipients")
  const author = email.from
  const isDaemon =
    failed !== undefined ||
    DAEMON.test(author?.address ?? "") ||
    DAEMON_NAME.test(author?.name ?? "") ||
    (author?.address ?? "") === "" ||
    SUBJECT.test(subject)
  const begin = (text ?? "").slice(0, TEXT_CHARACTERS)
  if (!isDaemon && !isOpening(begin)) return undefined
  const folded = fold(begin)
  // A few letters are longer in lower case.
  if (folded.length !== begin.length) return undefined
  const end = earliest(folded, QUOTED)
  const own = folded.slice(0, end < 0 ? undefined : end).replace(/ {2}/g, " ")
  const isDelay = earliest(own, DELAYS) >= 0 || /\bdelay(?:ed)?\b|not yet delivered/.test(subject)
  const at = earliest(own, FAILURES)
  const isFailure = at >= 0 || failed !== undefined || (isDaemon && SUBJECT.test(subject))
  if (!isDelay && !isFailure) return undefined
  const report = begin.slice(0, end < 0 ? undefined : end)
  const searched = (failed ?? report.slice(Math.max(at, 0))).slice(0, TEXT_CHARACTERS)
  // "Your message to bob@example.com couldn't be delivered" names the address before the failure.
  const named = searched.match(ADDRESS) ?? report.match(ADDRESS) ?? []
  const addresses = failed === undefined ? named.slice(0, 1) : named.slice(0, RECIPIENTS_MAX)
  const diagnostic = diagnosticIn(report, Math.max(at, 0))
  const fields = {
    original: null,
    action: isDelay ? "delayed" : "failed",
    // No code: a reason that is read in words is not certain enough to suppress an address for ever.
    status: "",
    diagnostic
  }
  const finals = addresses.length === 0 ? [null] : addresses.map((address) => address.slice(0, ADDRESS_CHARACTERS))
  return { _tag: "DeliveryStatus", recipients: finals.map((final) => ({ ...fields, final })) }
}
