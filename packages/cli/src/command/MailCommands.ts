import { Failure, type FlagSpec, type Output, plain, plainLine, usageError } from "@agentos/node/command-line"
import { CURSOR_FLAG, directionFlag, LIMIT_FLAG, MESSAGE_ARGUMENT, timeFlags } from "../context/Flags.ts"
import type { ListedMessage, Message } from "../mail/Inbox.ts"
import { checksCell, checksText, isVerified, isVerifiedSender, senderFilter, type SentMessage } from "../mail/Sender.ts"
import {
  countOf,
  durationOf,
  durationOfFlag,
  TIME,
  timeColumn,
  timeOf,
  timeOfFlag,
  timeRangeOf
} from "../output/Wording.ts"
import { collectPages } from "../server/Pages.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, mailboxIdOf, messageIdOf, threadIdOf } from "./Resources.ts"

export const MAILBOX_FLAG = {
  name: "mailbox",
  type: "text",
  value: "MAILBOX",
  summary: "Only this mailbox, by local part, address or id.",
  completes: "mailbox"
} as const satisfies FlagSpec

export const LABEL_FLAG = {
  name: "label",
  type: "text",
  value: "LABEL",
  summary: "Only with this label."
} as const satisfies FlagSpec

export const UNREAD_FLAG = { name: "unread", type: "boolean", summary: "Only unread." } as const satisfies FlagSpec

export const MAIL_LIST = defineCommand(
  {
    name: "mail list",
    summary: "List messages, newest first",
    description:
      "Lists sent and received messages without their bodies. With several filters, those that match all of them.",
    flags: [
      MAILBOX_FLAG,
      {
        name: "thread",
        type: "text",
        value: "ID",
        summary: "Only this conversation, by the thread that mail read shows."
      },
      directionFlag("messages"),
      { name: "from", type: "text", value: "ADDRESS", summary: "Only from this address." },
      ...timeFlags("Received or sent"),
      {
        name: "search",
        short: "S",
        type: "text",
        value: "WORDS",
        summary: "Only with all of these words in the subject, the names, the addresses or the text."
      },
      LABEL_FLAG,
      UNREAD_FLAG,
      LIMIT_FLAG,
      CURSOR_FLAG
    ],
    examples: [
      { line: "agentctl mail list --limit 10", does: "The last ten messages" },
      { line: 'agentctl mail list --search "invoice 2026" --since 30d', does: "Search the last 30 days" },
      { line: "agentctl mail list --mailbox ada@agents.example --direction inbound", does: "One mailbox's inbox" }
    ],
    output: "rows",
    json: "{items: [message], nextCursor}",
    exits: [4, 5, 9]
  },
  async (context, { flags }) => {
    const range = timeRangeOf(flags, context.host.now())
    const { direction, from, label, search, thread } = flags
    if (search !== undefined && !/[\p{L}\p{N}]/u.test(search))
      throw usageError("--search must contain a letter or a digit.")
    const unread = flags.unread || undefined
    const filters = { direction, from, after: range.since, before: range.until, q: search, label, unread }
    const client = await clientOf(context)
    const threadId = thread === undefined ? undefined : await threadIdOf(client, thread)
    const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
    const page = await collectPages(flags.limit, flags.cursor, async (limit, cursor) => {
      const data = await client.call("queryMessages", { query: { ...filters, threadId, mailboxId, limit, cursor } })
      return "items" in data ? data : { items: [data.message], nextCursor: null }
    })
    context.output.page(
      page,
      "messages",
      flags.limit,
      [
        timeColumn("TIME", ({ createdAt }) => createdAt),
        { heading: "", value: ({ direction }) => (direction === "inbound" ? "from" : "to"), whole: true },
        {
          heading: "ADDRESS",
          value: ({ direction, from, to }) => (direction === "inbound" ? from : to.join(", ")),
          shown: ({ direction, from, to }) => (direction === "inbound" ? from : firstOf(to))
        },
        { heading: "SUBJECT", value: ({ subject }) => subject },
        {
          heading: "DMARC",
          value: ({ authentication }) => checksCell(authentication),
          shown: ({ authentication }) => authentication?.dmarc,
          whole: true
        },
        { heading: "STATUS", value: ({ status }) => status, whole: true, drop: 1 },
        { heading: "MESSAGE", value: ({ messageId }) => messageId, id: true }
      ],
      range
    )
  }
)

