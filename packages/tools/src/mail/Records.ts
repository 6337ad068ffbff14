import {
  AgentOsError,
  type Mailbox,
  type MessageRecord,
  type OutputOf,
  textOfHtml,
  type ThreadRecord
} from "@agentos/client"
import { type JsonSchema, nullable, objectSchema, TEXT, TIME } from "../Schema.ts"
import type { Json } from "../Result.ts"
import type { ToolContext } from "../Tool.ts"
import { cut, line, lineOrNull, TEXT_MAX } from "../Untrusted.ts"

type Summary = Extract<OutputOf<"queryMessages">, { readonly items: unknown }>["items"][number]

type Attachment = MessageRecord["attachments"][number]

/** The input that selects a mailbox. */
export const MAILBOX_INPUT = {
  type: "string",
  maxLength: 320,
  examples: ["ada@agentos.example"],
  description: "Address or id of your mailbox. May be omitted if you have exactly one."
} as const

export const MARKS = { labels: { type: "array", items: TEXT }, unread: { type: "boolean" } } as const

const COMMON: Readonly<Record<string, JsonSchema>> = {
  messageId: TEXT,
  threadId: TEXT,
  mailboxId: TEXT,
  direction: { type: "string", enum: ["inbound", "outbound"] },
  status: TEXT,
  ...MARKS,
  sendAt: { type: ["string", "null"], description: "When a scheduled message is or was due; else null." },
  createdAt: TIME,
  senderVerified: {
    type: "boolean",
    description: "Whether DMARC proves that the mail comes from the domain of its sender."
  },
  automatic: {
    type: ["string", "null"],
    description: "Why a received mail counts as written by a program. Do not answer such a mail on your own. Else null."
  }
}

const COMMON_UNTRUSTED: Readonly<Record<string, JsonSchema>> = {
  from: TEXT,
  senderName: nullable(TEXT),
  replyTo: { type: "array", items: TEXT },
  to: { type: "array", items: TEXT },
  cc: { type: "array", items: TEXT },
  subject: TEXT
}

export const SUMMARY_SCHEMA = objectSchema({
  ...COMMON,
  untrusted: objectSchema({ ...COMMON_UNTRUSTED, snippet: TEXT })
})

export const THREAD_SCHEMA = objectSchema({
  threadId: TEXT,
  mailboxId: TEXT,
  messageCount: { type: "integer" },
  unreadCount: { type: "integer" },
  labels: MARKS.labels,
  lastMessageAt: TIME,
  untrusted: objectSchema({ subject: TEXT, participants: { type: "array", items: TEXT }, snippet: TEXT })
})

export const threadOf = (thread: ThreadRecord): Json => {
  const { labels, lastMessageAt, mailboxId, messageCount, participants, snippet, subject, threadId, unreadCount } =
    thread
  return {
    threadId,
    mailboxId,
    messageCount,
    unreadCount,
    labels: [...labels],
    lastMessageAt,
    untrusted: { subject: line(subject), participants: participants.map(line), snippet: line(snippet) }
  }
}

export const ATTACHMENT_SCHEMA = objectSchema({
  attachmentId: TEXT,
  filename: nullable(TEXT),
  contentType: TEXT,
  sizeBytes: { type: "integer" },
  contentId: nullable(TEXT),
  disposition: { type: "string", enum: ["inline", "attachment"] }
})

export const EMAIL_SCHEMA = objectSchema({
  ...COMMON,
  textCutFrom: {
    type: ["integer", "null"],
    description: `Length of the whole text if it was cut to ${TEXT_MAX} characters; else null.`
  },
  hasOmittedText: {
    type: "boolean",
    description: "Whether text has more than the words of its author, such as a quotation or a signature."
  },
  untrusted: objectSchema({
    ...COMMON_UNTRUSTED,
    text: TEXT,
    extractedText: {
      type: ["string", "null"],
      description: "The words of the author of text, if they are not all of it and are known; else null."
    },
    links: {
      type: "array",
      items: objectSchema({ text: TEXT, url: TEXT })
    },
    attachments: {
      type: "array",
      items: ATTACHMENT_SCHEMA
    }
  })
})

