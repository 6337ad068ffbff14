import type { DeliveryReport } from "@agentos/core"
import { makeDecoder } from "@agentos/core/transfer-encoding"
import { type HeaderField, readHeaderBlock } from "../header/HeaderBlock.ts"
import type { BoundedMail } from "./BoundedMime.ts"
import { headerText } from "./TextLimits.ts"

/** Size limit of the machine-readable part. A report about 50 recipients takes less than a tenth of it. */
const PART_LIMIT_BYTES = 256 * 1024
/** Limit of recipients that are read; a message has 50. */
const RECIPIENTS_MAX = 200
const ADDRESS_CHARACTERS = 320
const WORD_CHARACTERS = 64
const DIAGNOSTIC_CHARACTERS = 500

const REPORT = /^\s*multipart\/report\b/i

/** Returns the beginning of the first part with a type. No encoding takes more than three bytes for one. */
const contentOf = (raw: Uint8Array, { email, sources }: BoundedMail, type: string): Uint8Array | undefined => {
  const source = sources[email.attachments.findIndex(({ mimeType }) => mimeType.toLowerCase() === type)]
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

const valueOf = (fields: ReadonlyArray<HeaderField>, name: string, limit: number): string | null => {
  const value = fields.find((field) => field.name === name)?.value
  return value === undefined ? null : headerText(value, limit)
}

/** Returns the part after the type, for example `ada@example.com` of `rfc822; ada@example.com`. */
const typed = (value: string | null): string | null => value?.replace(/^[^;]*;\s*/, "") ?? null

/** Returns an address without the brackets that some servers add. */
const addressIn = (value: string | null): string | null => typed(value)?.replace(/^<(.*)>$/, "$1") ?? null

/** Returns the report in a mail (RFC 3464, RFC 5965); undefined if the mail is not one. */
export const readReport = (raw: Uint8Array, mail: BoundedMail): DeliveryReport | undefined => {
  const isReport = mail.email.headers.some(({ key, value }) => key === "content-type" && REPORT.test(value))
  if (!isReport) return undefined
  const status = contentOf(raw, mail, "message/delivery-status")
  if (status !== undefined) {
    return {
      _tag: "DeliveryStatus",
      recipients: groupsOf(status).flatMap((fields) => {
        const action = valueOf(fields, "action", WORD_CHARACTERS)
        if (action === null) return []
        return [
          {
            original: addressIn(valueOf(fields, "original-recipient", ADDRESS_CHARACTERS)),
            final: addressIn(valueOf(fields, "final-recipient", ADDRESS_CHARACTERS)),
            action: action.toLowerCase(),
            status: /^\d\.\d{1,3}\.\d{1,3}/.exec(valueOf(fields, "status", WORD_CHARACTERS) ?? "")?.[0] ?? "",
            diagnostic: typed(valueOf(fields, "diagnostic-code", DIAGNOSTIC_CHARACTERS))
          }
        ]
      })
    }
  }
  const feedback = contentOf(raw, mail, "message/feedback-report")
  if (feedback === undefined) return undefined
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
