import type { DeliveryReport } from "@agentos/core"
import { makeDecoder } from "@agentos/core/transfer-encoding"
import { type HeaderField, readHeaderBlock } from "../header/HeaderBlock.ts"
import type { BoundedMail } from "./BoundedMime.ts"
import { specificStatus } from "./StatusCode.ts"
import { readTextBounce } from "./TextBounce.ts"
import { headerText } from "./TextLimits.ts"

/** Size limit of the machine-readable part. A report about 50 recipients takes less than a tenth of it. */
const PART_LIMIT_BYTES = 256 * 1024
/** Limit of recipients that are read; a message has 50. */
const RECIPIENTS_MAX = 200
const ADDRESS_CHARACTERS = 320
const WORD_CHARACTERS = 64
const DIAGNOSTIC_CHARACTERS = 500

/** RFC 3464, and RFC 6533 for addresses in UTF-8. */
const STATUS_TYPES = ["message/delivery-status", "message/global-delivery-status"]
/** RFC 5965. */
const FEEDBACK_TYPE = "message/feedback-report"

/** Returns the beginning of the first part with one of these types. No encoding takes more than three bytes for one. */
const contentOf = (raw: Uint8Array, { email, sources }: BoundedMail, types: ReadonlyArray<string>) => {
  const source = sources[email.attachments.findIndex(({ mimeType }) => types.includes(mimeType.toLowerCase()))]
  if (source === undefined) return undefined
  const encodedBytes = Math.min(source.encodedBytes, 3 * PART_LIMIT_BYTES)
  return makeDecoder(source.encoding).decode(raw.subarray(source.offset, source.offset + encodedBytes))
}

/** Returns the groups of fields, which empty lines separate. A group that is not readable is left out. */
const groupsOf = (content: Uint8Array): ReadonlyArray<ReadonlyArray<HeaderField>> =>
  Buffer.from(content.subarray(0, PART_LIMIT_BYTES))
    .toString("latin1")
    .split(/(?:\r?\n){2,}/)
    .slice(0, RECIPIENTS_MAX + 1)
    .flatMap((group) => {
      const block = readHeaderBlock(Buffer.from(group.trimStart(), "latin1"), PART_LIMIT_BYTES)
      return block._tag === "Fields" && block.fields.length > 0 ? [block.fields] : []
    })

/** Returns a value in UTF-8, as RFC 6533 allows, or in Latin-1 if it is not. */
const decoded = (value: string): string => {
  const text = Buffer.from(value, "latin1").toString("utf8")
  return text.includes("\ufffd") ? value : text
}

const valueOf = (fields: ReadonlyArray<HeaderField>, name: string, limit: number): string | null => {
  const value = fields.find((field) => field.name === name)?.value
  return value === undefined ? null : headerText(decoded(value), limit)
}

/** Returns the part after the type, for example `ada@example.com` of `rfc822; ada@example.com`. */
const typed = (value: string | null): string | null => value?.replace(/^[^;]*;\s*/, "") ?? null

/** Decodes xtext (RFC 3461, section 4) and utf-8-addr-xtext (RFC 6533, section 3), in which a plus sign is `+2B`. */
const withoutXtext = (address: string): string =>
  address
    .replaceAll(/\+([0-9A-F]{2})/g, (written, hex: string) => {
      const code = Number.parseInt(hex, 16)
      // Other characters need no encoding: what looks like one is a tag of the address.
      return code === 0x2b || code === 0x3d ? String.fromCharCode(code) : written
    })
    .replaceAll(/\\x\{([0-9A-F]{2,6})\}/gi, (written, hex: string) => {
      const code = Number.parseInt(hex, 16)
      return code > 0x20 && code <= 0x10_ffff ? String.fromCodePoint(code) : written
    })

/** Returns an address without the brackets that some servers add; null if the field names none. */
const addressIn = (value: string | null): string | null => {
  const address =
    typed(value)
      ?.trim()
      .replace(/^<(.*)>$/, "$1") ?? ""
  return address.includes("@") ? withoutXtext(address) : null
}

/** The actions of RFC 3464, section 2.3.3, by the class of a status code, for reports that omit the action. */
const ACTIONS: Readonly<Record<string, string>> = { "2": "delivered", "4": "delayed", "5": "failed" }

/** Actions as some servers spell them. */
const SPELLINGS: Readonly<Record<string, string>> = {
  failure: "failed",
  fail: "failed",
  error: "failed",
  delay: "delayed"
}

const recipientOf = (fields: ReadonlyArray<HeaderField>) => {
  const written = /^\d\.\d{1,3}\.\d{1,3}/.exec(valueOf(fields, "status", WORD_CHARACTERS) ?? "")?.[0] ?? ""
  const diagnostic = typed(valueOf(fields, "diagnostic-code", DIAGNOSTIC_CHARACTERS))
  const status = specificStatus(written, diagnostic)
  // A comment may follow the action (RFC 3464, section 2.1.1).
  const action = /^[a-z-]+/i.exec(valueOf(fields, "action", WORD_CHARACTERS) ?? "")?.[0].toLowerCase()
  const claimed = SPELLINGS[action ?? ""] ?? action ?? ACTIONS[status[0] ?? ""]
  if (claimed === undefined) return []
  return [
    {
      original: addressIn(valueOf(fields, "original-recipient", ADDRESS_CHARACTERS)),
      final: addressIn(valueOf(fields, "final-recipient", ADDRESS_CHARACTERS)),
      action: claimed,
      status,
      diagnostic
    }
  ]
}

/**
 * Returns the report in a mail: the machine-readable part, wherever in the mail its sender put it (RFC 3464, RFC 6533,
 * RFC 5965), or a failure in a well-known form of text. Undefined if the mail reports nothing.
 */
export const readReport = (raw: Uint8Array, mail: BoundedMail, text: string | null): DeliveryReport | undefined => {
  const status = contentOf(raw, mail, STATUS_TYPES)
  const recipients = status === undefined ? [] : groupsOf(status).flatMap(recipientOf)
  if (recipients.length > 0) return { _tag: "DeliveryStatus", recipients }
  const feedback = contentOf(raw, mail, [FEEDBACK_TYPE])
  if (feedback === undefined) return readTextBounce(mail.email, text)
  const [fields = []] = groupsOf(feedback)
  return {
    _tag: "Feedback",
    feedbackType: (valueOf(fields, "feedback-type", WORD_CHARACTERS) ?? "").toLowerCase(),
    recipients: fields
      .filter(({ name }) => name === "original-rcpt-to")
      .slice(0, RECIPIENTS_MAX)
      .map(({ value }) => headerText(value, ADDRESS_CHARACTERS).replace(/^<(.*)>$/, "$1"))
  }
}
