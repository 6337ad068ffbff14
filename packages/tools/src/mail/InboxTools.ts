import { AgentOsError, type WaitOptions } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import type { Json } from "../Result.ts"
import { defineTool, type ToolContext } from "../Tool.ts"
import { chosenMailbox, EMAIL_SCHEMA, emailOf, MAILBOX_INPUT, SUMMARY_SCHEMA, summaryOf } from "./Records.ts"

const { after, before, cursor, direction, from, messageId, q, threadId } = INPUTS.queryMessages

export const listEmails = defineTool({
  name: "list_emails",
  title: "List or search emails",
  description:
    "Returns received and sent messages of a mailbox, newest first, without their bodies. Read one with read_email.",
  properties: {
    mailbox: MAILBOX_INPUT,
    direction,
    from,
    q,
    threadId,
    after,
    before,
    limit: { ...INPUTS.queryMessages.limit, default: 20, maximum: 50 },
    cursor
  },
  required: [],
  output: {
    emails: { type: "array", items: SUMMARY_SCHEMA },
    nextCursor: { type: ["string", "null"], description: "Pass it as cursor for the next page; null on the last." }
  },
  isUntrusted: true,
  effects: "reads mail",
  run: async (context, { limit = 20, mailbox, ...filter }) => {
    const { id } = await chosenMailbox(context, mailbox)
    const data = await context.agent.call("queryMessages", { ...filter, limit, mailboxId: id }, context.call)
    if (!("items" in data))
      throw new AgentOsError({ code: "UNEXPECTED_ANSWER", message: "The server returned no list.", details: {} })
    return { emails: data.items.map(summaryOf), nextCursor: data.nextCursor }
  }
})

export const readEmail = defineTool({
  name: "read_email",
  title: "Read an email",
  description: "Returns a message with its text. HTML is converted to text. Attachments are listed, and not included.",
  properties: { messageId: { ...messageId, description: "Id of the message." } },
  required: ["messageId"],
  output: { email: EMAIL_SCHEMA },
  isUntrusted: true,
  effects: "reads mail",
  run: async ({ agent, call }, input) => ({
    email: emailOf((await agent.mailboxes.message(input.messageId, call)).record)
  })
})

/** Hosts mostly end a call after a minute without progress. */
const WAIT_SECONDS = 45
const WAIT_SECONDS_MAX = 300
const SINCE_SECONDS = 60

const WAIT_INPUTS = {
  mailbox: MAILBOX_INPUT,
  from,
  subject: { type: "string", maxLength: 998, description: "Only mail whose subject contains this text, in any case." },
  timeoutSeconds: {
    type: "integer",
    minimum: 1,
    maximum: WAIT_SECONDS_MAX,
    default: WAIT_SECONDS,
    description: "How long to wait."
  },
  sinceSeconds: {
    type: "integer",
    minimum: 0,
    maximum: 86_400,
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

/** Returns the result of a wait, or says that nothing arrived. */
const waited = async (
  { agent, call }: ToolContext,
  { afterMessageId, sinceSeconds = SINCE_SECONDS, timeoutSeconds = WAIT_SECONDS, ...filter }: Wait,
  wait: (options: WaitOptions) => Promise<Json>,
  missing: Json
): Promise<Json> => {
  const handled = afterMessageId === undefined ? {} : { after: await agent.mailboxes.message(afterMessageId, call) }
  try {
    return {
      arrived: true,
      ...(await wait({ ...filter, ...call, ...handled, sinceSeconds, timeoutSeconds })),
      next: null
    }
  } catch (error) {
    if (!(error instanceof AgentOsError) || error.code !== "TIMEOUT") throw error
    return {
      arrived: false,
      ...missing,
      next: `Nothing arrived within ${timeoutSeconds} s. Call again to keep waiting.`
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
    return waited(context, wait, arrival, { email: null })
  }
})

export const waitForCode = defineTool({
  name: "wait_for_code",
  title: "Wait for a one-time code",
  description:
    "Waits for a mail with a one-time code, for example from a sign-up, and returns the newest code alone: 4 to 10 digits or capital letters. Codes of senders that are not verified are ignored. Pass from, because anyone can send a code.",
  properties: WAIT_INPUTS,
  required: [],
  output: {
    arrived: ARRIVED,
    code: { type: ["string", "null"], pattern: "^[0-9A-Z]{4,10}$" },
    next: NEXT
  },
  waits: true,
  effects: "reads mail",
  run: async (context, { mailbox, ...wait }) => {
    const box = await chosenMailbox(context, mailbox)
    const arrival = async (options: WaitOptions) => ({ code: (await box.waitForCode(options)).code })
    return waited(context, wait, arrival, { code: null })
  }
})
