import { usageError } from "../failure/Failure.ts"
import { timeOf } from "../output/Wording.ts"
import type { DataOf } from "../server/ApiClient.ts"
import { defineCommand } from "./Command.ts"
import type { FlagSpec } from "./CommandSpec.ts"
import { PAY_EXITS, PAY_FLAGS } from "./Flags.ts"
import { clientOf, mailboxIdOf } from "./Resources.ts"

const DISPLAY_NAME_FLAG = {
  name: "display-name",
  type: "text",
  value: "TEXT",
  summary: "Display name of the sender in outbound mail."
} as const satisfies FlagSpec

const SIGNATURE_FLAG = {
  name: "signature",
  type: "text",
  value: "TEXT",
  summary: "Text appended to every outbound message."
} as const satisfies FlagSpec

const MAILBOX_ARGUMENT = {
  name: "mailbox",
  summary: "Id or address of a mailbox.",
  presence: "required",
  completes: "mailbox"
} as const

type Mailbox = DataOf<"listMailboxes">["items"][number]

const mailboxFields = (mailbox: Mailbox) =>
  [
    ["Address", mailbox.address],
    ["Mailbox", mailbox.mailboxId],
    ["Name", mailbox.displayName],
    ["Active", mailbox.active ? "yes" : "no"],
    ["Created", timeOf(mailbox.createdAt)]
  ] as const

export const MAILBOX_CREATE = defineCommand(
  {
    name: "mailbox create",
    summary: "Buy a mailbox",
    description:
      "The first purchase of a wallet also returns an access token, which is saved in this profile and not printed.\nThe address stays yours, even after you delete the mailbox.",
    arguments: [{ name: "localpart", summary: "Part of the address before the @.", presence: "required" }],
    flags: [DISPLAY_NAME_FLAG, SIGNATURE_FLAG, ...PAY_FLAGS],
    examples: [
      { line: "agentctl mailbox create ada", does: "Show the price and ask for confirmation" },
      { line: "agentctl mailbox create ada --yes --max-amount 0.25 --json", does: "In a script" }
    ],
    output: "record",
    json: "{mailbox, operationId, authentication: {accessTokenSaved, profile}, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { localpart }, flags }) => {
    const { given, payAndPrint } = await import("./PaidOutput.ts")
    await payAndPrint(
      context,
      {
        operation: "createMailbox",
        payload: {
          localPart: localpart,
          ...given({ displayName: flags["display-name"], outboundSignature: flags.signature })
        },
        purchase: `mailbox ${localpart}`
      },
      flags,
      (data) => mailboxFields(data.mailbox)
    )
  }
)

export const MAILBOX_LIST = defineCommand(
  {
    name: "mailbox list",
    summary: "List your mailboxes",
    description: "Includes inactive mailboxes, which receive no mail.",
    arguments: [],
    flags: [],
    examples: [{ line: "agentctl mailbox list --json", does: "All fields, for scripts" }],
    output: "rows",
    json: "{items: [mailbox]}",
    exits: [4, 9]
  },
  async (context) => {
    const client = await clientOf(context)
    const data = await client.call("listMailboxes")
    context.output.table(
      data,
      data.items,
      [
        { heading: "ADDRESS", value: ({ address }) => address, whole: true },
        { heading: "NAME", value: ({ displayName }) => displayName },
        { heading: "ACTIVE", value: ({ active }) => (active ? "yes" : "no"), whole: true },
        { heading: "CREATED", value: ({ createdAt }) => timeOf(createdAt), whole: true },
        { heading: "MAILBOX", value: ({ mailboxId }) => mailboxId, whole: true }
      ],
      "No mailboxes."
    )
  }
)

export const MAILBOX_UPDATE = defineCommand(
  {
    name: "mailbox update",
    summary: "Update a mailbox",
    description:
      "Fields without a flag stay unchanged; an empty text clears a field. An inactive mailbox receives no mail.",
    arguments: [MAILBOX_ARGUMENT],
    flags: [
      DISPLAY_NAME_FLAG,
      SIGNATURE_FLAG,
      {
        name: "active",
        type: "text",
        value: "BOOLEAN",
        summary: "Whether the mailbox receives mail.",
        choices: ["true", "false"]
      },
      ...PAY_FLAGS
    ],
    examples: [{ line: "agentctl mailbox update ada@agents.example --active false", does: "Stop receiving mail" }],
    output: "record",
    json: "{mailbox, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { mailbox }, flags }) => {
    const { given, payAndPrint } = await import("./PaidOutput.ts")
    const changes = given({
      displayName: flags["display-name"],
      outboundSignature: flags.signature,
      active: flags.active === undefined ? undefined : flags.active === "true"
    })
    // The server would accept an update without changes, and charge for it.
    if (Object.keys(changes).length === 0)
      throw usageError("Nothing to update. Pass --display-name, --signature or --active.")
    const client = await clientOf(context)
    const mailboxId = await mailboxIdOf(client, mailbox)
    await payAndPrint(
      context,
      { operation: "updateMailbox", payload: { mailboxId, ...changes }, purchase: `update of mailbox ${mailbox}` },
      flags,
      (data) => mailboxFields(data.mailbox)
    )
  }
)

export const MAILBOX_DELETE = defineCommand(
  {
    name: "mailbox delete",
    summary: "Delete a mailbox and all its messages",
    description: "The messages cannot be recovered. The address stays yours: no other wallet can take it.",
    arguments: [MAILBOX_ARGUMENT],
    flags: PAY_FLAGS,
    examples: [{ line: "agentctl mailbox delete ada@agents.example", does: "Show the price and ask for confirmation" }],
    output: "record",
    json: "{mailboxId, deleted, messagesDeleted, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { mailbox }, flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const client = await clientOf(context)
    const mailboxId = await mailboxIdOf(client, mailbox)
    await payAndPrint(
      context,
      {
        operation: "deleteMailbox",
        payload: { mailboxId },
        purchase: `permanent deletion of mailbox ${mailbox} and all its messages`
      },
      flags,
      (data) => [
        ["Mailbox", data.mailboxId],
        ["Deleted", "yes"],
        ["Messages", `${data.messagesDeleted} deleted`]
      ]
    )
  }
)
