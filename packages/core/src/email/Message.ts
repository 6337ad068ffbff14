import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"

const attachmentFields = {
  filename: Schema.NullOr(Schema.String),
  contentType: Schema.String,
  sizeBytes: Schema.Int,
  /** Hex. */
  sha256: Schema.String
}

/** The place of an attachment in the raw mail: its encoded bytes, and how they are encoded. */
export const AttachmentSource = Schema.Struct({
  offset: Schema.Int,
  encodedBytes: Schema.Int,
  encoding: Schema.Literals(["identity", "base64", "quoted-printable"])
})
export type AttachmentSource = typeof AttachmentSource.Type

/** The description of an attachment. Its bytes are in the raw mail of an inbound message, or in `AttachmentStore`. */
export const Attachment = Schema.Struct({
  ...attachmentFields,
  /** Absent for an attachment that is not in a raw mail, and for mail from before the place was recorded. */
  source: Schema.optionalKey(AttachmentSource)
})
export type Attachment = typeof Attachment.Type

/** An attachment as clients see it. */
export const AttachmentRecord = Schema.Struct({ attachmentId: Uuid.Uuid, ...attachmentFields }).annotate({
  identifier: "Attachment"
})
export type AttachmentRecord = typeof AttachmentRecord.Type

/** An address with the name that the sender gave it; null if none. A name is a claim, even where the address is not. */
export const Contact = Schema.Struct({ address: Schema.String, name: Schema.NullOr(Schema.String) })
export type Contact = typeof Contact.Type

/**
 * The authentication results for the sender of an inbound message, in the terms of RFC 8601 (`pass`, `fail`,
 * `softfail`, `neutral`, `none`, `temperror`, `permerror`). DMARC is `permerror` if the message does not have exactly
 * one author.
 */
export const SenderAuthentication = Schema.Struct({
  spf: Schema.String,
  dkim: Schema.String,
  dmarc: Schema.String,
  /**
   * The domain of From, in ASCII, if an aligned signature or an aligned SPF pass proves it; null otherwise. If it is
   * null, `from` is only a claim.
   */
  domain: Schema.NullOr(Schema.String)
}).annotate({ identifier: "SenderAuthentication" })
export type SenderAuthentication = typeof SenderAuthentication.Type

/**
 * The status of an outbound message for a recipient: the relay refused it temporarily, and it is retried (`queued`), the
 * relay accepted it (`sent`) or refused it permanently (`failed`); a report said that it was delivered, bounced, or was
 * complained about.
 */
const OutboundStatus = Schema.Literals(["queued", "sent", "delivered", "bounced", "complained", "failed"])
export type OutboundStatus = typeof OutboundStatus.Type

export const MessageStatus = Schema.Literals(["received", ...OutboundStatus.literals])
export type MessageStatus = typeof MessageStatus.Type

