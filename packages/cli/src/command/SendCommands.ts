import { type FlagSpec, usageError } from "@agentos/node/command-line"
import { asStarted } from "../host/Host.ts"
import type { NewAttachment } from "../mail/Attachments.ts"
import { countOf, laterOfFlag, timeOf } from "../output/Wording.ts"
import { defineCommand } from "./Command.ts"
import type { Context } from "../context/Context.ts"
import {
  ATTACH_FLAG,
  given,
  MESSAGE_ARGUMENT,
  PAY_EXITS,
  PAY_FLAGS,
  type PayFlagValues,
  required
} from "../context/Flags.ts"
import { clientOf, mailboxIdOf, messageIdOf, onlyMailboxId } from "./Resources.ts"

interface TextFlags {
  readonly text: string | undefined
  readonly "text-file": string | undefined
}

const TEXT_FLAGS = [
  { name: "text", type: "text", value: "TEXT", summary: "Text of the message." },
  {
    name: "text-file",
    type: "text",
    value: "FILE",
    summary: "Read the text from this file (- for standard input).",
    completes: "file"
  }
] as const satisfies ReadonlyArray<FlagSpec>

const HTML_FLAG = {
  name: "html",
  type: "text",
  value: "FILE",
  summary: "Read an HTML version from this file. The text is sent as the alternative.",
  completes: "file"
} as const satisfies FlagSpec

const CC_FLAG = { name: "cc", type: "list", value: "ADDRESS", summary: "Cc recipient." } as const satisfies FlagSpec
const REPLY_TO_FLAG = {
  name: "reply-to",
  type: "list",
  value: "ADDRESS",
  summary: "Address to which answers shall go, instead of the mailbox."
} as const satisfies FlagSpec
const BCC_FLAG = { name: "bcc", type: "list", value: "ADDRESS", summary: "Bcc recipient." } as const satisfies FlagSpec

/** The text comes from a flag or a pipe, whose reader cannot be asked to confirm. */
const TEXT_ADVICE =
  "The text comes from --text, --text-file, or piped standard input; with piped input, --yes and --max-amount are required, because nobody can confirm."

const textOf = async (context: Context, { text, "text-file": file }: TextFlags): Promise<string> => {
  if (text !== undefined && file !== undefined) throw usageError("Pass --text or --text-file, not both.")
  if (text !== undefined) return text
  if (file !== undefined) {
    const { readGiven } = await import("../file/PrivateFile.ts")
    return readGiven(context.host, file)
  }
  if (context.host.stdinIsTerminal)
    throw usageError("Missing text. Pass --text or --text-file, or pipe the text to standard input.")
  const piped = await context.host.readStdin()
  // Most likely a script with a closed input, which does not mean to pay for an empty message.
  if (piped === "") throw usageError("Standard input is empty. Pipe the text, or pass --text or --text-file.")
  return piped
}

interface BodyFlags extends TextFlags {
  readonly html: string | undefined
  readonly attach: ReadonlyArray<string>
}

/** Reads the text, the HTML and the attachments that the flags name. */
const bodyOf = async (context: Context, flags: BodyFlags) => {
  const { readGiven } = await import("../file/PrivateFile.ts")
  const { readAttachments } = await import("../mail/Attachments.ts")
  if (flags.html === "-" && flags["text-file"] === "-")
    throw usageError("Standard input cannot be both the text and the HTML.")
  const html = flags.html === undefined ? undefined : await readGiven(context.host, flags.html)
  const text = await textOf(context, flags)
  return { text, html, attachments: await readAttachments(context, flags.attach) }
}

interface Draft {
  readonly mailboxId: string
  /** Empty if the server chooses: a reply. */
  readonly to: ReadonlyArray<string>
  readonly replyTo: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly bcc: ReadonlyArray<string>
  readonly subject?: string
  readonly text: string
  readonly html?: string | undefined
  readonly attachments: ReadonlyArray<NewAttachment>
  readonly inReplyTo?: string
  readonly forwards?: string
  readonly forwardAttachments?: boolean
  readonly replyAll?: boolean
  readonly automatic?: boolean
  readonly sendAt?: string
}

