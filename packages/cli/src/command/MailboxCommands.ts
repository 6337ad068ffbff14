import { Failure, type FlagSpec, type FlagValues, usageError } from "@agentos/node/command-line"
import type { Token } from "../config/Credentials.ts"
import type { Context } from "../context/Context.ts"
import { given, PAY_EXITS, PAY_FLAGS } from "../context/Flags.ts"
import { timeColumn, timeOf } from "../output/Wording.ts"
import type { DataOf, Server } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, connect, findMailbox, mailboxIdOf, messageCount } from "./Resources.ts"

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

const POLICY_FLAGS = [
  {
    name: "sender-policy",
    type: "text",
    value: "MODE",
    summary: "Receive mail from anyone, only mail that passes DMARC, or only from the senders in --allow.",
    choices: ["anyone", "authenticated", "listed"]
  },
  {
    name: "allow",
    type: "list",
    value: "SENDER",
    summary: "Address, or domain with its subdomains, that is always admitted, unless DMARC fails."
  },
  {
    name: "block",
    type: "list",
    value: "SENDER",
    summary: "Address, or domain with its subdomains, that is never admitted."
  }
] as const satisfies ReadonlyArray<FlagSpec>

const METADATA_FLAG = {
  name: "metadata",
  type: "list",
  value: "KEY=VALUE",
  summary: "Set a key of your own data on the mailbox. An empty value deletes the key."
} as const satisfies FlagSpec

/** Returns the changes of metadata that the flags set; undefined without one. */
const metadataOf = (pairs: ReadonlyArray<string>): Readonly<Record<string, string>> | undefined => {
  if (pairs.length === 0) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw usageError("--metadata must be KEY=VALUE, for example customer=42.")
      return [pair.slice(0, at), pair.slice(at + 1)]
    })
  )
}

/**
 * Returns the policy that the flags set, with the parts of `current` that they leave out; undefined without such a flag.
 * A list with an empty text clears it.
 */
const policyOf = (
  flags: FlagValues<typeof POLICY_FLAGS>,
  current: SenderPolicy = { mode: "anyone", allow: [], block: [] }
): SenderPolicy | undefined => {
  const { allow, block, "sender-policy": mode = current.mode } = flags
  if (flags["sender-policy"] === undefined && allow.length === 0 && block.length === 0) return undefined
  if (mode === "anyone" && allow.some((sender) => sender !== ""))
    throw usageError("--allow has no effect while mail from anyone is received. Add --sender-policy listed.")
  const listOf = (given: ReadonlyArray<string>, before: ReadonlyArray<string>) =>
    given.length === 0 ? before : given.filter((sender) => sender !== "")
  return { mode, allow: listOf(allow, current.allow), block: listOf(block, current.block) }
}

const MAILBOX_ARGUMENT = {
  name: "mailbox",
  summary: "Local part, address or id of a mailbox.",
  presence: "required",
  completes: "mailbox"
} as const

type Mailbox = DataOf<"listMailboxes">["items"][number]
type SenderPolicy = Mailbox["senderPolicy"]

/** Formats a policy for a table, which must not cut the list of senders: `listed, 2 allowed`. */
const shortPolicyText = (policy: SenderPolicy | undefined): string | null => {
  if (policy === undefined) return null
  const { allow, block, mode } = policy
  const counted = (list: ReadonlyArray<string>, verb: string) => (list.length === 0 ? [] : [`${list.length} ${verb}`])
  return [mode, ...counted(allow, "allowed"), ...counted(block, "blocked")].join(", ")
}

/** Formats a policy: `listed, allow bob@example.com, block example.org`. Older servers omit it. */
const policyText = (policy: SenderPolicy | undefined): string | null => {
  if (policy === undefined) return null
  const { allow, block, mode } = policy
  return [mode, ...allow.map((sender) => `allow ${sender}`), ...block.map((sender) => `block ${sender}`)].join(", ")
}