/** A recipient and the status of the message for it. `reason` is the text from the other server, if there is one. */
export const Recipient = Schema.Struct({
  ...Contact.fields,
  kind: Schema.Literals(["to", "cc", "bcc"]),
  status: MessageStatus,
  reason: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Recipient" })
export type Recipient = typeof Recipient.Type

/** A message of a mailbox without its bodies, as lists return it. */
export const MessageSummary = Schema.Struct({
  messageId: Uuid.Uuid,
  /**
   * The messageId of the first message of the conversation. Replies share it if their headers refer to a known message.
   */
  threadId: Uuid.Uuid,
  mailboxId: Uuid.Uuid,
  tenantId: Uuid.Uuid,
  direction: Schema.Literals(["inbound", "outbound"]),
  /** The address without a name; empty if an inbound message does not have exactly one author. */
  from: Schema.String,
  /** `from` with its name. */
  sender: Contact,
  to: Schema.Array(Schema.String),
  cc: Schema.Array(Schema.String),
  bcc: Schema.Array(Schema.String),
  subject: Schema.String,
  snippet: Schema.String,
  /** Includes the angle brackets; null if an inbound message has no Message-ID. */
  messageIdHeader: Schema.NullOr(Schema.String),
  inReplyTo: Schema.NullOr(Schema.String),
  /** The messageId of the message that a sent reply answers. Internal: a header can be missing, or shared. */
  answers: Schema.optionalKey(Uuid.Uuid),
  references: Schema.Array(Schema.String),
  attachments: Schema.Array(Attachment),
  /** Inbound only. */
  authentication: Schema.NullOr(SenderAuthentication),
  /** Whether an inbound mail could not be parsed as MIME: only its raw form and envelope are certain. */
  malformed: Schema.Boolean,
  /** Whether text or html was truncated; the raw mail has the full content. */
  truncated: Schema.Boolean,
  status: MessageStatus,
  /** Of an inbound message: those in its To and Cc fields, which need not include the mailbox. */
  recipients: Schema.Array(Recipient),
  createdAt: Timestamp
})
export type MessageSummary = typeof MessageSummary.Type

/** A message with its bodies. */
export const Message = Schema.Struct({
  ...MessageSummary.fields,
  /** Of a received message without a text: what its HTML shows. Null if it shows nothing. */
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  /** The new part of a received text, without quotes and signature; null if unknown, and for sent messages. */
  extractedText: Schema.NullOr(Schema.String)
})
export type Message = typeof Message.Type

const { answers: _answers, createdAt: _createdAt, tenantId: _tenantId, ...summaryFields } = MessageSummary.fields

/** A message as lists return it to clients. */
export const MessageSummaryRecord = Schema.Struct({
  ...summaryFields,
  attachments: Schema.Array(AttachmentRecord),
  createdAt: IsoTimestamp
}).annotate({ identifier: "MessageSummary" })
export type MessageSummaryRecord = typeof MessageSummaryRecord.Type

/** A message with its bodies, as clients see it. */
export const MessageRecord = Schema.Struct({
  ...MessageSummaryRecord.fields,
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  extractedText: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Message" })
export type MessageRecord = typeof MessageRecord.Type

export const toMessageSummaryRecord = (message: MessageSummary): MessageSummaryRecord => ({
  messageId: message.messageId,
  threadId: message.threadId,
  mailboxId: message.mailboxId,
  direction: message.direction,
  from: message.from,
  sender: message.sender,
  to: message.to,
  cc: message.cc,
  bcc: message.bcc,
  subject: message.subject,
  snippet: message.snippet,
  messageIdHeader: message.messageIdHeader,
  inReplyTo: message.inReplyTo,
  references: message.references,
  attachments: message.attachments.map(({ contentType, filename, sha256, sizeBytes }, index) => ({
    attachmentId: attachmentIdOf(message.messageId, index),
    filename,
    contentType,
    sizeBytes,
    sha256
  })),
  authentication: message.authentication,
  malformed: message.malformed,
  truncated: message.truncated,
  status: message.status,
  recipients: message.recipients,
  createdAt: toIso(message.createdAt)
})

export const toMessageRecord = (message: Message): MessageRecord => ({
  ...toMessageSummaryRecord(message),
  text: message.text,
  html: message.html,
  extractedText: message.extractedText
})

/**
 * Returns the id of an attachment by its index in the message. It is derived, so that every server gives it to the
 * attachment, also in messages from before attachments had ids: a version 8 UUID (RFC 9562, section 5.8), which no
 * messageId is.
 */
export const attachmentIdOf = (messageId: string, index: number): string => {
  const bytes = Uuid.toBytes(messageId)
  bytes[6] = 0x80 | (bytes[6]! & 0x0f)
  bytes[14]! ^= index >> 8
  bytes[15]! ^= index & 0xff
  return Uuid.fromBytes(bytes)
}

/** Returns the recipients of a received message. */
export const receivedBy = (to: ReadonlyArray<Contact>, cc: ReadonlyArray<Contact>): ReadonlyArray<Recipient> => {
  const of =
    (kind: "to" | "cc") =>
    (contact: Contact): Recipient => ({
      ...contact,
      kind,
      status: "received",
      reason: null
    })
  return [...to.map(of("to")), ...cc.map(of("cc"))]
}

/** Returns the size of text and HTML in UTF-8 bytes. */
export const bodySizeBytes = ({ html, text }: Pick<Message, "html" | "text">): number =>
  [text, html].reduce((sum, part) => sum + (part === null ? 0 : new TextEncoder().encode(part).length), 0)

const SNIPPET_LIMIT = 160

/** Returns the beginning of a text as one line. */
export const snippetOf = (text: string | null): string => {
  const line = (text ?? "")
    .slice(0, SNIPPET_LIMIT * 4)
    // Removes half of a surrogate pair that was cut in two.
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/\s+/g, " ")
    .trim()
  return line.length <= SNIPPET_LIMIT ? line : `${[...line].slice(0, SNIPPET_LIMIT - 1).join("")}…`
}