/** Pays for a message and prints it. */
const send = async (context: Context, draft: Draft, flags: PayFlagValues, purchase?: string): Promise<void> => {
  const { payAndPrint } = await import("./PaidOutput.ts")
  const { attachments, bcc, cc, html, replyTo, to, ...rest } = draft
  const recipients = to.length + cc.length + bcc.length
  const some = <Item>(items: ReadonlyArray<Item>) => (items.length === 0 ? undefined : items)
  await payAndPrint(
    context,
    {
      operation: "sendMessage",
      payload: {
        ...rest,
        ...given({
          to: some(to),
          cc: some(cc),
          bcc: some(bcc),
          replyTo: some(replyTo),
          html,
          attachments: some(attachments)
        })
      },
      purchase: purchase ?? `one message to ${recipients === 1 ? (to[0] ?? "") : countOf(recipients, "recipient")}`
    },
    flags,
    ({ message }) => [
      ["Message", message.messageId],
      ["From", message.from],
      ["To", message.to.join(", ")],
      ["Cc", message.cc.join(", ")],
      ["Subject", message.subject],
      ["Status", message.status],
      ...(typeof message.sendAt === "string" ? [["Send at", timeOf(message.sendAt)] as const] : []),
      ["Created", timeOf(message.createdAt)]
    ]
  )
}

export const MAIL_SEND = defineCommand(
  {
    name: "mail send",
    summary: "Send a message from one of your mailboxes",
    description: `${TEXT_ADVICE} The message is sent once, whatever happens.`,
    flags: [
      {
        name: "from",
        type: "text",
        value: "MAILBOX",
        summary: "The sending mailbox, by local part, address or id. Optional if you have only one.",
        completes: "mailbox"
      },
      { name: "to", type: "list", value: "ADDRESS", summary: "Recipient. Required." },
      CC_FLAG,
      BCC_FLAG,
      REPLY_TO_FLAG,
      { name: "subject", short: "s", type: "text", value: "TEXT", summary: "Subject. Required." },
      ...TEXT_FLAGS,
      HTML_FLAG,
      ATTACH_FLAG,
      {
        name: "send-at",
        type: "text",
        value: "TIME",
        summary: "Send it later: a duration from now (10m, 2h, 3d) or a time with an offset, at most 30 days ahead."
      },
      ...PAY_FLAGS
    ],
    examples: [
      {
        line: 'agentctl mail send --to bob@example.com --subject Hello --text "Are you there?"',
        does: "Show the price and ask for confirmation"
      },
      {
        line: "agentctl mail send --to bob@example.com --subject Report --yes --max-amount 0.02 < report.txt",
        does: "In a script, with the text from a file"
      }
    ],
    output: "record",
    json: "{message, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { flags }) => {
    const subject = required(flags.subject, "subject")
    const { bcc, cc, from, to } = flags
    if (to.length === 0) throw usageError("Missing flag --to.")
    const at = flags["send-at"]
    const sendAt = at === undefined ? {} : { sendAt: laterOfFlag("send-at", at, context.host.now()) }
    const body = await bodyOf(context, flags)
    const client = await clientOf(context)
    const mailboxId = from === undefined ? await onlyMailboxId(client) : await mailboxIdOf(client, from)
    await send(context, { mailboxId, to, cc, bcc, replyTo: flags["reply-to"], subject, ...body, ...sendAt }, flags)
  }
)

export const MAIL_CANCEL = defineCommand(
  {
    name: "mail cancel",
    summary: "Cancel a scheduled message",
    description:
      "The message is never sent, and its payment is refunded to the wallet that paid. Fails once it is being sent.",
    arguments: [MESSAGE_ARGUMENT],
    examples: [
      { line: "agentctl mail cancel 019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7", does: "Cancel a message and get a refund" }
    ],
    output: "record",
    json: "{message}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { message: reference } }) => {
    const client = await clientOf(context)
    const messageId = await messageIdOf(client, reference)
    const data = await client.call("cancelMessage", { payload: { messageId } })
    context.output.record(data, [
      ["Message", data.message.messageId],
      ["Subject", data.message.subject],
      ["Status", data.message.status]
    ])
  }
)

const firstAndMore = ([first = "", ...others]: ReadonlyArray<string>): string =>
  others.length === 0 ? first : `${first} +${others.length}`

