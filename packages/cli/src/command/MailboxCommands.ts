import { defineCommand, type FlagSpec } from "./Command.ts"
import { PAY_EXITS, PAY_FLAGS } from "./PayFlags.ts"

const DISPLAY_NAME_FLAG = {
  name: "display-name",
  type: "text",
  value: "TEXT",
  summary: "The name beside the address in mail that is sent."
} as const satisfies FlagSpec

const SIGNATURE_FLAG = {
  name: "signature",
  type: "text",
  value: "TEXT",
  summary: "Text that is put under every message that is sent."
} as const satisfies FlagSpec

const MAILBOX_ARGUMENT = {
  name: "mailbox",
  summary: "Id or address of a mailbox.",
  presence: "required",
  completes: "mailbox"
} as const

export const MAILBOX_CREATE = defineCommand({
  name: "mailbox create",
  summary: "Buy a mailbox",
  description:
    "The first purchase of a wallet also gives its access token, which is saved in this profile and not printed.\nThe address stays yours, even after the mailbox is deleted.",
  arguments: [{ name: "localpart", summary: "What stands before the @ of the address.", presence: "required" }],
  flags: [DISPLAY_NAME_FLAG, SIGNATURE_FLAG, ...PAY_FLAGS],
  examples: [
    { line: "agentctl mailbox create ada", does: "Shows what it costs, and asks" },
    { line: "agentctl mailbox create ada --yes --max-amount 0.25 --json", does: "The same in a script" }
  ],
  output: "record",
  json: "{mailbox, operationId, authentication: {accessTokenSaved, profile}, payment}",
  exits: PAY_EXITS
})

export const MAILBOX_UPDATE = defineCommand({
  name: "mailbox update",
  summary: "Change a mailbox",
  description: "What is not named stays as it is; an empty text takes it away. An inactive mailbox takes no mail.",
  arguments: [MAILBOX_ARGUMENT],
  flags: [
    DISPLAY_NAME_FLAG,
    SIGNATURE_FLAG,
    {
      name: "active",
      type: "text",
      value: "BOOLEAN",
      summary: "Whether it takes mail.",
      choices: ["true", "false"]
    },
    ...PAY_FLAGS
  ],
  examples: [{ line: "agentctl mailbox update ada@agents.example --active false", does: "Takes no more mail" }],
  output: "record",
  json: "{mailbox, operationId, payment}",
  exits: PAY_EXITS
})

export const MAILBOX_DELETE = defineCommand({
  name: "mailbox delete",
  summary: "Delete a mailbox with all of its messages",
  description: "The messages can't be had again. The address stays yours: no other wallet can take it.",
  arguments: [MAILBOX_ARGUMENT],
  flags: PAY_FLAGS,
  examples: [{ line: "agentctl mailbox delete ada@agents.example", does: "Shows what it costs, and asks" }],
  output: "record",
  json: "{mailboxId, deleted, messagesDeleted, operationId, payment}",
  exits: PAY_EXITS
})