const commonOf = (message: Summary): Json => {
  const { authentication, automatic, createdAt, direction, labels, mailboxId, messageId, status, threadId, unread } =
    message
  // Servers from before messages could be scheduled leave it out.
  const { sendAt = null } = message as Partial<Summary>
  return {
    messageId,
    threadId,
    mailboxId,
    direction,
    status,
    labels: [...labels],
    unread,
    sendAt,
    createdAt,
    senderVerified: direction === "outbound" || authentication?.dmarc === "pass",
    automatic
  }
}

const untrustedOf = ({ cc, replyTo, sender, subject, to }: Summary): Json => ({
  from: line(sender.address),
  senderName: lineOrNull(sender.name),
  replyTo: replyTo.map(line),
  to: to.map(line),
  cc: cc.map(line),
  subject: line(subject)
})

export const summaryOf = (message: Summary): Json => ({
  ...commonOf(message),
  untrusted: { ...untrustedOf(message), snippet: line(message.snippet) }
})

export const attachmentOf = (attachment: Attachment): Json => ({
  attachmentId: attachment.attachmentId,
  filename: lineOrNull(attachment.filename),
  contentType: line(attachment.contentType),
  sizeBytes: attachment.sizeBytes,
  contentId: lineOrNull(attachment.contentId),
  disposition: attachment.disposition
})

export const emailOf = (message: MessageRecord): Json => {
  const { cutFrom, text } = cut(message.text ?? textOfHtml(message.html ?? ""), TEXT_MAX)
  const extracted = message.hasOmittedText ? message.extractedText : null
  return {
    ...commonOf(message),
    textCutFrom: cutFrom,
    hasOmittedText: message.hasOmittedText,
    untrusted: {
      ...untrustedOf(message),
      text,
      extractedText: extracted === null ? null : cut(extracted, TEXT_MAX).text,
      links: message.links.map((link) => ({ text: line(link.text), url: link.url })),
      attachments: message.attachments.map(attachmentOf)
    }
  }
}

/** Returns the mailboxes, oldest first. Throws AgentOsError without one. */
const ownMailboxes = async ({ agent, call }: ToolContext): Promise<readonly [Mailbox, ...ReadonlyArray<Mailbox>]> => {
  const mailboxes = await agent.mailboxes.list(call)
  const [first, ...others] = mailboxes.toSorted((one, other) =>
    one.record.createdAt < other.record.createdAt ? -1 : 1
  )
  if (first !== undefined) return [first, ...others]
  throw new AgentOsError({ code: "INVALID_OPTION", message: "You have no mailbox. Create one with create_mailbox." })
}

const chosenOf = (mailboxes: ReadonlyArray<Mailbox>, chosen: string | undefined): Mailbox => {
  const [only, ...others] = mailboxes
  const wanted = chosen?.toLowerCase()
  const found =
    wanted === undefined
      ? only
      : mailboxes.find(({ address, id, record }) => [id, address, record.localPart].includes(wanted))
  if (found !== undefined && (wanted !== undefined || others.length === 0)) return found
  const have = `Your mailboxes: ${mailboxes.map(({ address }) => address).join(", ")}.`
  throw new AgentOsError({
    code: "INVALID_OPTION",
    message: chosen === undefined ? `mailbox is missing. ${have}` : `mailbox ${chosen} is not yours. ${have}`
  })
}

/** Returns the mailbox with this address, local part or id, or the only one. Throws AgentOsError if that is not one mailbox. */
export const chosenMailbox = async (context: ToolContext, chosen: string | undefined): Promise<Mailbox> => {
  const found = chosenOf(await ownMailboxes(context), chosen)
  const { mailboxes: known } = context.toolset
  const mailbox = known.get(found.id) ?? found
  known.set(found.id, mailbox)
  return mailbox
}

/** Returns the mailbox with this address, local part or id, or the oldest one. Throws AgentOsError without it. */
export const sendingMailbox = async (context: ToolContext, chosen: string | undefined): Promise<Mailbox> => {
  const mailboxes = await ownMailboxes(context)
  return chosen === undefined ? mailboxes[0] : chosenOf(mailboxes, chosen)
}

/** Returns the filter for messages of the mailbox with this address or id, or of all. Throws AgentOsError without it. */
export const mailboxFilter = async (
  context: ToolContext,
  chosen: string | undefined
): Promise<{ readonly mailboxId?: string }> => {
  const mailboxes = await ownMailboxes(context)
  return chosen === undefined ? {} : { mailboxId: chosenOf(mailboxes, chosen).id }
}
