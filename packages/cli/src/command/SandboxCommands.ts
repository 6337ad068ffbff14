import { plainLine, usageError } from "@agentos/node/command-line"
import { ATTACH_FLAG, DATA_FLAG, given } from "../context/Flags.ts"
import type { Context } from "../context/Context.ts"
import { timeColumn } from "../output/Wording.ts"
import { defineCommand } from "./Command.ts"

export const SANDBOX_MAIL = defineCommand(
  {
    name: "sandbox mail",
    summary: "Send mail to a mailbox of the sandbox, as a person outside",
    description:
      "Mail from an address at outside.example passes SPF and DMARC; mail from other domains does not. Needs a running sandbox (agentctl dev), and no wallet or token.",
    flags: [
      { name: "to", type: "list", value: "MAILBOX", summary: "Address of a mailbox, or its local part. Required." },
      {
        name: "from",
        type: "text",
        value: "ADDRESS",
        summary: "Address of the person.",
        default: "bob@outside.example"
      },
      { name: "from-name", type: "text", value: "TEXT", summary: "Name of the person." },
      {
        name: "subject",
        short: "s",
        type: "text",
        value: "TEXT",
        summary: "Subject. By default Hello, or that of a code."
      },
      { name: "text", type: "text", value: "TEXT", summary: "Text of the message. A greeting by default." },
      { name: "code", type: "boolean", summary: "Write a new one-time code of six digits, and print it." },
      {
        name: "in-reply-to",
        type: "text",
        value: "MESSAGE-ID",
        summary: "Message-ID header of the message that it answers, with its angle brackets."
      },
      ATTACH_FLAG,
      DATA_FLAG
    ],
    examples: [
      { line: "agentctl sandbox mail --to ada --code", does: "Send a one-time code, for agentctl mail wait --otp" },
      { line: "agentctl sandbox mail --to ada --subject Invoice --attach invoice.pdf", does: "Send a file" }
    ],
    output: "record",
    json: "{messageId, reply}; with --code also code",
    exits: [5]
  },
  async (context, { flags }) => {
    const { readAttachments } = await import("../mail/Attachments.ts")
    const { askSandbox, readSandbox } = await import("../sandbox/SandboxProcess.ts")
    if (flags.to.length === 0) throw usageError("Missing flag --to.")
    const attachments = await readAttachments(context, flags.attach)
    const { emailDomain, relayUrl } = await readSandbox(context, flags.data)
    const { from } = flags
    const to = flags.to.map((name) => (name.includes("@") ? name : `${name}@${emailDomain}`))
    const code = flags.code ? await newCode() : undefined
    const subject = flags.subject ?? (code === undefined ? "Hello" : "Your verification code")
    const sentence = code === undefined ? [] : [`Your verification code is ${code}.`]
    const text = [...(flags.text === undefined ? [] : [flags.text]), ...sentence].join("\n\n") || "Hello from outside."
    const more = given({ fromName: flags["from-name"], inReplyTo: flags["in-reply-to"] })
    const sent = await askSandbox(relayUrl, "/sandbox/mail", { from, to, subject, text, attachments, ...more })
    context.output.record({ ...sent, ...given({ code }) }, [
      ["To", to.join(", ")],
      ["Code", code],
      ["Message-ID", plainLine(String(sent["messageId"]))],
      ["Reply", plainLine(String(sent["reply"]))]
    ])
  }
)

const newCode = async (): Promise<string> => {
  const { randomInt } = await import("node:crypto")
  return String(randomInt(100_000, 1_000_000))
}