const mailboxFields = (mailbox: Mailbox) =>
  [
    ["Address", mailbox.address],
    ["Mailbox", mailbox.mailboxId],
    ["Name", mailbox.displayName],
    ["Active", mailbox.active ? "yes" : "no"],
    ["Senders", policyText(mailbox.senderPolicy)],
    [
      "Metadata",
      Object.entries(mailbox.metadata ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .join(", ")
    ],
    [
      "Refused",
      Object.entries(mailbox.refused ?? {})
        .map(([reason, count]) => `${count} ${reason}`)
        .join(", ")
    ],
    ["Created", timeOf(mailbox.createdAt)]
  ] as const

export const MAILBOX_CREATE = defineCommand(
  {
    name: "mailbox create",
    summary: "Buy a mailbox",
    description:
      "The first purchase of a wallet also returns an access token, which is saved in this profile and not printed.\nIf you have a mailbox with this name already, it is printed unchanged, and nothing is paid.\nThe address stays yours, even after you delete the mailbox.",
    arguments: [{ name: "localpart", summary: "Part of the address before the @.", presence: "required" }],
    flags: [DISPLAY_NAME_FLAG, SIGNATURE_FLAG, ...POLICY_FLAGS, METADATA_FLAG, ...PAY_FLAGS],
    examples: [
      { line: "agentctl mailbox create ada", does: "Show the price and ask for confirmation" },
      { line: "agentctl mailbox create ada --yes --max-amount 0.25 --json", does: "In a script" }
    ],
    output: "record",
    json: "{mailbox, operationId, authentication: {accessTokenSaved, profile} or {next, message}, payment}; {mailbox, payment: null} of your own mailbox",
    exits: PAY_EXITS
  },
  async (context, { arguments: { localpart }, flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const buying = payAndPrint(
      context,
      {
        operation: "createMailbox",
        payload: {
          localPart: localpart,
          ...given({
            displayName: flags["display-name"],
            outboundSignature: flags.signature,
            senderPolicy: policyOf(flags),
            metadata: metadataOf(flags.metadata)
          })
        },
        purchase: `mailbox ${localpart}`
      },
      flags,
      (data) => mailboxFields(data.mailbox)
    )
    await buying.catch(async (error: unknown) => {
      if (!(error instanceof Failure && error.parts.code === "CONFLICT")) throw error
      const { client, token } = await connect(context)
      if (token === undefined)
        throw error.with({
          message: `${error.message} If it is yours, get your token, then repeat the command.`,
          next: ["agentctl login --wallet"]
        })
      const own = await ownMailbox(client, localpart)
      if (own === undefined) throw await ofOtherWallet(context, { client, token }, flags["wallet-file"], error)
      context.output.record({ mailbox: own, payment: null }, mailboxFields(own))
      context.output.note(`${own.address} is yours already. Nothing was paid.`)
    })
  }
)

/** Returns the error of a name that is taken, and says so if the token is not of the wallet that may own the mailbox. */
const ofOtherWallet = async (
  context: Context,
  { client, token }: { readonly client: Server; readonly token: Token },
  walletFile: string | undefined,
  taken: Failure
): Promise<Failure> => {
  const { findWallet, isOtherWallet, ownerOf, tokenOfWallet } = await import("../wallet/Wallet.ts")
  const owner = await ownerOf(client)
  const wallet = await findWallet(context, { walletFile })
  if (owner === undefined || !isOtherWallet(wallet, owner)) return taken
  return taken.with({
    message: `${taken.message} The access token (from ${token.source}) is of ${owner}, another wallet than the one that pays. If the mailbox is of the latter, use its token.`,
    next: [tokenOfWallet(token, wallet)]
  })
}

/** Returns the active mailbox of the token's wallet with a local part; undefined without one. */
const ownMailbox = async (client: Server, localPart: string): Promise<Mailbox | undefined> => {
  const { items } = await client.call("listMailboxes")
  return items.find((mailbox) => mailbox.localPart === localPart.toLowerCase() && mailbox.active)
}

export const MAILBOX_LIST = defineCommand(
  {
    name: "mailbox list",
    summary: "List your mailboxes",
    description: "Includes inactive mailboxes, which receive no mail.",
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
        { heading: "NAME", value: ({ displayName }) => displayName, drop: 1 },
        { heading: "ACTIVE", value: ({ active }) => (active ? "yes" : "no"), whole: true },
        {
          heading: "SENDERS",
          value: ({ senderPolicy }) => policyText(senderPolicy),
          shown: ({ senderPolicy }) => shortPolicyText(senderPolicy),
          whole: true,
          drop: 2
        },
        timeColumn("CREATED", ({ createdAt }) => createdAt, 3),
        { heading: "MAILBOX", value: ({ mailboxId }) => mailboxId, id: true }
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
      "Fields without a flag stay unchanged; an empty text clears a field. --allow and --block replace the list. An inactive mailbox receives no mail. Mail that the policy does not admit is refused.",
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
      ...POLICY_FLAGS,
      METADATA_FLAG,
      ...PAY_FLAGS
    ],
    examples: [
      { line: "agentctl mailbox update ada@agents.example --active false", does: "Stop receiving mail" },
      {
        line: "agentctl mailbox update ada@agents.example --sender-policy listed --allow bob@example.com",
        does: "Receive mail from one sender only"
      }
    ],
    output: "record",
    json: "{mailbox, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { mailbox }, flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const fields = given({
      displayName: flags["display-name"],
      outboundSignature: flags.signature,
      active: flags.active === undefined ? undefined : flags.active === "true",
      metadata: metadataOf(flags.metadata)
    })
    const changesPolicy = flags["sender-policy"] !== undefined || flags.allow.length > 0 || flags.block.length > 0
    // The server would accept an update without changes, and charge for it.
    if (Object.keys(fields).length === 0 && !changesPolicy)
      throw usageError(
        "Nothing to update. Pass --display-name, --signature, --active, --sender-policy, --allow, --block or --metadata."
      )
    const client = await clientOf(context)
    const mailboxId = await mailboxIdOf(client, mailbox)
    // An update replaces the whole policy.
    const found = changesPolicy
      ? (await client.call("listMailboxes")).items.find((item) => item.mailboxId === mailboxId)
      : undefined
    const changes = { ...fields, ...given({ senderPolicy: policyOf(flags, found?.senderPolicy) }) }
    await payAndPrint(
      context,
      { operation: "updateMailbox", payload: { mailboxId, ...changes }, purchase: `an update of mailbox ${mailbox}` },
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
    examples: [{ line: "agentctl mailbox delete ada", does: "Show the price and ask for confirmation" }],
    output: "record",
    json: "{mailboxId, deleted, messagesDeleted, operationId, payment}",
    exits: PAY_EXITS
  },
  async (context, { arguments: { mailbox }, flags }) => {
    const { payAndPrint } = await import("./PaidOutput.ts")
    const client = await clientOf(context)
    const { address, mailboxId } = await findMailbox(client, mailbox)
    const messages = flags.yes ? "with all its messages" : await messageCount(client, mailboxId)
    await payAndPrint(
      context,
      {
        operation: "deleteMailbox",
        payload: { mailboxId },
        purchase: `permanent deletion of mailbox ${address}, ${messages}`,
        question: `Delete mailbox ${address}, ${messages}?`
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
