import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"

/** An attachment as it is described; its bytes are in the raw mail. */
export const Attachment = Schema.Struct({
  filename: Schema.NullOr(Schema.String),
  contentType: Schema.String,
  sizeBytes: Schema.Int,
  /** Hex. */
  sha256: Schema.String
})
export type Attachment = typeof Attachment.Type

/**
 * The verdicts on the sender of an inbound message, in the words of RFC 8601 (`pass`, `fail`, `softfail`, `neutral`,
 * `none`, `temperror`, `permerror`). DMARC is `permerror` when the message does not have exactly one author.
 */
export const SenderAuthentication = Schema.Struct({
  spf: Schema.String,
  dkim: Schema.String,
  dmarc: Schema.String,
  /**
   * The domain of From, in ASCII, if an aligned signature or an aligned SPF pass proves it; null otherwise. Only then is
   * `from` more than a claim.
   */
  domain: Schema.NullOr(Schema.String)
})
export type SenderAuthentication = typeof SenderAuthentication.Type

export const MessageStatus = Schema.Literals([
  "received",
  "queued",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed"
])
export type MessageStatus = typeof MessageStatus.Type

/** One recipient and what became of the message for it. `reason` is the other side's word, where there is one. */
export const Recipient = Schema.Struct({
  address: Schema.String,
  kind: Schema.Literals(["to", "cc", "bcc"]),
  status: MessageStatus,
  reason: Schema.NullOr(Schema.String)
})
export type Recipient = typeof Recipient.Type

/** A message of a mailbox, as lists show it. */
export const MessageSummary = Schema.Struct({
  messageId: Uuid,
  /** The first message of the conversation names it: shared by replies as far as their headers tell. */
  threadId: Uuid,
  mailboxId: Uuid,
  tenantId: Uuid,
  direction: Schema.Literals(["inbound", "outbound"]),
  /** Address alone; empty when an inbound message does not have exactly one author. */
  from: Schema.String,
  to: Schema.Array(Schema.String),
  cc: Schema.Array(Schema.String),
  bcc: Schema.Array(Schema.String),
  subject: Schema.String,
  snippet: Schema.String,
  /** With its angle brackets; null when an inbound message has none. */
  messageIdHeader: Schema.NullOr(Schema.String),
  inReplyTo: Schema.NullOr(Schema.String),
  references: Schema.Array(Schema.String),
  attachments: Schema.Array(Attachment),
  /** Inbound only. */
  authentication: Schema.NullOr(SenderAuthentication),
  /** Inbound mail that could not be read as MIME: only its raw form and envelope are certain. */
  malformed: Schema.Boolean,
  /** Whether text or html is longer than is kept: the raw message has the whole. */
  truncated: Schema.Boolean,
  status: MessageStatus,
  recipients: Schema.Array(Recipient),
  createdAt: Timestamp
})
export type MessageSummary = typeof MessageSummary.Type

/** A whole message. */
export const Message = Schema.Struct({
  ...MessageSummary.fields,
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String)
})
export type Message = typeof Message.Type

const { createdAt: _createdAt, tenantId: _tenantId, ...summaryFields } = MessageSummary.fields

/** A message as lists show it to clients. */
export const MessageSummaryRecord = Schema.Struct({ ...summaryFields, createdAt: IsoTimestamp }).annotate({
  identifier: "MessageSummary"
})
export type MessageSummaryRecord = typeof MessageSummaryRecord.Type

/** A whole message as clients see it. */
export const MessageRecord = Schema.Struct({
  ...MessageSummaryRecord.fields,
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Message" })
export type MessageRecord = typeof MessageRecord.Type

export const toMessageSummaryRecord = (message: MessageSummary): MessageSummaryRecord => ({
  messageId: message.messageId,
  threadId: message.threadId,
  mailboxId: message.mailboxId,
  direction: message.direction,
  from: message.from,
  to: message.to,
  cc: message.cc,
  bcc: message.bcc,
  subject: message.subject,
  snippet: message.snippet,
  messageIdHeader: message.messageIdHeader,
  inReplyTo: message.inReplyTo,
  references: message.references,
  attachments: message.attachments,
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
  html: message.html
})

/** What text and HTML take, in UTF-8. */
export const bodySizeBytes = ({ html, text }: Pick<Message, "html" | "text">): number =>
  [text, html].reduce((sum, part) => sum + (part === null ? 0 : new TextEncoder().encode(part).length), 0)

const SNIPPET_LIMIT = 160

/** The beginning of a text on one line. */
export const snippetOf = (text: string | null): string => {
  const line = (text ?? "")
    .slice(0, SNIPPET_LIMIT * 4)
    // The half of a character that was cut in two.
    .replace(/[\ud800-\udbff]$/, "")
    .replace(/\s+/g, " ")
    .trim()
  return line.length <= SNIPPET_LIMIT ? line : `${[...line].slice(0, SNIPPET_LIMIT - 1).join("")}…`
}
