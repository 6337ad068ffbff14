import { AgentOsError, type InputOf } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import { defineTool } from "../Tool.ts"
import { EMAIL_SCHEMA, emailOf, MAILBOX_INPUT, sendingMailbox } from "./Records.ts"

const { automatic, bcc, cc, forwardAttachments, html, replyAll, replyTo, sendAt, subject, text, to } =
  INPUTS.sendMessage

/** A file that a model can write: as text, or as base64. */
const ATTACHMENTS_INPUT = {
  type: "array",
  description: "Files, each with its content in text or in contentBase64. At most 10485760 bytes together.",
  maxItems: 20,
  examples: [[{ filename: "notes.txt", text: "Hello" }]],
  items: {
    type: "object",
    properties: {
      filename: {
        type: "string",
        minLength: 1,
        maxLength: 255,
        examples: ["notes.txt"],
        description: "Name without a path."
      },
      contentType: {
        type: "string",
        maxLength: 127,
        default: "text/plain",
        description: "Media type, for example text/csv."
      },
      text: { type: "string", maxLength: 1_048_576, examples: ["Hello"], description: "Content of a text file." },
      contentBase64: { type: "string", maxLength: 13_981_016, description: "Content of any file, as base64." },
      contentId: {
        type: "string",
        maxLength: 128,
        examples: ["logo"],
        description: 'Makes the file part of the html, which shows it by this id: <img src="cid:logo">.'
      }
    },
    required: ["filename"],
    additionalProperties: false
  }
} as const

const SENDER_INPUT = {
  ...MAILBOX_INPUT,
  description: "Address or id of your mailbox that sends. If omitted, your oldest mailbox sends."
} as const

interface AttachmentInput {
  readonly filename: string
  readonly contentType?: string
  readonly text?: string
  readonly contentBase64?: string
  readonly contentId?: string
}

const CHUNK = 0x8000

const base64Of = (text: string): string => {
  const bytes = new TextEncoder().encode(text)
  const parts: Array<string> = []
  for (let start = 0; start < bytes.length; start += CHUNK)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK)))
  return btoa(parts.join(""))
}

const attached = (
  attachments: ReadonlyArray<AttachmentInput> | undefined
): Pick<InputOf<"sendMessage">, "attachments"> => {
  if (attachments === undefined) return {}
  return {
    attachments: attachments.map(
      ({ contentBase64, contentId, contentType = "text/plain", filename, text: content }, index) => {
        if ((content === undefined) === (contentBase64 === undefined))
          throw new AgentOsError({
            code: "INVALID_OPTION",
            message: `attachments.${index}: pass either text or contentBase64, for example {"filename": "notes.txt", "text": "Hello"}.`
          })
        const type =
          content !== undefined && /^text\/[^;]*$/i.test(contentType) ? `${contentType}; charset=utf-8` : contentType
        return {
          filename,
          contentType: type,
          contentBase64: contentBase64 ?? base64Of(content ?? ""),
          ...(contentId === undefined ? {} : { contentId })
        }
      }
    )
  }
}

export const sendEmail = defineTool({
  name: "send_email",
  title: "Send an email",
  description:
    "Sends a real email to people, and returns the stored message. It cannot be recalled, except with sendAt by cancel_email. To answer a message, use reply_to_email.",
  properties: {
    mailbox: SENDER_INPUT,
    to,
    cc,
    bcc,
    replyTo,
    subject,
    text,
    html,
    sendAt,
    attachments: ATTACHMENTS_INPUT
  },
  required: ["to", "subject", "text"],
  output: { email: EMAIL_SCHEMA },
  paysFor: ["sendMessage"],
  isUntrusted: true,
  effects: "reaches people",
  run: async (context, { attachments, mailbox, ...message }) => {
    const files = attached(attachments)
    const sender = await sendingMailbox(context, mailbox)
    return { email: emailOf((await sender.send({ ...message, ...files }, context.call)).record) }
  }
})

export const cancelEmail = defineTool({
  name: "cancel_email",
  title: "Cancel a scheduled email",
  description:
    "Cancels an email that send_email scheduled with sendAt, before it is sent. It is never sent, and its payment is refunded.",
  properties: { messageId: { ...INPUTS.cancelMessage.messageId, description: "Id of the scheduled message." } },
  required: ["messageId"],
  output: { email: EMAIL_SCHEMA },
  effects: "gives up",
  isUntrusted: true,
  run: async ({ agent, call }, input) => ({ email: emailOf((await agent.call("cancelMessage", input, call)).message) })
})

export const forwardEmail = defineTool({
  name: "forward_email",
  title: "Forward an email",
  description:
    "Forwards a received or sent message with its attachments to other people, below your text, and returns the stored message. It begins a new thread. The mailbox is that of the message.",
  properties: {
    messageId: { ...INPUTS.queryMessages.messageId, description: "Id of the message to forward." },
    to,
    text: { ...text, description: "Note above the message. May be empty." },
    forwardAttachments: {
      ...forwardAttachments,
      description: "Whether the attachments of the message are sent too. Default: true."
    },
    cc,
    bcc
  },
  required: ["messageId", "to", "text"],
  output: { email: EMAIL_SCHEMA },
  paysFor: ["sendMessage"],
  isUntrusted: true,
  effects: "reaches people",
  run: async ({ agent, call }, { messageId, ...input }) => {
    const mail = await agent.mailboxes.message(messageId, call)
    return { email: emailOf((await mail.forward(input, call)).record) }
  }
})

export const replyToEmail = defineTool({
  name: "reply_to_email",
  title: "Reply to an email",
  description:
    "Sends a reply to the addresses in Reply-To or to the sender of a received message, or to the recipients of a sent one, in the same thread, and returns the stored message. The subject and the mailbox are those of the message. With replyAll, everyone who received the message receives the reply.",
  properties: {
    messageId: { ...INPUTS.queryMessages.messageId, description: "Id of the message to answer." },
    text,
    html,
    replyAll: { ...replyAll, description: "Whether all other recipients receive a copy. Default: false." },
    automatic,
    cc,
    bcc,
    attachments: ATTACHMENTS_INPUT
  },
  required: ["messageId", "text"],
  output: { email: EMAIL_SCHEMA },
  paysFor: ["sendMessage"],
  isUntrusted: true,
  effects: "reaches people",
  run: async ({ agent, call }, { attachments, messageId, ...body }) => {
    const files = attached(attachments)
    const { record } = await agent.mailboxes.message(messageId, call)
    const { mailboxId } = record
    const { message } = await agent.call("sendMessage", { ...body, ...files, mailboxId, inReplyTo: messageId }, call)
    return { email: emailOf(message) }
  }
})
