import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso, toIsoOrNull } from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { confirmationLink } from "./ConfirmationLink.ts"
import { oneTimeCode } from "./OneTimeCode.ts"

const attachmentFields = {
  filename: Schema.NullOr(Schema.String).annotateKey({
    description: "Name of the file; null if the sender gave none. It is only a claim."
  }),
  contentType: Schema.String.annotateKey({
    description: "Media type of the file, with its parameters. It is only a claim of the sender."
  }),
  sizeBytes: Schema.Int.annotateKey({ description: "Length of the file, in bytes." }),
  sha256: Schema.String.annotateKey({ description: "SHA-256 of the file, in hexadecimal." })
}

const placeFields = {
  contentId: Schema.NullOr(Schema.String).annotateKey({
    description:
      "Content-ID of the file without its angle brackets, by which `cid:` addresses in the HTML name it; null if there is none."
  }),
  disposition: Schema.Literals(["inline", "attachment"]).annotateKey({
    description: "`inline` if the sender shows the file within the text, such as a picture; otherwise `attachment`."
  })
}

/** A place in the raw mail or in a file: encoded bytes, and how they are encoded. */
const FilePlace = Schema.Struct({
  offset: Schema.Int,
  encodedBytes: Schema.Int,
  encoding: Schema.Literals(["identity", "base64", "quoted-printable", "octet-strings"])
})
export type FilePlace = typeof FilePlace.Type

/** The place of an attachment in the raw mail. */
export const AttachmentSource = Schema.Struct({
  ...FilePlace.fields,
  /** Present for a file inside others, such as winmail.dat: its place in the decoded bytes of the place before. */
  inside: Schema.optionalKey(Schema.Array(FilePlace))
})
export type AttachmentSource = typeof AttachmentSource.Type

/** The description of an attachment. Its bytes are in the raw mail of an inbound message, or in `AttachmentStore`. */
export const Attachment = Schema.Struct({
  ...attachmentFields,
  /** Absent for files of sent messages, and for mail from before they were recorded. */
  contentId: Schema.optionalKey(placeFields.contentId),
  disposition: Schema.optionalKey(placeFields.disposition),
  /** Absent for an attachment that is not in a raw mail, and for mail from before the place was recorded. */
  source: Schema.optionalKey(AttachmentSource)
})
export type Attachment = typeof Attachment.Type

/** An attachment as clients see it. */
export const AttachmentRecord = Schema.Struct({
  attachmentId: Uuid.Uuid.annotateKey({ description: "Id of the attachment within its message." }),
  ...attachmentFields,
  ...placeFields
}).annotate({
  identifier: "Attachment"
})
export type AttachmentRecord = typeof AttachmentRecord.Type

export const MailLink = Schema.Struct({
  text: Schema.String.annotateKey({
    description: "The text of the link on one line, at most 200 characters; empty if it has none. It is only a claim."
  }),
  url: Schema.String.annotateKey({
    description: "The address: http, https, mailto or tel, at most 2,000 characters."
  })
}).annotate({ identifier: "MailLink" })
export type MailLink = typeof MailLink.Type

/** An address with the name that the sender gave it; null if none. A name is a claim, even where the address is not. */
export const Contact = Schema.Struct({
  address: Schema.String.annotateKey({ description: "The email address." }),
  name: Schema.NullOr(Schema.String).annotateKey({
    description: "The name beside the address; null if there is none. It is only a claim of the sender."
  })
})
export type Contact = typeof Contact.Type

/**
 * The authentication results for the sender of an inbound message, in the terms of RFC 8601 (`pass`, `fail`,
 * `softfail`, `neutral`, `none`, `temperror`, `permerror`). DMARC is `permerror` if the message does not have exactly
 * one author.
 */
export const SenderAuthentication = Schema.Struct({
  spf: Schema.String.annotateKey({
    description: "Result of SPF, in the terms of RFC 8601: pass, fail, softfail, neutral, none, temperror or permerror."
  }),
  dkim: Schema.String.annotateKey({ description: "Result of DKIM, in the terms of RFC 8601." }),
  dmarc: Schema.String.annotateKey({
    description: "Result of DMARC, in the terms of RFC 8601; permerror if the message does not have exactly one author."
  }),
  domain: Schema.NullOr(Schema.String).annotateKey({
    description:
      "The domain of From that an aligned signature or SPF pass proves, in ASCII; null if none does, and `from` is only a claim."
  })
}).annotate({ identifier: "SenderAuthentication" })
export type SenderAuthentication = typeof SenderAuthentication.Type