export const SANDBOX_REPORT = defineCommand(
  {
    name: "sandbox report",
    summary: "Report the delivery of a sent message, as the receiving server",
    description:
      "Sends a delivery status notification (RFC 3464) about the last message to the recipient to its return path. Needs a running sandbox (agentctl dev), and no wallet or token.",
    arguments: [{ name: "recipient", summary: "Recipient of the message.", presence: "required" }],
    flags: [
      {
        name: "status",
        type: "text",
        value: "CODE",
        summary: "Status code (RFC 3463): 5.x.x bounced, 4.x.x is delayed, 2.x.x was delivered.",
        default: "5.1.1"
      },
      DATA_FLAG
    ],
    examples: [{ line: "agentctl sandbox report bob@example.com", does: "Let the last message bounce" }],
    output: "record",
    json: "{messageId, reply}",
    exits: [5]
  },
  async (context, { arguments: { recipient }, flags: { data, status } }) => {
    const { askSandbox, readSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { relayUrl } = await readSandbox(context, data)
    const sent = await askSandbox(relayUrl, "/sandbox/reports", { recipient, status })
    context.output.record(sent, [
      ["About", plainLine(String(sent["messageId"]))],
      ["Reply", plainLine(String(sent["reply"]))]
    ])
  }
)

export const SANDBOX_OUTBOX = defineCommand(
  {
    name: "sandbox outbox",
    summary: "List what the sandbox sent outside, newest first",
    description:
      "A sandbox sends no mail to other domains. It keeps each message as a file, whose path --json shows. Lists the last 20. Needs a running sandbox (agentctl dev), and no wallet or token.",
    arguments: [{ name: "recipient", summary: "Only messages to this address.", presence: "optional" }],
    flags: [DATA_FLAG],
    examples: [{ line: "agentctl sandbox outbox bob@outside.example", does: "Read what Bob received" }],
    output: "rows",
    json: "{items: [{receivedAt, from, to, subject, text, messageId, file}]}",
    exits: [5]
  },
  async (context, { arguments: { recipient }, flags: { data } }) => {
    const { askSandbox, readSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { relayUrl } = await readSandbox(context, data)
    const query = recipient === undefined ? "" : `?${new URLSearchParams({ to: recipient }).toString()}`
    const answer = await askSandbox(relayUrl, `/sandbox/outbox${query}`)
    const items = answer["items"] as ReadonlyArray<SentMail>
    context.output.table(
      { items },
      items,
      [
        timeColumn("SENT", ({ receivedAt }) => receivedAt, 1),
        { heading: "FROM", value: ({ from }) => from, drop: 2 },
        { heading: "TO", value: ({ to }) => to.join(", ") },
        { heading: "SUBJECT", value: ({ subject }) => subject },
        { heading: "TEXT", value: ({ text }) => text }
      ],
      recipient === undefined ? "Nothing was sent outside." : `Nothing was sent to ${plainLine(recipient)}.`
    )
  }
)

interface SentMail {
  readonly receivedAt: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly subject: string
  readonly text: string
}

const POLL_MILLIS = 200
/** The states in which a call of the sandbox ends. */
const ENDED: ReadonlySet<unknown> = new Set(["completed", "rejected"])

export const SANDBOX_CALL = defineCommand(
  {
    name: "sandbox call",
    summary: "Call a number of the sandbox, as a person outside",
    description:
      "The person says each --say after the agent has spoken, and hangs up after the answer to the last one; without --say, after the agent's first words. Returns when the call has ended, with the words that the person heard. Needs a running sandbox (agentctl dev), and no wallet or token.",
    arguments: [{ name: "number", summary: "Number to call, for example +14155550100.", presence: "optional" }],
    flags: [
      { name: "to", type: "text", value: "NUMBER", summary: "The same as the argument NUMBER." },
      {
        name: "from",
        type: "text",
        value: "NUMBER",
        summary: "Number of the person: +1 NXX 555 0150 to 0199.",
        default: "+12125550150"
      },
      { name: "say", type: "list", value: "TEXT", summary: "Words of the person." },
      DATA_FLAG
    ],
    examples: [
      { line: 'agentctl sandbox call --to +14155550100 --say "Is this Ada?"', does: "Have a short conversation" }
    ],
    output: "record",
    json: "{call: {id, state, from, to, seconds, heard}}",
    exits: [5]
  },
  async (context, { arguments: { number }, flags }) => {
    if (number !== undefined && flags.to !== undefined) throw usageError("Pass NUMBER or --to, not both.")
    const to = (number ?? flags.to)?.replaceAll(/[\s().-]/g, "")
    if (to === undefined) throw usageError("Missing argument NUMBER: the number to call, for example +14155550100.")
    const { askSandbox, readSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { host, output } = context
    const { carrierUrl } = await readSandbox(context, flags.data)
    const lines = flags.say.length === 0 ? [{ hangup: true }] : flags.say
    const placed = await askSandbox(carrierUrl, "/sandbox/calls", { from: flags.from, to, lines })
    for (;;) {
      const call = await askSandbox(carrierUrl, `/sandbox/calls/${String(placed["id"])}`)
      if (ENDED.has(call["state"])) {
        const { from, heard, id, seconds, state } = call
        const words = Array.isArray(heard) ? heard.map((text) => plainLine(String(text))) : []
        return output.record({ call: { id, state, from, to: call["to"], seconds, heard } }, [
          ["Call", plainLine(String(id))],
          ["State", plainLine(String(state))],
          ["Duration", `${Number(seconds ?? 0)} s`],
          ...words.map((text, index) => [index === 0 ? "Heard" : "", text] as const)
        ])
      }
      await host.sleep(POLL_MILLIS)
    }
  }
)

export const SANDBOX_FUND = defineCommand(
  {
    name: "sandbox fund",
    summary: "Give a wallet test USDT on the chain of the sandbox",
    description: "By default, the wallet in use. Needs a running sandbox (agentctl dev), and no password or token.",
    arguments: [
      { name: "address", summary: "Address of the wallet: 0x and 40 hexadecimal digits.", presence: "optional" }
    ],
    flags: [
      { name: "amount", type: "text", value: "USDT", summary: "How much, up to 10000.", default: "100.00" },
      {
        name: "network",
        type: "text",
        value: "ID",
        summary:
          "CAIP-2 id of the network. By default the first one; on the second one, eip155:402403, the wallet also receives gas."
      },
      DATA_FLAG
    ],
    examples: [
      { line: "agentctl sandbox fund", does: "After agentctl wallet create" },
      {
        line: "agentctl sandbox fund 0x857b06519e91e3a54538791bdbb0e22373e36b66 --amount 20",
        does: "Fund another wallet"
      }
    ],
    output: "record",
    json: "{address, amount, network, transaction}; network if it was named",
    exits: [5]
  },
  async (context, { arguments: { address }, flags: { amount, data, network } }) => {
    const { askSandbox, readSandbox } = await import("../sandbox/SandboxProcess.ts")
    const { facilitatorUrl } = await readSandbox(context, data)
    const inUse = address === undefined ? await walletInUse(context) : undefined
    const funded = await askSandbox(facilitatorUrl, "/sandbox/faucet", {
      address: address ?? inUse?.address,
      amount,
      ...given({ network })
    })
    const source = inUse?.variable === undefined ? "" : ` (from ${inUse.variable})`
    context.output.record(funded, [
      ["Wallet", `${plainLine(String(funded["address"]))}${source}`],
      ["Received", `${plainLine(String(funded["amount"]))} USDT`],
      ["Network", network],
      ["Transaction", plainLine(String(funded["transaction"]))]
    ])
  }
)

/** Returns the address of the wallet in use, and the variable that names it in place of the profile. */
const walletInUse = async (context: Context) => {
  const { addressOfWallet, rejectFolderWallet, requireWallet, variableOf } = await import("../wallet/Wallet.ts")
  const wallet = await requireWallet(context)
  rejectFolderWallet(context, wallet)
  return { address: await addressOfWallet(wallet), variable: variableOf(wallet) }
}
