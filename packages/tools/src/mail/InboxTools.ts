import { AgentOsError, type WaitOptions } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import type { Json } from "../Result.ts"
import { nullable, objectSchema, TEXT } from "../Schema.ts"
import { defineTool, type ToolContext } from "../Tool.ts"
import { line } from "../Untrusted.ts"
import { TIMEOUT_INPUT, waitSecondsOf } from "../Wait.ts"
import {
  chosenMailbox,
  EMAIL_SCHEMA,
  emailOf,
  MAILBOX_INPUT,
  mailboxFilter,
  MARKS,
  SUMMARY_SCHEMA,
  summaryOf,
  THREAD_SCHEMA,
  threadOf
} from "./Records.ts"

const { after, before, cursor, direction, from, label, messageId, q, threadId, unread } = INPUTS.queryMessages

const NEXT_CURSOR = {
  type: ["string", "null"],
  description: "Pass it as cursor for the next page; null on the last."
} as const

export const listEmails = defineTool({
  name: "list_emails",
  title: "List or search emails",
  description:
    "Returns received and sent messages, newest first, without their bodies. Read one with read_email. With threadId, returns the messages of one conversation.",
  properties: {
    mailbox: { ...MAILBOX_INPUT, description: "Only messages of this mailbox of yours: its address or id." },
    direction,
    from,
    q,
    threadId,
    label,
    unread,
    after,
    before,
    limit: { ...INPUTS.queryMessages.limit, default: 20, maximum: 50 },
    cursor
  },
  required: [],
  output: {
    emails: { type: "array", items: SUMMARY_SCHEMA },
    nextCursor: NEXT_CURSOR
  },
  isUntrusted: true,
  effects: "reads mail",
  run: async (context, { limit = 20, mailbox, ...filter }) => {
    const input = { ...filter, ...(await mailboxFilter(context, mailbox)), limit }
    const data = await context.agent.call("queryMessages", input, context.call)
    if (!("items" in data))
      throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: "The server returned no list." })
    return { emails: data.items.map(summaryOf), nextCursor: data.nextCursor }
  }
})

export const listThreads = defineTool({
  name: "list_threads",
  title: "List conversations",
  description:
    "Returns conversations, newest activity first. List the messages of one with list_emails and its threadId.",
  properties: {
    mailbox: { ...MAILBOX_INPUT, description: "Only conversations of this mailbox of yours: its address or id." },
    label: INPUTS.queryThreads.label,
    unread: INPUTS.queryThreads.unread,
    limit: { ...INPUTS.queryThreads.limit, default: 20, maximum: 50 },
    cursor
  },
  required: [],
  output: { threads: { type: "array", items: THREAD_SCHEMA }, nextCursor: NEXT_CURSOR },
  isUntrusted: true,
  effects: "reads mail",
  run: async (context, { limit = 20, mailbox, ...filter }) => {
    const input = { ...filter, ...(await mailboxFilter(context, mailbox)), limit }
    const data = await context.agent.call("queryThreads", input, context.call)
    if (!("items" in data))
      throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: "The server returned no list." })
    return { threads: data.items.map(threadOf), nextCursor: data.nextCursor }
  }
})

export const updateEmails = defineTool({
  name: "update_emails",
  title: "Label emails or mark them as read",
  description:
    "Adds and removes labels, and marks messages as read (unread: false) or unread. Received mail stays unread until you mark it.",
  properties: INPUTS.updateMessages,
  required: ["messageIds"],
  output: { emails: { type: "array", items: objectSchema({ messageId: TEXT, ...MARKS }) } },
  effects: "marks",
  run: async ({ agent, call }, input) => {
    const { items } = await agent.call("updateMessages", input, call)
    return {
      emails: items.map(({ labels, messageId: id, unread: flag }) => ({
        messageId: id,
        labels: [...labels],
        unread: flag
      }))
    }
  }
})

export const readEmail = defineTool({
  name: "read_email",
  title: "Read an email",
  description:
    "Returns a message with its text. HTML is converted to text. Attachments are listed: read one with read_attachment.",
  properties: { messageId: { ...messageId, description: "Id of the message." } },
  required: ["messageId"],
  output: { email: EMAIL_SCHEMA },
  isUntrusted: true,
  effects: "reads mail",
  run: async ({ agent, call }, input) => ({
    email: emailOf((await agent.mailboxes.message(input.messageId, call)).record)
  })
})

const SINCE_SECONDS = 60
const SINCE_SECONDS_MAX = 86_400

const WAIT_INPUTS = {
  mailbox: MAILBOX_INPUT,
  from,
  subject: {
    type: "string",
    maxLength: 998,
    examples: ["Sign in"],
    description: "Only mail whose subject contains this text, in any case."
  },
  timeoutSeconds: TIMEOUT_INPUT,
  sinceSeconds: {
    type: "integer",
    minimum: 0,
    maximum: SINCE_SECONDS_MAX,
    default: SINCE_SECONDS,
    description: "How far back to look first, because mail often arrives before the wait. 0 waits for new mail only."
  },
  afterMessageId: {
    ...messageId,
    description:
      "Id of the message that you handled last: only later mail is returned. It takes the place of sinceSeconds."
  }
} as const