/**
 * The status of an outbound message for a recipient: the relay refused it temporarily, and it is retried (`queued`), the
 * relay accepted it (`sent`) or refused it permanently (`failed`); a report said that it was delivered, bounced, or was
 * complained about. Before all of these, a scheduled message is `scheduled` for its recipients, or `canceled`.
 */
const OutboundStatus = Schema.Literals([
  "queued",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "scheduled",
  "canceled"
])
export type OutboundStatus = typeof OutboundStatus.Type

export const MessageStatus = Schema.Literals(["received", ...OutboundStatus.literals])
export type MessageStatus = typeof MessageStatus.Type

/** The status of a message for a recipient. It is `unknown` for those of a received mail that are not its mailbox. */
export const RecipientStatus = Schema.Literals([...MessageStatus.literals, "unknown"])
export type RecipientStatus = typeof RecipientStatus.Type

/** A recipient and the status of the message for it. `reason` is the text from the other server, if there is one. */
export const Recipient = Schema.Struct({
  ...Contact.fields,
  kind: Schema.Literals(["to", "cc", "bcc"]).annotateKey({ description: "The field that names the recipient." }),
  status: RecipientStatus.annotateKey({
    description:
      "Status of the message for this recipient. Of a received mail: `received` for the address of its mailbox, `unknown` for every other one. Of a sent message: `queued` (the relay refused it temporarily, and it is retried), `sent` (the relay accepted it), `failed` (the relay refused it), or `delivered`, `bounced` or `complained` by a report. Of a scheduled message: `scheduled` until it is sent, or `canceled`."
  }),
  reason: Schema.NullOr(Schema.String).annotateKey({
    description: "The text of the other server about the status; null if there is none."
  })
}).annotate({ identifier: "Recipient" })
export type Recipient = typeof Recipient.Type

/**
 * Why a received mail counts as written by a program. The first that applies, in this order:
 *
 * | reason | sign |
 * | --- | --- |
 * | auto_replied | Auto-Submitted: auto-replied (RFC 3834), or the older Precedence: auto_reply and X-Autoreply |
 * | auto_generated | Auto-Submitted: any other value but `no` |
 * | mailing_list | List-Id (RFC 2919), List-Post (RFC 2369), or Precedence: list |
 * | bulk | Precedence: bulk or junk, or List-Unsubscribe |
 * | no_auto_reply | X-Auto-Response-Suppress with a value other than None (MS-OXCMAIL, section 2.2.3.2.14) |
 * | null_sender | an empty envelope sender (RFC 5321, section 4.5.5) |
 */
export const AutomaticReason = Schema.Literals([
  "auto_replied",
  "auto_generated",
  "mailing_list",
  "bulk",
  "no_auto_reply",
  "null_sender"
])
export type AutomaticReason = typeof AutomaticReason.Type

export const automaticField = Schema.NullOr(AutomaticReason).annotateKey({
  description:
    "Why a mail counts as sent by a program: auto_replied, auto_generated, mailing_list, bulk, no_auto_reply or null_sender. Do not answer a received one automatically. Of a sent message: auto_replied or auto_generated if it carries Auto-Submitted. Null otherwise."
})

/** The list that a mail was sent through, as its header names it (RFC 2369, RFC 2919, RFC 8058). */
export const MailingList = Schema.Struct({
  listId: Schema.NullOr(Schema.String).annotateKey({
    description: "Identifier of the list from List-Id, for example news.example.com; null if there is none."
  }),
  post: Schema.NullOr(Schema.String).annotateKey({
    description: "Address to which members write, from List-Post; null if there is none."
  }),
  unsubscribe: Schema.Array(Schema.String).annotateKey({
    description: "The https, http and mailto addresses of List-Unsubscribe, in their order."
  }),
  oneClick: Schema.Boolean.annotateKey({
    description: "Whether a POST of List-Unsubscribe=One-Click to the first https address unsubscribes (RFC 8058)."
  })
}).annotate({ identifier: "MailingList" })
export type MailingList = typeof MailingList.Type

