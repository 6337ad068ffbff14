import type { DeliveryReport } from "@agentos/core"
import { makeDecoder } from "@agentos/core/transfer-encoding"
import type { HeaderField } from "../header/HeaderBlock.ts"
import type { BoundedMail } from "./BoundedMime.ts"
import { readTextReport, statusIn } from "./TextReport.ts"
import { headerText } from "./TextLimits.ts"

/** Size limit of the machine-readable part. A report about 50 recipients takes less than a tenth of it. */
const PART_LIMIT_BYTES = 256 * 1024
/** Limit of recipients that are read; a message has 50. */
const RECIPIENTS_MAX = 200
const ADDRESS_CHARACTERS = 320
const WORD_CHARACTERS = 64
const DIAGNOSTIC_CHARACTERS = 500

const REPORT = /^\s*multipart\/report\b/i

/** RFC 3464; RFC 6533 for internationalized mail; a type that old servers write. */
const STATUS_TYPES: ReadonlySet<string> = new Set([
  "message/delivery-status",
  "message/global-delivery-status",
  "message/x-delivery-status"
])
const DISPOSITION_TYPES: ReadonlySet<string> = new Set([
  "message/disposition-notification",
  "message/global-disposition-notification"
])
const FEEDBACK_TYPES: ReadonlySet<string> = new Set(["message/feedback-report"])

type Reported = Extract<DeliveryReport, { readonly _tag: "DeliveryStatus" }>["recipients"][number]

/** Returns the beginning of the parts with one of these types. No encoding takes more than three bytes for one. */
const contentsOf = (
  raw: Uint8Array,
  { email, sources }: BoundedMail,
  types: ReadonlySet<string>
): ReadonlyArray<Uint8Array> => {
  let left = PART_LIMIT_BYTES
  return email.attachments.flatMap(({ mimeType }, index) => {
    const source = sources[index]
    if (source === undefined || source.inside !== undefined || left <= 0 || !types.has(mimeType.toLowerCase()))
      return []
    const encodedBytes = Math.min(source.encodedBytes, 3 * left)
    const decoder = makeDecoder(source.encoding)
    const content = Buffer.concat([
      decoder.decode(raw.subarray(source.offset, source.offset + encodedBytes)),
      decoder.end()
    ]).subarray(0, left)
    left -= content.length
    return [content]
  })
}

const FIELD_START = /^([!-9;-~]{1,78})[ \t]*:/

/** Decodes UTF-8, which RFC 6533 allows, and otherwise Latin-1. */
const decode = (content: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content)
  } catch {
    return Buffer.from(content).toString("latin1")
  }
}

/**
 * Returns the groups of fields, which empty lines separate. Lines that belong to no field are left out: the readable
 * fields count, however the rest is written.
 */
const groupsOf = (content: Uint8Array): ReadonlyArray<ReadonlyArray<HeaderField>> => {
  const groups: Array<Array<{ readonly name: string; value: string }>> = [[]]
  for (const line of decode(content).split(/\r\n|\r|\n/)) {
    const group = groups.at(-1)!
    if (line.trim() === "") {
      if (group.length > 0 && groups.push([]) > RECIPIENTS_MAX + 1) break
      continue
    }
    const start = /^[ \t]/.test(line) ? null : FIELD_START.exec(line)
    const last = group.at(-1)
    if (start !== null) group.push({ name: start[1]!.toLowerCase(), value: line.slice(start[0].length) })
    else if (last !== undefined && /^[ \t]/.test(line) && last.value.length < 2 * DIAGNOSTIC_CHARACTERS)
      last.value += ` ${line.trimStart()}`
  }
  return groups.filter(({ length }) => length > 0)
}

const RECIPIENT_FIELDS: ReadonlySet<string> = new Set(["final-recipient", "original-recipient"])

/** Splits a group without empty lines between its recipients, where one of their fields repeats. */
const splitGroup = (group: ReadonlyArray<HeaderField>): ReadonlyArray<ReadonlyArray<HeaderField>> => {
  const parts: Array<Array<HeaderField>> = [[]]
  let seen = new Set<string>()
  for (const field of group) {
    if ((RECIPIENT_FIELDS.has(field.name) || field.name === "action") && seen.has(field.name)) {
      parts.push([])
      seen = new Set()
    }
    seen.add(field.name)
    parts.at(-1)!.push(field)
  }
  return parts.slice(0, RECIPIENTS_MAX)
}