interface Wait {
  readonly from?: string
  readonly subject?: string
  readonly timeoutSeconds?: number
  readonly sinceSeconds?: number
  readonly afterMessageId?: string
}

/**
 * Returns the result of a wait, or says that nothing arrived. The same wait then looks back to the beginning of this one, so
 * that mail between two calls is not lost. `what` distinguishes waits of different tools and mailboxes.
 */
const waited = async (
  { agent, call, clock, toolset: { waits } }: ToolContext,
  what: string,
  { afterMessageId, sinceSeconds = SINCE_SECONDS, timeoutSeconds, ...filter }: Wait,
  wait: (options: WaitOptions) => Promise<Json>,
  missing: Json
): Promise<Json> => {
  const handled = afterMessageId === undefined ? {} : { after: await agent.mailboxes.message(afterMessageId, call) }
  const key = JSON.stringify([what, filter.from, filter.subject, sinceSeconds, afterMessageId])
  const now = clock.now()
  const since = Math.max(waits.get(key) ?? now - sinceSeconds * 1_000, now - SINCE_SECONDS_MAX * 1_000)
  const seconds = waitSecondsOf(timeoutSeconds)
  const options = { ...filter, ...call, ...handled, sinceSeconds: (now - since) / 1_000, timeoutSeconds: seconds }
  try {
    const found = await wait(options)
    waits.delete(key)
    return { arrived: true, ...found, next: null }
  } catch (error) {
    if (!(error instanceof AgentOsError) || error.code !== "TIMEOUT") throw error
    waits.set(key, since)
    return {
      arrived: false,
      ...missing,
      next: `Nothing arrived within ${seconds} s. To keep waiting, call again with the same input: nothing that arrives in between is lost.`
    }
  }
}

const ARRIVED = { type: "boolean", description: "False if the time was over before anything matched." }
const NEXT = { type: ["string", "null"] }

export const waitForEmail = defineTool({
  name: "wait_for_email",
  title: "Wait for an email",
  description:
    "Waits until a matching mail arrives, and returns the first with its text. Mail of the last minute counts as new, so a second call returns the same mail: pass afterMessageId to get the next one.",
  properties: WAIT_INPUTS,
  required: [],
  output: { arrived: ARRIVED, email: { anyOf: [EMAIL_SCHEMA, { type: "null" }] }, next: NEXT },
  isUntrusted: true,
  waits: true,
  effects: "reads mail",
  run: async (context, { mailbox, ...wait }) => {
    const box = await chosenMailbox(context, mailbox)
    const arrival = async (options: WaitOptions) => ({ email: emailOf((await box.waitForMail(options)).record) })
    return waited(context, `mail ${box.id}`, wait, arrival, { email: null })
  }
})

const NO_PART = { code: null, link: null, messageId: null, domain: null, verified: null }

const PART_OUTPUT = {
  arrived: ARRIVED,
  code: { ...nullable(TEXT), description: "One-time code; null if the mail does not have exactly one." },
  link: { ...nullable(TEXT), description: "Confirmation link; null if the mail does not have exactly one." },
  messageId: nullable(TEXT),
  domain: { type: ["string", "null"], description: "Domain of the sender." },
  verified: { type: ["boolean", "null"], description: "Whether DMARC proves that domain." },
  next: NEXT
} as const

/** Waits for a code or a link of a mailbox. */
const waitedForPart = async (
  context: ToolContext,
  what: "waitForCode" | "waitForLink",
  { mailbox, ...wait }: Wait & { readonly mailbox?: string }
): Promise<Json> => {
  const box = await chosenMailbox(context, mailbox)
  const arrival = async (options: WaitOptions): Promise<Json> => {
    const { code, domain, link, messageId: id, verified } = await box[what](options)
    return { code, link, messageId: id, domain: line(domain), verified }
  }
  return waited(context, `${what} ${box.id}`, wait, arrival, NO_PART)
}

export const waitForCode = defineTool({
  name: "wait_for_code",
  title: "Wait for a one-time code",
  description:
    "Waits for a mail with a one-time code, for example from a sign-up, and returns the newest code without spaces and dashes, with the domain of its sender and the confirmation link of the same mail. No code is returned twice. Codes of senders that are not verified are ignored. Pass from, because anyone can send a code. For mail with only a link, use wait_for_link.",
  properties: WAIT_INPUTS,
  required: [],
  output: PART_OUTPUT,
  waits: true,
  effects: "reads mail",
  run: (context, input) => waitedForPart(context, "waitForCode", input)
})

export const waitForLink = defineTool({
  name: "wait_for_link",
  title: "Wait for a confirmation link",
  description:
    "Waits for a mail with a link that confirms an address, signs in or resets a password, and returns the newest link, with the domain of its sender and the one-time code of the same mail. No link is returned twice. Links of senders that are not verified are ignored. Pass from, because anyone can send a link.",
  properties: WAIT_INPUTS,
  required: [],
  output: PART_OUTPUT,
  waits: true,
  effects: "reads mail",
  run: (context, input) => waitedForPart(context, "waitForLink", input)
})
