import { AgentOsError, type Mailbox, type MessageRecord, type OutputOf, textOfHtml } from "@agentos/client"
import { type JsonSchema, nullable, objectSchema, TEXT, TIME } from "../Schema.ts"
import type { Json } from "../Result.ts"
import type { ToolContext } from "../Tool.ts"
import { cut, line, lineOrNull, TEXT_MAX } from "../Untrusted.ts"

type Summary = Extract<OutputOf<"queryMessages">, { readonly items: unknown }>["items"][number]

/** The input that selects a mailbox. */
export const MAILBOX_INPUT = {
  type: "string",
  maxLength: 320,
  description: "Address or id of your mailbox. May be omitted if you have exactly one."
} as const

const COMMON: Readonly<Record<string, JsonSchema>> = {
  messageId: TEXT,
  threadId: TEXT,
  mailboxId: TEXT,
  direction: { type: "string", enum: ["inbound", "outbound"] },
  status: TEXT,
  createdAt: TIME,
  senderVerified: {
    type: "boolean",
    description: "Whether DMARC proves that the mail comes from the domain of its sender."
  }
}

const COMMON_UNTRUSTED: Readonly<Record<string, JsonSchema>> = {
  from: TEXT,
  senderName: nullable(TEXT),
  to: { type: "array", items: TEXT },
  subject: TEXT
}

export const SUMMARY_SCHEMA = objectSchema({
  ...COMMON,
  untrusted: objectSchema({ ...COMMON_UNTRUSTED, snippet: TEXT })
})

export const EMAIL_SCHEMA = objectSchema({
  ...COMMON,
  textCutFrom: {
    type: ["integer", "null"],
    description: `Length of the whole text if it was cut to ${TEXT_MAX} characters; else null.`
  },
  untrusted: objectSchema({
    ...COMMON_UNTRUSTED,
    text: TEXT,
    attachments: {
      type: "array",
      items: objectSchema({ filename: nullable(TEXT), contentType: TEXT, sizeBytes: { type: "integer" } })
    }
  })
})

const commonOf = (message: Summary): Json => {
  const { authentication, createdAt, direction, mailboxId, messageId, status, threadId } = message
  return {
    messageId,
    threadId,
    mailboxId,
    direction,
    status,
    createdAt,
    senderVerified: direction === "outbound" || authentication?.dmarc === "pass"
  }
}

const untrustedOf = ({ sender, subject, to }: Summary): Json => ({
  from: line(sender.address),
  senderName: lineOrNull(sender.name),
  to: to.map(line),
  subject: line(subject)
})

export const summaryOf = (message: Summary): Json => ({
  ...commonOf(message),
  untrusted: { ...untrustedOf(message), snippet: line(message.snippet) }
})

export const emailOf = (message: MessageRecord): Json => {
  const { cutFrom, text } = cut(message.text ?? textOfHtml(message.html ?? ""), TEXT_MAX)
  return {
    ...commonOf(message),
    textCutFrom: cutFrom,
    untrusted: {
      ...untrustedOf(message),
      text,
      attachments: message.attachments.map(({ contentType, filename, sizeBytes }) => ({
        filename: lineOrNull(filename),
        contentType: line(contentType),
        sizeBytes
      }))
    }
  }
}

/** Returns the mailbox with this address or id, or the only one. Throws AgentOsError if that is not one mailbox. */
export const chosenMailbox = async (context: ToolContext, chosen: string | undefined): Promise<Mailbox> => {
  const mailboxes = await context.agent.mailboxes.list(context.call)
  const [only, ...others] = mailboxes
  const wanted = chosen?.toLowerCase()
  const found = wanted === undefined ? only : mailboxes.find(({ address, id }) => id === wanted || address === wanted)
  if (found !== undefined && (wanted !== undefined || others.length === 0)) return found
  const have =
    only === undefined
      ? "You have no mailbox. Create one with create_mailbox."
      : `Your mailboxes: ${mailboxes.map(({ address }) => address).join(", ")}.`
  throw new AgentOsError({
    code: "INVALID_OPTION",
    message: chosen === undefined ? `mailbox is missing. ${have}` : `mailbox ${chosen} is not yours. ${have}`,
    details: {}
  })
}