export const MAIL_REPLY = defineCommand(
  {
    name: "mail reply",
    summary: "Reply to a message",
    description: `Sends from the mailbox of the message to the addresses in its Reply-To, or else to its sender, in the same thread. latest is the newest received message. A reply to a message that you sent goes to its recipients. It says that a program wrote it, and an automatic reply or a bounce is not answered, unless --personal is given. ${TEXT_ADVICE}`,
    arguments: [MESSAGE_ARGUMENT],
    flags: [
      { name: "all", short: "a", type: "boolean", summary: "Also reply to the other recipients and the mailing list." },
      { name: "personal", type: "boolean", summary: "A person decided to send it, not a program by itself." },
      CC_FLAG,
      BCC_FLAG,
      REPLY_TO_FLAG,
      ...TEXT_FLAGS,
      HTML_FLAG,
      ATTACH_FLAG,
      ...PAY_FLAGS
    ],
    examples: [
      { line: 'agentctl mail reply latest --text "Yes, tomorrow at ten."', does: "Reply to the sender" },
      { line: "agentctl mail reply latest --all --text Agreed --attach plan.pdf", does: "Reply to all with a file" }
    ],
    output: "record",
    json: "{message, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { message: reference }, flags }) => {
    const body = await bodyOf(context, flags)
    const client = await clientOf(context)
    const { readMessage } = await import("../mail/Inbox.ts")
    const { message } = await readMessage(client, await messageIdOf(client, reference, "inbound"))
    const { direction, from, mailboxId, messageId, replyTo, to } = message
    const named = direction === "outbound" ? to : replyTo.length > 0 ? replyTo : [from]
    await send(
      context,
      {
        mailboxId,
        to: [],
        cc: flags.cc,
        bcc: flags.bcc,
        replyTo: flags["reply-to"],
        ...body,
        inReplyTo: messageId,
        ...(flags.all ? { replyAll: true } : {}),
        ...(flags.personal ? { automatic: false } : {})
      },
      flags,
      `one message to ${firstAndMore(named)}${flags.all ? " and all others" : ""}`
    )
  }
)

export const MAIL_FORWARD = defineCommand(
  {
    name: "mail forward",
    summary: "Forward a message to someone else",
    description:
      "Sends the text, HTML and attachments of a message from its mailbox to other people, below your note and a header with its sender, time, subject and recipients. Bcc recipients of a sent message are not shown. Starts a new thread. The message is sent once, whatever happens.",
    arguments: [MESSAGE_ARGUMENT],
    flags: [
      { name: "to", type: "list", value: "ADDRESS", summary: "Recipient. Required." },
      CC_FLAG,
      BCC_FLAG,
      REPLY_TO_FLAG,
      { ...TEXT_FLAGS[0], summary: "Note above the message." },
      { ...TEXT_FLAGS[1], summary: "Read the note from this file (- for standard input)." },
      { name: "no-attachments", type: "boolean", summary: "Leave out the attachments of the message." },
      ATTACH_FLAG,
      ...PAY_FLAGS
    ],
    examples: [
      {
        line: 'agentctl mail forward latest --to carol@example.com --text "Can you answer this?"',
        does: "Forward with a note"
      }
    ],
    output: "record",
    json: "{message, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { message: reference }, flags }) => {
    const { LIMIT_BYTES, readAttachments, tooLarge } = await import("../mail/Attachments.ts")
    const { readMessage } = await import("../mail/Inbox.ts")
    const { bcc, cc, to } = flags
    if (to.length === 0) throw usageError("Missing flag --to.")
    const hasNote = flags.text !== undefined || flags["text-file"] !== undefined
    const note = hasNote ? await textOf(context, flags) : ""
    const client = await clientOf(context)
    const { message } = await readMessage(client, await messageIdOf(client, reference))
    const { mailboxId, messageId } = message
    if (message.malformed || message.truncated)
      context.output.warn(
        asStarted(
          context.host,
          `The message is ${message.malformed ? "malformed" : "longer than the stored text"}. To forward it whole: agentctl mail raw ${messageId} -o message.eml, then mail send --attach message.eml`
        )
      )
    const kept = flags["no-attachments"] ? [] : message.attachments
    const sizeBytes = kept.reduce((sum, attachment) => sum + attachment.sizeBytes, 0)
    if (sizeBytes > LIMIT_BYTES)
      throw tooLarge([`agentctl mail forward ${messageId} --no-attachments`, `agentctl mail attachments ${messageId}`])
    const attachments = await readAttachments(context, flags.attach, sizeBytes)
    await send(
      context,
      {
        mailboxId,
        to,
        cc,
        bcc,
        replyTo: flags["reply-to"],
        text: note,
        attachments,
        forwards: messageId,
        ...(flags["no-attachments"] ? { forwardAttachments: false } : {})
      },
      flags
    )
  }
)