/** Names the first recipient and counts the others: a cut list would hide who they are. */
const firstOf = ([first = "", ...others]: ReadonlyArray<string>): string =>
  others.length === 0 ? first : `${first} +${others.length}`

/** Formats a message with its headers and a body. */
const messageText = (message: Message, body: string | null, output: Output): string => {
  const attachments = message.attachments.map(
    ({ contentId, filename, sizeBytes }) =>
      `${filename ?? "unnamed"} (${sizeBytes} bytes${contentId === null ? "" : `, cid:${contentId}`})`
  )
  const headers = output.recordText([
    ["From", message.from],
    ["Reply-To", message.replyTo.join(", ")],
    ["To", message.to.join(", ")],
    ["Cc", message.cc.join(", ")],
    ["Bcc", message.bcc.join(", ")],
    ["Date", timeOf(message.createdAt)],
    ["Subject", message.subject],
    ["Status", message.status],
    ["Message", message.messageId],
    ["Thread", message.threadId],
    ["Unread", message.unread === undefined ? null : message.unread ? "yes" : "no"],
    ["Labels", message.labels?.join(", ")],
    ["Automatic", message.automatic],
    ["List", message.mailingList?.listId],
    ["Checks", message.direction === "inbound" ? checksText(message.authentication) : null],
    ["Attachments", attachments.join(", ")],
    ["Links", message.links.map(({ url }) => url).join(", ")]
  ])
  return `${headers}\n${body === null ? "" : plain(body).replace(/\n*$/, "\n")}`
}

export const MAIL_READ = defineCommand(
  {
    name: "mail read",
    summary: "Read a message",
    description: "Prints the headers and the text. Reading does not acknowledge the event of the message.",
    arguments: [MESSAGE_ARGUMENT],
    flags: [{ name: "html", type: "boolean", summary: "Print the HTML instead of the text." }],
    examples: [{ line: "agentctl mail read latest", does: "Print the newest message" }],
    output: "record",
    json: "{message}",
    exits: [4, 5, 9]
  },
  async (context, { arguments: { message }, flags }) => {
    const { readMessage } = await import("../mail/Inbox.ts")
    const { output } = context
    const client = await clientOf(context)
    const data = await readMessage(client, await messageIdOf(client, message))
    const body = flags.html ? data.message.html : data.message.text
    output.data(data, () => messageText(data.message, body, output))
    if (body === null) output.note(flags.html ? "The message has no HTML." : "The message has no text. Try --html.")
  }
)

const POLL_MILLIS = 1_000