const hasField = (fields: ReadonlyArray<HeaderField>, names: ReadonlySet<string>): boolean =>
  fields.some(({ name }) => names.has(name))

const OUTCOME_FIELDS: ReadonlySet<string> = new Set(["action", "status"])

/** Joins the fields of a recipient that an empty line separates from its action. */
const joinGroups = (groups: ReadonlyArray<ReadonlyArray<HeaderField>>): ReadonlyArray<ReadonlyArray<HeaderField>> => {
  const joined: Array<ReadonlyArray<HeaderField>> = []
  for (const group of groups) {
    const before = joined.at(-1)
    const isRest =
      before !== undefined &&
      hasField(before, RECIPIENT_FIELDS) &&
      !hasField(before, OUTCOME_FIELDS) &&
      !hasField(group, RECIPIENT_FIELDS)
    if (isRest) joined[joined.length - 1] = [...before, ...group]
    else joined.push(group)
  }
  return joined
}

const valueOf = (fields: ReadonlyArray<HeaderField>, name: string, limit: number): string | null => {
  const value = fields.find((field) => field.name === name)?.value
  return value === undefined ? null : headerText(value, limit)
}

/** Returns the part after the type, for example `ada@example.com` of `rfc822; ada@example.com`. */
const typed = (value: string | null): string | null => value?.replace(/^[a-z][\w-]*\s*;\s*/i, "") ?? null

/** Returns an address without the name, brackets, quotes and scheme that some servers add; null for an empty one and for `unknown`. */
const addressIn = (value: string | null): string | null => {
  const address = typed(typed(value))
    ?.trim()
    .replace(/^[^<>]*<([^<>]*)>$/, "$1")
    .replace(/^"([^"]*)"$/, "$1")
    .replace(/^mailto:/i, "")
  return address === undefined || address === "" || /^unknown$/i.test(address) ? null : address
}

/** Words that servers write in place of those of RFC 3464. */
const ACTIONS: Readonly<Record<string, string>> = {
  failure: "failed",
  fail: "failed",
  error: "failed",
  fatal: "failed",
  permanent: "failed",
  rejected: "failed",
  bounced: "failed",
  returned: "failed",
  undelivered: "failed",
  undeliverable: "failed",
  delay: "delayed",
  deferred: "delayed",
  success: "delivered"
}

/** By the class of the status, for a recipient without an action. A temporary one says too little: challenges have it. */
const ACTION_BY_CLASS: Readonly<Record<string, string>> = { "2": "delivered", "5": "failed" }

/** The beginning of the text in which the reason of a recipient is searched. */
const TEXT_CHARACTERS = 8_000

/**
 * Returns the reason that the text of a report gives for an address, for servers that write no Diagnostic-Code: on the
 * line of the address after a colon (OpenSMTPD), or below a line that names it and ends with a colon (Dovecot).
 */
const reasonIn = (text: string, address: string): string | null => {
  const wanted = address.toLowerCase()
  const lines = text
    .slice(0, TEXT_CHARACTERS)
    .split("\n")
    .map((line) => line.trim())
  for (const [index, line] of lines.entries()) {
    const folded = line.toLowerCase()
    const start = [`${wanted}:`, `<${wanted}>:`].find((each) => folded.startsWith(each))
    const isAnnounced = start === undefined && folded.includes(`<${wanted}>`) && folded.endsWith(":")
    const reason = start === undefined ? (isAnnounced ? (lines[index + 1] ?? "") : "") : line.slice(start.length)
    if (reason.trim() !== "") return headerText(reason, DIAGNOSTIC_CHARACTERS)
  }
  return null
}

