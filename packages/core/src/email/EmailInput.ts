import { Schema } from "effect"
import { nameText } from "../kernel/PlainText.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { LocalPart } from "./LocalPart.ts"

/** The maximum number of recipients of one message, in to, cc and bcc together. */
export const RECIPIENT_LIMIT = 50
/** RFC 5322, section 2.1.1: the longest line, and so the longest subject. */
export const SUBJECT_LIMIT = 998
/** The maximum length of the text and of the HTML of a message, each in UTF-8 bytes. */
export const BODY_LIMIT_BYTES = 1024 * 1024
const DISPLAY_NAME_LIMIT = 128
const SIGNATURE_LIMIT = 4_096

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Text for a header: one line, without control characters that could end the line. */
const headerText = (limit: number) =>
  Schema.String.check(
    Schema.isMaxLength(limit),
    Schema.makeFilter((text: string) => !CONTROL.test(text) || "must not contain control characters or line breaks"),
    Schema.makeFilter((text: string) => text.isWellFormed() || "contains invalid Unicode")
  )

/** Multiline text, without characters that a store or a mail can't hold. */
const bodyText = (limitBytes: number) =>
  Schema.String.check(
    Schema.isMaxLength(limitBytes),
    Schema.makeFilter((text: string) => !text.includes("\u0000") || "must not contain the NUL character"),
    Schema.makeFilter((text: string) => text.isWellFormed() || "contains invalid Unicode"),
    Schema.makeFilter(
      (text: string) =>
        text.length * 3 <= limitBytes || utf8Length(text) <= limitBytes || `must have at most ${limitBytes} bytes`
    )
  )

const utf8Length = (text: string): number => new TextEncoder().encode(text).length

const displayName = nameText(DISPLAY_NAME_LIMIT)
const outboundSignature = bodyText(SIGNATURE_LIMIT)
const addresses = Schema.Array(EmailAddress).check(Schema.isMaxLength(RECIPIENT_LIMIT))

export const CreateMailboxInput = Schema.Struct({
  localPart: LocalPart,
  displayName: Schema.optionalKey(displayName),
  outboundSignature: Schema.optionalKey(outboundSignature)
}).annotate({ identifier: "CreateMailboxInput" })
export type CreateMailboxInput = typeof CreateMailboxInput.Type

/** The changes to a mailbox. Omitted fields stay as they are; an empty text clears the field. */
export const UpdateMailboxInput = Schema.Struct({
  mailboxId: GivenUuid,
  displayName: Schema.optionalKey(displayName),
  outboundSignature: Schema.optionalKey(outboundSignature),
  active: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "UpdateMailboxInput" })
export type UpdateMailboxInput = typeof UpdateMailboxInput.Type

export const DeleteMailboxInput = Schema.Struct({ mailboxId: GivenUuid }).annotate({ identifier: "DeleteMailboxInput" })
export type DeleteMailboxInput = typeof DeleteMailboxInput.Type

export const SendMessageInput = Schema.Struct({
  mailboxId: GivenUuid,
  to: addresses.check(Schema.isMinLength(1)),
  cc: Schema.optionalKey(addresses),
  bcc: Schema.optionalKey(addresses),
  subject: headerText(SUBJECT_LIMIT),
  text: bodyText(BODY_LIMIT_BYTES),
  html: Schema.optionalKey(bodyText(BODY_LIMIT_BYTES))
}).annotate({ identifier: "SendMessageInput" })
export type SendMessageInput = typeof SendMessageInput.Type
