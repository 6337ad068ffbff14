import { AgentOsError, type Mailbox } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import type { Json } from "../Result.ts"
import { nullable, objectSchema, TEXT, TIME } from "../Schema.ts"
import { defineTool } from "../Tool.ts"

const { displayName, localPart } = INPUTS.createMailbox

const MAILBOX_SCHEMA = objectSchema({
  mailboxId: TEXT,
  address: TEXT,
  displayName: nullable(TEXT),
  active: { type: "boolean" },
  createdAt: TIME
})

/** Returns a mailbox as tools show it. */
export const mailboxOf = ({ record }: Pick<Mailbox, "record">): Json => {
  const { active, address, createdAt, displayName, mailboxId } = record
  return { mailboxId, address, displayName, active, createdAt }
}

export const createMailbox = defineTool({
  name: "create_mailbox",
  title: "Create a mailbox",
  description:
    "Creates a mailbox with a real email address at the domain of the service, and returns its address and id. If you already have this address, returns it without a payment. The address is yours permanently.",
  properties: { localPart, displayName },
  required: ["localPart"],
  output: { mailbox: MAILBOX_SCHEMA, created: { type: "boolean", description: "False if you had it already." } },
  paysFor: ["createMailbox"],
  effects: "buys",
  run: async ({ agent, call }, input) => {
    try {
      // Before open, because it resumes a payment of this purchase that a crash left behind.
      return { mailbox: mailboxOf(await agent.mailboxes.create(input, call)), created: true }
    } catch (error) {
      // The server checks the address before it asks for a payment.
      if (!(error instanceof AgentOsError) || error.code !== "CONFLICT" || error.moneyMoved !== "no") throw error
      return { mailbox: mailboxOf(await agent.mailboxes.open(input, call)), created: false }
    }
  }
})

export const listMailboxes = defineTool({
  name: "list_mailboxes",
  title: "List mailboxes",
  description: "Returns all of your mailboxes with their addresses and ids.",
  properties: {},
  required: [],
  output: { mailboxes: { type: "array", items: MAILBOX_SCHEMA } },
  effects: "reads",
  run: async ({ agent, call }) => ({ mailboxes: (await agent.mailboxes.list(call)).map(mailboxOf) })
})
