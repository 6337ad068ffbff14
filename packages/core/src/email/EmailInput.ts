import { Schema } from "effect"
import { maxEntries } from "../kernel/SchemaIssues.ts"
import { DateTime } from "../kernel/DateTime.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { nameText, plainText } from "../kernel/PlainText.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import { EmailAddress } from "./EmailAddress.ts"
import { Label, LABEL_LIMIT } from "./Label.ts"
import { searchWords } from "./MessageTerms.ts"
import { LocalPart } from "./LocalPart.ts"
import {
  MailboxMetadataInput,
  METADATA_KEY_CHARACTERS,
  METADATA_LIMIT,
  METADATA_VALUE_CHARACTERS
} from "./MailboxMetadata.ts"
import { SUBJECT_LIMIT } from "./Subject.ts"
import { SENDER_LIST_LIMIT, SenderPolicyInput } from "./SenderPolicy.ts"

/** The maximum number of recipients of one message, in to, cc and bcc together. */
export const RECIPIENT_LIMIT = 50
/** The maximum number of addresses in Reply-To. */
export const REPLY_TO_LIMIT = 10
/** The maximum length of the text and of the HTML of a message, each in UTF-8 bytes. */
export const BODY_LIMIT_BYTES = 1024 * 1024
/** The maximum number of attachments of one message. */
export const ATTACHMENT_LIMIT = 20
/** The maximum size of all attachments of one message together, in decoded bytes. */
export const ATTACHMENTS_LIMIT_BYTES = 10 * 1024 * 1024
/** Page size of a list of messages if the client sets none. */
export const DEFAULT_MESSAGE_LIMIT = 50
const DISPLAY_NAME_LIMIT = 128
const SIGNATURE_LIMIT = 4_096
const FILENAME_LIMIT = 255
/** RFC 6838, section 4.2: 127 characters each. No registered type comes close. */
const CONTENT_TYPE_LIMIT = 127
const CONTENT_ID_LIMIT = 128

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

const mailboxId = GivenUuid.annotateKey({
  description: "Id of your mailbox.",
  examples: ["019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"]
})
const displayName = Schema.optionalKey(nameText(DISPLAY_NAME_LIMIT)).annotateKey({
  description: "Name that recipients see next to the address.",
  examples: ["Ada Lovelace"]
})
const outboundSignature = Schema.optionalKey(bodyText(SIGNATURE_LIMIT)).annotateKey({
  description: "Text appended to every sent message.",
  examples: ["Ada, an agent of Example Ltd."]
})
const senderPolicy = Schema.optionalKey(SenderPolicyInput).annotateKey({
  description: `The senders from which the mailbox receives mail: mode (anyone, authenticated or listed; default anyone), allow and block, each a list of at most ${SENDER_LIST_LIMIT} addresses or domains. Replaces the whole policy; omitted parts take their defaults.`,
  examples: [{ mode: "listed", allow: ["bob@example.com", "example.org"] }]
})
const metadata = Schema.optionalKey(MailboxMetadataInput).annotateKey({
  description: `Your own data on the mailbox: at most ${METADATA_LIMIT} keys of 1 to ${METADATA_KEY_CHARACTERS} characters, with values of at most ${METADATA_VALUE_CHARACTERS}. Other keys stay as they are; an empty value deletes its key.`,
  examples: [{ customer: "cus_42" }]
})
const addresses = Schema.Array(EmailAddress).check(maxEntries(RECIPIENT_LIMIT))

/** Returns the number of bytes that a base64 text encodes. */
const decodedLength = (base64: string): number =>
  (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0)

/** Searches for a wrong character, because matching a whole text of 14 MB takes seven times as long: half a second. */
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 &&
  !/[^A-Za-z0-9+/]/.test(text.endsWith("==") ? text.slice(0, -2) : text.endsWith("=") ? text.slice(0, -1) : text)