export const MAIL_WAIT = defineCommand(
  {
    name: "mail wait",
    summary: "Wait for a message, or for the code or link in it",
    description:
      "Searches the messages of the last 60 seconds, newest first, and then waits for new ones. Prints the first match. Exit code 5 if no message matches in time. Nothing is acknowledged.\nWith --otp, prints only the one-time code of the message: 4 to 10 digits, or letters and digits, without spaces and dashes. With --link, prints only the link that confirms an address, signs in or resets a password. A message without exactly one does not match. The newest code or link counts, also of a message that arrived shortly before the command. None is printed twice, and none that is older than the last one of its sender, unless --since is given.\nWith --otp, --link or --from, only messages from a verified sender match: DMARC passed for the domain of the From address. Others are reported on standard error and ignored.",
    flags: [
      {
        name: "from",
        type: "text",
        value: "SENDER",
        summary:
          "Only from this address, or from this domain and its subdomains. Verified, unless --unverified is given."
      },
      { name: "subject", type: "text", value: "TEXT", summary: "Only with this text in the subject." },
      { name: "otp", type: "boolean", summary: "Wait for a message with a one-time code and print only the code." },
      {
        name: "link",
        type: "boolean",
        summary: "Wait for a message with a confirmation link and print only the link."
      },
      {
        name: "unverified",
        type: "boolean",
        summary: "With --otp, --link or --from, also accept messages whose sender is not verified."
      },
      {
        name: "since",
        type: "text",
        value: "TIME",
        summary: `Messages received at or after: ${TIME}. Default: 60s.`
      },
      { name: "timeout", type: "text", value: "DURATION", summary: "How long to wait: 20s, 5m, 1h.", default: "20s" },
      MAILBOX_FLAG
    ],
    examples: [
      { line: "agentctl mail wait --from github.com --otp", does: "Wait for the next code" },
      {
        line: "./sign-in.sh; agentctl mail wait --otp --mailbox ada",
        does: "Get the code in a script that signs in first"
      },
      { line: "agentctl mail wait --from github.com --link", does: "Wait for the next confirmation link" },
      { line: "agentctl mail wait --subject invoice --timeout 10m", does: "Wait for a message" }
    ],
    output: "record",
    json: "{message}; with --otp or --link {code, link, messageId, domain, verified, authentication}",
    exits: [4, 5, 9]
  },
  async (context, { flags }) => {
    const { LOOKBACK, pollInbox, readLastCodes, readMessage, rememberCode, senderKey } =
      await import("../mail/Inbox.ts")
    const { host, output } = context
    if (flags.otp && flags.link) throw usageError("Pass --otp or --link, not both.")
    const isPart = flags.otp || flags.link
    const timeout = durationOfFlag("timeout", flags.timeout)
    const duration = durationOf(timeout / 1_000)
    const since = flags.since ?? LOOKBACK
    timeOfFlag("since", since, host.now())
    const isFrom = flags.from === undefined ? () => true : senderFilter(flags.from)
    const isTrusted = trustOf(flags.from, isPart, flags.unverified)
    const client = await clientOf(context)
    const mailboxId = flags.mailbox === undefined ? undefined : await mailboxIdOf(client, flags.mailbox)
    const deadline = host.now() + timeout
    const poll = pollInbox(context, client, mailboxId, since)
    // With --since the user decides which codes and links count.
    const isOnce = isPart && flags.since === undefined
    const printed = isOnce ? await readLastCodes(host) : new Map<string, string>()
    let unverified = 0
    for (let isFirst = true; ; isFirst = false) {
      const lookedAt = host.now()
      for (const listed of await poll()) {
        if (!isFrom(listed.from) || !contains(listed.subject, flags.subject)) continue
        if (!isTrusted(listed)) {
          unverified++
          const checks = plainLine(checksText(listed.authentication))
          output.warn(
            `Ignored ${plainLine(`"${listed.subject}" from ${listed.from}`)}: the sender is not verified (${checks}). Use --unverified to accept it.`
          )
          continue
        }
        const key = senderKey(client.baseUrl, listed, flags.link ? "link" : "code")
        if (listed.messageId <= (printed.get(key) ?? "")) continue
        const { message } = await readMessage(client, listed.messageId)
        const { confirmationLink: link, messageId, oneTimeCode: code } = message
        const part = flags.link ? link : code
        // Older servers read neither.
        if (isPart && (part ?? null) === null) continue
        if (isOnce && !(await rememberCode(host, key, messageId))) continue
        const { authentication, from }: SentMessage = message
        const domain = from.slice(from.lastIndexOf("@") + 1)
        const verified = isVerified(message)
        return output.data(
          isPart ? { code, link, messageId, domain, verified, authentication: authentication ?? null } : { message },
          () => (isPart ? `${plainLine(part ?? "")}\n` : messageText(message, message.text, output))
        )
      }
      // The last look begins when the time is over.
      const left = deadline - host.now()
      if (lookedAt >= deadline) break
      if (isFirst && left > 0) output.note(`Waiting ${duration} for a message…`)
      await host.sleep(Math.min(POLL_MILLIS, Math.max(0, left)))
    }
    const expected = `no matching message${flags.otp ? " with a code" : flags.link ? " with a link" : ""}`
    const ignored = unverified === 0 ? "" : ` Ignored ${countOf(unverified, "message")} without a verified sender.`
    throw new Failure({
      code: "NOT_FOUND",
      message: `Timed out after ${duration}: ${expected}.${ignored}`,
      next: ["agentctl mail list --limit 10"]
    })
  }
)

/** Returns which messages are accepted: anyone can write a code or a link, or any name into From. */
const trustOf = (
  from: string | undefined,
  isPart: boolean,
  isUnverified: boolean
): ((message: ListedMessage) => boolean) => {
  if (isUnverified || (from === undefined && !isPart)) return () => true
  return from === undefined ? isVerified : isVerifiedSender
}

const contains = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())