/** Returns the recipient of a group; undefined if the group has neither an action nor a status. */
const recipientOf = (fields: ReadonlyArray<HeaderField>, text: string): Reported | undefined => {
  const written = /[a-z]+/i
    .exec((valueOf(fields, "action", WORD_CHARACTERS) ?? "").replace(/^\s*\([^)]*\)/, ""))?.[0]
    .toLowerCase()
  const final = addressIn(valueOf(fields, "final-recipient", ADDRESS_CHARACTERS))
  const diagnostic =
    typed(valueOf(fields, "diagnostic-code", DIAGNOSTIC_CHARACTERS)) ?? (final === null ? null : reasonIn(text, final))
  const given = /[245]\.\d{1,3}\.\d{1,3}/.exec(valueOf(fields, "status", WORD_CHARACTERS) ?? "")?.[0] ?? ""
  const action = written === undefined ? ACTION_BY_CLASS[given.charAt(0)] : (ACTIONS[written] ?? written)
  if (action === undefined) return undefined
  const isGeneric = given === "" || given.endsWith(".0.0")
  return {
    original: addressIn(valueOf(fields, "original-recipient", ADDRESS_CHARACTERS)),
    final,
    action,
    // Exim, among others, writes 5.0.0, and the code of the other server in the diagnostic.
    status: (isGeneric ? statusIn(diagnostic ?? "", given.charAt(0)) : undefined) ?? given,
    diagnostic
  }
}

const statusReport = (contents: ReadonlyArray<Uint8Array>, text: string): DeliveryReport | undefined => {
  const groups = contents.flatMap((content) => joinGroups(groupsOf(content).flatMap(splitGroup)))
  // The fields of the whole message may have an action, too; they count if no group names a recipient.
  const named = groups.filter((fields) => hasField(fields, RECIPIENT_FIELDS))
  const counted = named.some((fields) => hasField(fields, OUTCOME_FIELDS)) ? named : groups
  const recipients = counted.flatMap((fields) => recipientOf(fields, text) ?? []).slice(0, RECIPIENTS_MAX)
  return recipients.length === 0 ? undefined : { _tag: "DeliveryStatus", recipients }
}

/**
 * Returns the refusal of a mail by a filter of its recipient (Sieve `reject`, RFC 5429, section 2.1.2): a disposition
 * notification that the mail was deleted automatically. No other one is requested, and it says nothing about delivery.
 */
const dispositionReport = (contents: ReadonlyArray<Uint8Array>, text: string | null): DeliveryReport | undefined => {
  const fields = contents.flatMap((content) => groupsOf(content).flat())
  const disposition = valueOf(fields, "disposition", DIAGNOSTIC_CHARACTERS) ?? ""
  if (!/^automatic-action\b/i.test(disposition) || !/;\s*deleted\b/i.test(disposition)) return undefined
  return {
    _tag: "DeliveryStatus",
    recipients: [
      {
        original: addressIn(valueOf(fields, "original-recipient", ADDRESS_CHARACTERS)),
        final: addressIn(valueOf(fields, "final-recipient", ADDRESS_CHARACTERS)),
        action: "failed",
        status: "5.7.1",
        diagnostic: headerText((text ?? "").slice(0, 4 * DIAGNOSTIC_CHARACTERS), DIAGNOSTIC_CHARACTERS) || null
      }
    ]
  }
}

const feedbackReport = ([content]: ReadonlyArray<Uint8Array>): DeliveryReport | undefined => {
  if (content === undefined) return undefined
  const [fields = []] = groupsOf(content)
  return {
    _tag: "Feedback",
    feedbackType: (valueOf(fields, "feedback-type", WORD_CHARACTERS) ?? "").toLowerCase(),
    recipients: fields
      .filter(({ name }) => name === "original-rcpt-to")
      .slice(0, RECIPIENTS_MAX)
      .map(({ value }) => headerText(value, ADDRESS_CHARACTERS).replace(/^<(.*)>$/, "$1"))
  }
}

/**
 * Returns the report in a mail; undefined if the mail is not one. The machine-readable part counts wherever it is (RFC
 * 3464, RFC 6533, RFC 8098): OpenSMTPD, for example, writes multipart/mixed. A feedback report (RFC 5965), whose writers
 * are few, must be multipart/report. Without a part, the text of a mail
 * system counts if it has a known form.
 */
export const readReport = (raw: Uint8Array, mail: BoundedMail, text: string | null): DeliveryReport | undefined => {
  const isReport = mail.email.headers.some(({ key, value }) => key === "content-type" && REPORT.test(value))
  const dispositions = contentsOf(raw, mail, DISPOSITION_TYPES)
  if (dispositions.length > 0) return dispositionReport(dispositions, text)
  return (
    statusReport(contentsOf(raw, mail, STATUS_TYPES), text ?? "") ??
    (isReport ? feedbackReport(contentsOf(raw, mail, FEEDBACK_TYPES)) : undefined) ??
    readTextReport(mail.email, text)
  )
}