/** RFC 6838, section 4.2, with parameters: tokens or quoted texts of printable ASCII (RFC 2045, section 5.1). */
const CONTENT_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:; ?[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[ !#-[\]-~]|\\[ -~])*"))*$/i
/** RFC 2045, section 6.4: the content of these types must not be encoded in base64, as attachments are. */
const COMPOSITE = /^(?:multipart|message)\//i

const filename = nameText(FILENAME_LIMIT).check(
  Schema.isMinLength(1),
  Schema.makeFilter((name: string) => !/[/\\]/.test(name) || "must be a name without a path"),
  Schema.makeFilter((name: string) => !/^\.{1,2}$/.test(name) || "must not be . or ..")
)

const contentType = Schema.String.check(
  Schema.isMaxLength(CONTENT_TYPE_LIMIT),
  Schema.makeFilter((type: string) => CONTENT_TYPE.test(type) || "must be a media type, for example application/pdf"),
  Schema.makeFilter(
    (type: string) => !COMPOSITE.test(type) || "must not be multipart or message: send application/octet-stream"
  )
)

const contentBase64 = Schema.String.check(
  Schema.isMaxLength(Math.ceil(ATTACHMENTS_LIMIT_BYTES / 3) * 4),
  Schema.makeFilter((text: string) => isBase64(text) || "must be base64 with padding and without line breaks")
)

/** RFC 2045, section 7: a Message-ID without its brackets. Domains may be missing, as most programs leave them out. */
const CONTENT_ID = /^[\w!#$%&'*+/=?^`{|}~-]+(?:[.@][\w!#$%&'*+/=?^`{|}~-]+)*$/
const contentId = Schema.String.check(
  Schema.isMaxLength(CONTENT_ID_LIMIT),
  Schema.makeFilter(
    (id: string) =>
      CONTENT_ID.test(id) || "must be letters, digits and signs without brackets, for example logo@example.com"
  )
)

/** Returns a file of a received message in the form in which it can be sent again. Its names are the sender's. */
export const sendable = (file: {
  readonly filename: string | null
  readonly contentType: string
  readonly contentId: string | null
}) => ({
  filename: Schema.is(filename)(file.filename) ? file.filename : "attachment",
  contentType: Schema.is(contentType)(file.contentType) ? file.contentType : "application/octet-stream",
  ...(Schema.is(contentId)(file.contentId) ? { contentId: file.contentId } : {})
})

const attachment = Schema.Struct({
  filename: filename.annotateKey({ description: "Name of the file, without a path." }),
  contentType: contentType.annotateKey({
    description: "Media type of the file, with parameters if it needs any: `text/csv; charset=utf-8`."
  }),
  contentBase64: contentBase64.annotateKey({
    description: "The bytes in base64, with padding and without line breaks."
  }),
  contentId: Schema.optionalKey(contentId).annotateKey({
    description:
      'Makes the file part of the HTML, which shows it by `cid:` and this id: `<img src="cid:logo">`. Requires html.'
  })
})

const attachments = Schema.Array(attachment).check(
  maxEntries(ATTACHMENT_LIMIT),
  Schema.makeFilter(
    (files) =>
      files.reduce((sum, file) => sum + decodedLength(file.contentBase64), 0) <= ATTACHMENTS_LIMIT_BYTES ||
      `must have at most ${ATTACHMENTS_LIMIT_BYTES} bytes together, after decoding`
  )
)

export const CreateMailboxInput = Schema.Struct({
  localPart: LocalPart.annotateKey({
    description: "The part before the @: a dot-atom without a plus sign, converted to lower case.",
    examples: ["ada"]
  }),
  displayName,
  outboundSignature,
  senderPolicy,
  metadata
}).annotate({ identifier: "CreateMailboxInput" })
export type CreateMailboxInput = typeof CreateMailboxInput.Type

/** The changes to a mailbox. Omitted fields stay as they are; an empty text clears the field. */
export const UpdateMailboxInput = Schema.Struct({
  mailboxId,
  displayName,
  outboundSignature,
  active: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the mailbox receives mail. Mail to an inactive mailbox is rejected.",
    examples: [false]
  }),
  senderPolicy,
  metadata
}).annotate({ identifier: "UpdateMailboxInput" })
export type UpdateMailboxInput = typeof UpdateMailboxInput.Type

export const DeleteMailboxInput = Schema.Struct({ mailboxId }).annotate({ identifier: "DeleteMailboxInput" })
export type DeleteMailboxInput = typeof DeleteMailboxInput.Type

/** How far ahead a message can be scheduled, and the scheduled messages that a tenant can have. */
export const SCHEDULE_DAYS = 30
export const SCHEDULED_LIMIT = 100

export const SendMessageInput = Schema.Struct({
  mailboxId,
  to: Schema.optionalKey(addresses.check(Schema.isMinLength(1))).annotateKey({
    description:
      "Addresses of the recipients. Required without inReplyTo. Default of a reply: the addresses in Reply-To of the message, or its sender; those in `to` of a message that you sent. Your own address is left out.",
    examples: [["bob@example.com"]]
  }),
  cc: Schema.optionalKey(addresses).annotateKey({
    description: "Addresses that receive a copy.",
    examples: [["carol@example.com"]]
  }),
  bcc: Schema.optionalKey(addresses).annotateKey({
    description: "Addresses that receive a copy without being shown to other recipients.",
    examples: [["dan@example.com"]]
  }),
  replyTo: Schema.optionalKey(Schema.Array(EmailAddress).check(maxEntries(REPLY_TO_LIMIT))).annotateKey({
    description: "Addresses to which replies shall go, in Reply-To. Default: your mailbox.",
    examples: [["help@example.com"]]
  }),
  subject: Schema.optionalKey(headerText(SUBJECT_LIMIT)).annotateKey({
    description:
      "Subject, on one line. Required without inReplyTo and forwards. Default: that of the message with Re: or Fwd: before it.",
    examples: ["Hello"]
  }),
  text: bodyText(BODY_LIMIT_BYTES).annotateKey({
    description: "Body as plain text. The limit is also counted in UTF-8 bytes.",
    examples: ["Hello Bob"]
  }),
  html: Schema.optionalKey(bodyText(BODY_LIMIT_BYTES)).annotateKey({
    description: "Body as HTML. The limit is also counted in UTF-8 bytes.",
    examples: ["<p>Hello Bob</p>"]
  }),
  inReplyTo: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Id of your message, received or sent, that this one answers. Sets the headers and the thread.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  }),
  forwards: Schema.optionalKey(GivenUuid).annotateKey({
    description:
      "Id of your message, received or sent, that this one forwards: below text and html follow its header, its text and HTML, and its attachments. Begins a new thread.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  }),
  forwardAttachments: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the attachments of the forwarded message are sent too. Requires forwards. Default: true.",
    examples: [false]
  }),
  replyAll: Schema.optionalKey(Schema.Boolean).annotateKey({
    description:
      "Whether a reply is copied to everyone in to and cc of the message, and to its mailing list, without your own address. Requires inReplyTo. Default: false.",
    examples: [true]
  }),
  automatic: Schema.optionalKey(Schema.Boolean).annotateKey({
    description:
      "Whether a program sends the message by itself. It then carries Auto-Submitted (RFC 3834), and is refused as an answer to an automatic reply or a bounce, so that two programs do not answer each other forever. Default: true with inReplyTo, otherwise false. Pass false if a person or a decision of its own stands behind it.",
    examples: [false]
  }),
  sendAt: Schema.optionalKey(DateTime).annotateKey({
    description: `When to send it, at most ${SCHEDULE_DAYS} days ahead. Default: now.`,
    examples: [Timestamp.fromMillis(Date.UTC(2026, 0, 31, 12))]
  }),
  attachments: Schema.optionalKey(attachments).annotateKey({
    description: `Files, each with filename (without a path), contentType and contentBase64, and contentId if the HTML shows it. At most ${ATTACHMENTS_LIMIT_BYTES} bytes together, after decoding.`,
    examples: [[{ filename: "hello.txt", contentType: "text/plain", contentBase64: "SGVsbG8=" }]]
  })
}).annotate({ identifier: "SendMessageInput" })
export type SendMessageInput = typeof SendMessageInput.Type