/** A message of a mailbox without its bodies, as lists return it. */
export const MessageSummary = Schema.Struct({
  messageId: Uuid.Uuid.annotateKey({ description: "Id of the message." }),
  threadId: Uuid.Uuid.annotateKey({ description: "The messageId of the first message of the conversation." }),
  mailboxId: Uuid.Uuid.annotateKey({ description: "Id of the mailbox of the message." }),
  tenantId: Uuid.Uuid,
  direction: Schema.Literals(["inbound", "outbound"]).annotateKey({
    description: "Whether the message was received or sent."
  }),
  from: Schema.String.annotateKey({
    description:
      "Address of the author; empty if a received message does not have exactly one. Only `authentication` can prove it."
  }),
  sender: Contact.annotateKey({ description: "The author with its name." }),
  to: Schema.Array(Schema.String).annotateKey({ description: "Addresses in the To field." }),
  cc: Schema.Array(Schema.String).annotateKey({ description: "Addresses in the Cc field." }),
  bcc: Schema.Array(Schema.String).annotateKey({
    description: "Addresses of blind copies; empty for a received message."
  }),
  replyTo: Schema.Array(Schema.String).annotateKey({
    description: "Addresses to which the author wants replies, in Reply-To; empty if replies go to `from`."
  }),
  subject: Schema.String.annotateKey({ description: "Subject, on one line." }),
  snippet: Schema.String.annotateKey({ description: "The beginning of the text on one line, at most 160 characters." }),
  messageIdHeader: Schema.NullOr(Schema.String).annotateKey({
    description: "Message-ID of the mail with its angle brackets; null if a received mail has none."
  }),
  inReplyTo: Schema.NullOr(Schema.String).annotateKey({
    description: "Message-ID of the mail that this one answers; null if it answers none."
  }),
  /** Ids that relays gave to a sent message (`SendReceipt.relayIds`). Internal. */
  relayIds: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The messageId of the message that a sent reply answers. Internal: a header can be missing, or shared. */
  answers: Schema.optionalKey(Uuid.Uuid),
  /** When a scheduled message is due. Absent for all others. */
  sendAt: Schema.optionalKey(Timestamp),
  /** The operation that paid for a scheduled message, to be refunded if it is not sent. Internal. */
  operationId: Schema.optionalKey(Uuid.Uuid),
  references: Schema.Array(Schema.String).annotateKey({
    description: "Message-IDs of the conversation, oldest first."
  }),
  attachments: Schema.Array(Attachment),
  automatic: automaticField,
  mailingList: Schema.NullOr(MailingList).annotateKey({
    description: "The mailing list or newsletter that a received mail came from; null if its header names none."
  }),
  authentication: Schema.NullOr(SenderAuthentication).annotateKey({
    description: "Results of the checks of the sender; null for a sent message."
  }),
  malformed: Schema.Boolean.annotateKey({
    description: "Whether a received mail could not be parsed. Only its raw form and its envelope are certain then."
  }),
  truncated: Schema.Boolean.annotateKey({
    description: "Whether the text or the HTML was shortened. The raw mail has all of it."
  }),
  status: MessageStatus.annotateKey({
    description:
      "Status of the message: `received`, or of a sent message the first of sent, queued, scheduled, delivered, complained, bounced, failed and canceled that a recipient has."
  }),
  recipients: Schema.Array(Recipient).annotateKey({
    description: "The recipients and the status of the message for each."
  }),
  labels: Schema.Array(Schema.String).annotateKey({ description: "Your labels, in lower case, sorted." }),
  unread: Schema.Boolean.annotateKey({
    description: "Whether it is unread. A received message is, until you mark it as read; reading it changes nothing."
  }),
  createdAt: Timestamp
})
export type MessageSummary = typeof MessageSummary.Type

/** A message with its bodies. */
export const Message = Schema.Struct({
  ...MessageSummary.fields,
  text: Schema.NullOr(Schema.String).annotateKey({
    description: "The plain text. Of a received mail without one: what its HTML shows. Null if there is none."
  }),
  html: Schema.NullOr(Schema.String).annotateKey({ description: "The HTML; null if there is none." }),
  extractedText: Schema.NullOr(Schema.String).annotateKey({
    description:
      "The words of the author of a received text, without quotes and signature. Words stay where it is not certain that they are quoted, and so does a forwarded message. Null if it is not known, and for sent messages."
  }),
  /** Absent for sent messages, and for mail from before links were recorded. */
  links: Schema.optionalKey(Schema.Array(MailLink))
})
export type Message = typeof Message.Type

/** The content of a message that has none: each field empty. Also the fields that stored messages of older versions lack. */
export const BLANK_CONTENT = {
  to: [],
  cc: [],
  replyTo: [],
  subject: "",
  messageIdHeader: null,
  inReplyTo: null,
  references: [],
  attachments: [],
  automatic: null,
  mailingList: null,
  truncated: false,
  text: null,
  html: null,
  extractedText: null
} as const satisfies Partial<Message>

