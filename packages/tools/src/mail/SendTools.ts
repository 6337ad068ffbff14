import { INPUTS } from "../generated/Contract.ts"
import { defineTool } from "../Tool.ts"
import { chosenMailbox, EMAIL_SCHEMA, emailOf, MAILBOX_INPUT } from "./Records.ts"

const { bcc, cc, html, subject, text, to } = INPUTS.sendMessage

export const sendEmail = defineTool({
  name: "send_email",
  title: "Send an email",
  description:
    "Sends a real email to people, and returns the stored message. It cannot be recalled. To answer a message, use reply_to_email.",
  properties: { mailbox: MAILBOX_INPUT, to, cc, bcc, subject, text, html },
  required: ["to", "subject", "text"],
  output: { email: EMAIL_SCHEMA },
  paysFor: ["sendMessage"],
  isUntrusted: true,
  effects: "reaches people",
  run: async (context, { mailbox, ...message }) => {
    const sender = await chosenMailbox(context, mailbox)
    return { email: emailOf((await sender.send(message, context.call)).record) }
  }
})

export const replyToEmail = defineTool({
  name: "reply_to_email",
  title: "Reply to an email",
  description:
    "Sends a reply to the sender of a received message, in the same thread, and returns the stored message. The subject and the mailbox are those of the message.",
  properties: {
    messageId: { ...INPUTS.queryMessages.messageId, description: "Id of the message to answer." },
    text,
    html
  },
  required: ["messageId", "text"],
  output: { email: EMAIL_SCHEMA },
  paysFor: ["sendMessage"],
  isUntrusted: true,
  effects: "reaches people",
  run: async ({ agent, call }, { messageId, ...body }) => {
    const mail = await agent.mailboxes.message(messageId, call)
    return { email: emailOf((await mail.reply(body, call)).record) }
  }
})
