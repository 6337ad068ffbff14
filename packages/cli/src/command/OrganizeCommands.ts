import { type ArgumentSpec, usageError } from "@agentos/node/command-line"
import { CURSOR_FLAG, LIMIT_FLAG, MESSAGE_ARGUMENT } from "../context/Flags.ts"
import type { Context } from "../context/Context.ts"
import { timeColumn } from "../output/Wording.ts"
import { collectPages } from "../server/Pages.ts"
import type { PayloadOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { LABEL_FLAG, MAILBOX_FLAG, UNREAD_FLAG } from "./MailCommands.ts"
import { clientOf, mailboxIdOf, messageIdOf, threadIdOf } from "./Resources.ts"

export const MAIL_THREADS = defineCommand(
  {
    name: "mail threads",
    summary: "List conversations, newest activity first",
    description: "A conversation is the messages of one mailbox that answer each other.",
    flags: [MAILBOX_FLAG, LABEL_FLAG, UNREAD_FLAG, LIMIT_FLAG, CURSOR_FLAG],
    examples: [{ line: "agentctl mail threads --unread", does: "Conversations with an unread message" }],
    output: "rows",
    json: "{items: [thread], nextCursor}",
    exits: [4, 5, 9]
  },
  async (context, { flags }) => {
    const client = await clientOf(context)
    const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
    const filters = { mailboxId, label: flags.label, unread: flags.unread || undefined }
    const page = await collectPages(flags.limit, flags.cursor, async (limit, cursor) => {
      const data = await client.call("queryThreads", { query: { ...filters, limit, cursor } })
      return "items" in data ? data : { items: [data.thread], nextCursor: null }
    })
    context.output.page(page, "threads", flags.limit, [
      timeColumn("TIME", ({ lastMessageAt }) => lastMessageAt),
      { heading: "SUBJECT", value: ({ subject }) => subject },
      { heading: "MESSAGES", value: ({ messageCount }) => String(messageCount), whole: true },
      { heading: "UNREAD", value: ({ unreadCount }) => String(unreadCount), whole: true },
      { heading: "LABELS", value: ({ labels }) => labels.join(", "), drop: 1 },
      { heading: "THREAD", value: ({ threadId }) => threadId, id: true }
    ])
  }
)

export const MAIL_THREAD = defineCommand(
  {
    name: "mail thread",
    summary: "List the messages of a conversation, oldest first",
    description: "Lists them without their bodies. Read one with mail read.",
    arguments: [{ name: "thread", summary: "Id of a conversation, a part of it, or latest.", presence: "required" }],
    flags: [MAILBOX_FLAG, LIMIT_FLAG, CURSOR_FLAG],
    examples: [{ line: "agentctl mail thread latest", does: "The messages of the newest conversation" }],
    output: "rows",
    json: "{items: [message], nextCursor}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { thread }, flags }) => {
    const client = await clientOf(context)
    const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
    const threadId = await threadIdOf(client, thread)
    const page = await collectPages(flags.limit, flags.cursor, async (limit, cursor) => {
      const data = await client.call("queryThreads", { query: { threadId, mailboxId, limit, cursor } })
      return "messages" in data
        ? { items: data.messages, nextCursor: data.nextCursor }
        : { items: [], nextCursor: null }
    })
    context.output.page(page, "messages", flags.limit, [
      timeColumn("TIME", ({ createdAt }) => createdAt),
      { heading: "FROM", value: ({ from }) => from },
      { heading: "SNIPPET", value: ({ snippet }) => snippet },
      { heading: "UNREAD", value: ({ unread }) => (unread ? "yes" : "no"), whole: true },
      { heading: "LABELS", value: ({ labels }) => labels.join(", "), drop: 1 },
      { heading: "MESSAGE", value: ({ messageId }) => messageId, id: true }
    ])
  }
)

const MORE_ARGUMENT = {
  name: "more",
  summary: "Ids of more messages, at most 100 in all.",
  presence: "several",
  completes: "message"
} as const satisfies ArgumentSpec

/** Changes all of the messages, or none. */
const update = async (
  context: Context,
  references: ReadonlyArray<string>,
  change: Omit<PayloadOf<"updateMessages">, "messageIds">
): Promise<void> => {
  const client = await clientOf(context)
  const messageIds: Array<string> = []
  for (const reference of references) messageIds.push(await messageIdOf(client, reference))
  const data = await client.call("updateMessages", { payload: { ...change, messageIds } })
  context.output.table(
    data,
    data.items,
    [
      { heading: "MESSAGE", value: ({ messageId }) => messageId, id: true },
      { heading: "UNREAD", value: ({ unread }) => (unread ? "yes" : "no"), whole: true },
      { heading: "LABELS", value: ({ labels }) => labels.join(", ") }
    ],
    "No messages."
  )
}

export const MAIL_MARK = defineCommand(
  {
    name: "mail mark",
    summary: "Mark messages as read or unread",
    description: "Received messages are unread until you mark them; mail read does not. Changes all of them, or none.",
    arguments: [MESSAGE_ARGUMENT, MORE_ARGUMENT],
    flags: [
      { name: "read", type: "boolean", summary: "Mark as read." },
      { name: "unread", type: "boolean", summary: "Mark as unread." }
    ],
    examples: [{ line: "agentctl mail mark latest --read", does: "Mark the newest message as read" }],
    output: "rows",
    json: "{items: [{messageId, labels, unread}]}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { message, more }, flags }) => {
    if (flags.read === flags.unread) throw usageError("Pass --read or --unread.")
    await update(context, [message, ...more], { unread: flags.unread })
  }
)

export const MAIL_LABEL = defineCommand(
  {
    name: "mail label",
    summary: "Add and remove labels of messages",
    description:
      "Labels are compared in lower case and need no setup; a message has at most 20. Changes all of the messages, or none.",
    arguments: [MESSAGE_ARGUMENT, MORE_ARGUMENT],
    flags: [
      { name: "add", type: "list", value: "LABEL", summary: "Add this label." },
      { name: "remove", type: "list", value: "LABEL", summary: "Remove this label." }
    ],
    examples: [{ line: "agentctl mail label latest --add invoice --remove inbox", does: "Move a message" }],
    output: "rows",
    json: "{items: [{messageId, labels, unread}]}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { message, more }, flags: { add, remove } }) => {
    if (add.length + remove.length === 0) throw usageError("Pass --add or --remove.")
    await update(context, [message, ...more], {
      ...(add.length === 0 ? {} : { addLabels: add }),
      ...(remove.length === 0 ? {} : { removeLabels: remove })
    })
  }
)

export const MAIL_SUPPRESSIONS_LIST = defineCommand(
  {
    name: "mail suppressions list",
    summary: "List the addresses that you can't write to",
    description:
      "An address is suppressed when it does not exist (bounced) or marked your mail as spam (complained). Mail to it is refused before anything is charged.",
    flags: [LIMIT_FLAG, CURSOR_FLAG],
    examples: [{ line: "agentctl mail suppressions list", does: "Find out why a recipient is refused" }],
    output: "rows",
    json: "{items: [suppression], nextCursor}",
    exits: [4, 9]
  },
  async (context, { flags }) => {
    const client = await clientOf(context)
    const page = await collectPages(flags.limit, flags.cursor, (limit, cursor) =>
      client.call("listSuppressions", { query: { limit, cursor } })
    )
    context.output.page(page, "suppressions", flags.limit, [
      { heading: "ADDRESS", value: ({ address }) => address, whole: true },
      { heading: "REASON", value: ({ reason }) => reason, whole: true },
      timeColumn("TIME", ({ createdAt }) => createdAt)
    ])
  }
)

export const MAIL_SUPPRESSIONS_LIFT = defineCommand(
  {
    name: "mail suppressions lift",
    summary: "Write to an address again that bounced or complained",
    description:
      "Use it when you know that the address exists, or that its owner wants your mail. If it bounces or complains again, it is suppressed again. Nothing is paid.",
    arguments: [{ name: "address", summary: "Email address.", presence: "required" }],
    examples: [{ line: "agentctl mail suppressions lift bob@example.com", does: "Lift the suppression" }],
    output: "record",
    json: "{address, lifted}",
    exits: [4, 9]
  },
  async (context, { arguments: { address } }) => {
    const data = await (await clientOf(context)).call("liftSuppression", { payload: { address } })
    context.output.record(data, [
      ["Address", data.address],
      ["Lifted", data.lifted ? "yes" : "no, it was not suppressed"]
    ])
  }
)