const {
  answers: _1,
  createdAt: _2,
  operationId: _3,
  relayIds: _4,
  sendAt: _5,
  tenantId: _6,
  ...summaryFields
} = MessageSummary.fields

/** A message as lists return it to clients. */
export const MessageSummaryRecord = Schema.Struct({
  ...summaryFields,
  attachments: Schema.Array(AttachmentRecord).annotateKey({ description: "The attached files, without their bytes." }),
  sendAt: Schema.NullOr(IsoTimestamp).annotateKey({
    description: "When a scheduled message is or was due; null for all others."
  }),
  createdAt: IsoTimestamp.annotateKey({ description: "When the message was received, sent or scheduled." })
}).annotate({ identifier: "MessageSummary" })
export type MessageSummaryRecord = typeof MessageSummaryRecord.Type

/** A message with its bodies, as clients see it. */
export const MessageRecord = Schema.Struct({
  ...MessageSummaryRecord.fields,
  text: Message.fields.text,
  html: Message.fields.html,
  extractedText: Message.fields.extractedText,
  hasOmittedText: Schema.Boolean.annotateKey({
    description:
      "Whether extractedText leaves out a part of the text, such as a quotation or a signature; false for sent messages."
  }),
  oneTimeCode: Schema.NullOr(Schema.String).annotateKey({
    description:
      "The one-time code of a received message, without spaces and dashes: 4 to 10 digits, or letters and digits. Null if it does not have exactly one, and for sent messages. Check `authentication` before you use it: anyone can send one."
  }),
  confirmationLink: Schema.NullOr(Schema.String).annotateKey({
    description:
      "The address of the link of a received message that confirms an email address, signs in or resets a password. Null if it does not have exactly one, and for sent messages. Check `authentication` before you open it: anyone can send one."
  }),
  links: Schema.Array(MailLink).annotateKey({
    description:
      "The links of a received mail in their order, each address once, at most 100: those of its HTML, or those in its text if the HTML has none."
  })
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
  replyTo: message.replyTo,
  subject: message.subject,
  snippet: message.snippet,
  messageIdHeader: message.messageIdHeader,
  inReplyTo: message.inReplyTo,
  references: message.references,
  attachments: message.attachments.map((attachment, index) => ({
    attachmentId: attachmentIdOf(message.messageId, index),
    filename: attachment.filename,
    contentType: attachment.contentType,
    sizeBytes: attachment.sizeBytes,
    sha256: attachment.sha256,
    contentId: attachment.contentId ?? null,
    disposition: attachment.disposition ?? (typeof attachment.contentId === "string" ? "inline" : "attachment")
  })),
  automatic: message.automatic,
  mailingList: message.mailingList,
  authentication: message.authentication,
  malformed: message.malformed,
  truncated: message.truncated,
  status: message.status,
  recipients: message.recipients,
  labels: message.labels,
  unread: message.unread,
  sendAt: toIsoOrNull(message.sendAt ?? null),
  createdAt: toIso(message.createdAt)
})

export const toMessageRecord = (message: Message): MessageRecord => ({
  ...toMessageSummaryRecord(message),
  text: message.text,
  html: message.html,
  extractedText: message.extractedText,
  hasOmittedText: hasOmittedText(message),
  // Read here, and not stored, so that a better reading holds for older mail.
  oneTimeCode: (message.direction === "inbound" ? oneTimeCode(message) : undefined) ?? null,
  confirmationLink: (message.direction === "inbound" ? confirmationLink(message) : undefined) ?? null,
  links: message.links ?? []
})

/** Whether words of a received text are missing in `extractedText`. It is derived, so that stored messages have it too. */
const hasOmittedText = ({ direction, extractedText, text }: Message): boolean => {
  if (direction === "outbound" || text === null) return false
  if (extractedText === null) return text.trim() !== ""
  return text.replaceAll(/\s+/g, "") !== extractedText.replaceAll(/\s+/g, "")
}

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

/** Returns the recipients of a received message. `isOwn` tells the addresses of its mailbox. */
export const receivedBy = (
  to: ReadonlyArray<Contact>,
  cc: ReadonlyArray<Contact>,
  isOwn: (address: string) => boolean
): ReadonlyArray<Recipient> => {
  const of =
    (kind: "to" | "cc") =>
    (contact: Contact): Recipient => ({
      ...contact,
      kind,
      status: isOwn(contact.address) ? "received" : "unknown",
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