const QUERY_CHARACTERS = 256
/** The maximum number of words in a search. */
const QUERY_WORDS = 20

const queryText = plainText(QUERY_CHARACTERS).check(
  Schema.makeFilter((text: string) => {
    const { length } = searchWords(text)
    if (length === 0) return "must contain a letter or a digit"
    return length <= QUERY_WORDS || `has ${length} words; the maximum is ${QUERY_WORDS}`
  })
)

export const DEFAULT_SUPPRESSION_LIMIT = 100

export const QuerySuppressionsInput = Schema.Struct({
  limit: PageInput.limit({ maximum: 1_000, default: DEFAULT_SUPPRESSION_LIMIT }),
  cursor: PageInput.cursor
})

/** The address whose suppression is lifted. */
export const LiftSuppressionInput = Schema.Struct({
  address: EmailAddress.annotateKey({
    description: "Address to write to again, in any case.",
    examples: ["bob@example.com"]
  })
}).annotate({ identifier: "LiftSuppressionInput" })

/** Selects a page of the messages of a mailbox, or of all mailboxes; or one message by its id. */
export const QueryMessagesInput = Schema.Struct({
  mailboxId: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Only messages of this mailbox.",
    examples: ["019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"]
  }),
  messageId: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Return this message with its body instead of a list.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  }),
  threadId: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Only messages of this conversation.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  }),
  direction: Schema.optionalKey(Schema.Literals(["inbound", "outbound"])).annotateKey({
    description: "Only received messages, or only sent ones.",
    examples: ["inbound"]
  }),
  from: Schema.optionalKey(EmailAddress).annotateKey({
    description: "Only messages from this address, in any case.",
    examples: ["bob@example.com"]
  }),
  q: Schema.optionalKey(queryText).annotateKey({
    description:
      "Only messages with all of these words, in any case, in the subject, the names, the addresses or the text. Punctuation separates words.",
    examples: ["invoice 2026"]
  }),
  label: Schema.optionalKey(Label).annotateKey({
    description: "Only messages with this label, in any case.",
    examples: ["invoice"]
  }),
  unread: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Only unread messages if true, only read ones if false.",
    examples: [true]
  }),
  limit: PageInput.limit({ maximum: 100, default: DEFAULT_MESSAGE_LIMIT }),
  cursor: PageInput.cursor
})

/** Selects a page of the threads of a mailbox, or of all mailboxes; or one thread by its id. */
export const QueryThreadsInput = Schema.Struct({
  mailboxId: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Only threads of this mailbox.",
    examples: ["019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11"]
  }),
  threadId: Schema.optionalKey(GivenUuid).annotateKey({
    description: "Return this thread with its messages instead of a list.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  }),
  label: Schema.optionalKey(Label).annotateKey({
    description: "Only threads with a message that has this label, in any case.",
    examples: ["invoice"]
  }),
  unread: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Only threads with an unread message if true, only those without one if false.",
    examples: [true]
  }),
  limit: PageInput.limit({ maximum: 100, default: DEFAULT_MESSAGE_LIMIT }),
  cursor: PageInput.cursor
})

/** The maximum number of messages of one update. */
export const UPDATE_LIMIT = 100

const labels = Schema.optionalKey(Schema.Array(Label).check(maxEntries(LABEL_LIMIT)))

/** A change of labels and of the unread flag of messages. */
export const UpdateMessagesInput = Schema.Struct({
  messageIds: Schema.Array(GivenUuid)
    .check(Schema.isMinLength(1), maxEntries(UPDATE_LIMIT))
    .annotateKey({
      description: `Ids of your messages, at most ${UPDATE_LIMIT}.`,
      examples: [["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]]
    }),
  addLabels: labels.annotateKey({
    description: `Labels to add, in any case. A message has at most ${LABEL_LIMIT}.`,
    examples: [["invoice"]]
  }),
  removeLabels: labels.annotateKey({ description: "Labels to remove, in any case.", examples: [["inbox"]] }),
  unread: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "`false` marks the messages as read, `true` as unread.",
    examples: [false]
  })
}).annotate({ identifier: "UpdateMessagesInput" })
export type UpdateMessagesInput = typeof UpdateMessagesInput.Type

export const CancelMessageInput = Schema.Struct({
  messageId: GivenUuid.annotateKey({
    description: "Id of your scheduled message.",
    examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"]
  })
}).annotate({ identifier: "CancelMessageInput" })
