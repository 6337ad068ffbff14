import { Failure } from "@agentos/node/command-line"
import { NETWORK_FLAG, PASSWORD_FILE_FLAG, WALLET_FILE_FLAG, walletFlagsOf } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import { defineCommand } from "./Command.ts"

export const MCP = defineCommand(
  {
    name: "mcp",
    summary: "Serve tools for AI agents over standard input and output",
    description:
      "A server of the Model Context Protocol for a host on this machine, such as Claude or Cursor, which starts it: mailboxes, email, codes, numbers, calls and spending as tools.\nNobody confirms the payments, so they need a limit: --max-per-day, or a budget. No tool can change a limit. Payments are in the journal, and count toward the budget like those of other commands.\nWithout a wallet, or with --read-only, only free tools are offered. Standard output carries the protocol alone; the log is on standard error. The end of the input or Ctrl-C stops it.",
    flags: [
      { name: "read-only", type: "boolean", summary: "Offer only free tools, and do not open the wallet." },
      {
        name: "max-per-call",
        type: "text",
        value: "AMOUNT",
        summary: "Maximum price of one call in USDT. A lower budget takes precedence."
      },
      {
        name: "max-per-day",
        type: "text",
        value: "AMOUNT",
        summary: "Maximum spending in 24 hours in USDT. A lower budget takes precedence."
      },
      NETWORK_FLAG,
      WALLET_FILE_FLAG,
      PASSWORD_FILE_FLAG
    ],
    examples: [
      {
        line: "agentctl mcp --max-per-call 6 --max-per-day 10",
        does: "Tools that may spend 10 USDT a day, and buy a number for 5"
      },
      { line: "agentctl mcp --read-only", does: "Tools that read mail and calls" }
    ],
    output: "text",
    json: "messages of the protocol",
    exits: [4, 5]
  },
  async (context, { flags }) => {
    const { TOOLS } = await import("@agentos/tools")
    const { decimalOf } = await import("@agentos/client")
    const { openToolAgent } = await import("../mcp/ToolAgent.ts")
    const { Writable } = await import("node:stream")
    const { callbackify } = await import("node:util")
    const { host, output } = context
    const { agent, baseUrl, limits, payer, release, spent } = await openToolAgent(context, {
      ...walletFlagsOf(flags),
      readOnly: flags["read-only"],
      maxPerCall: flags["max-per-call"],
      maxPerDay: flags["max-per-day"],
      network: flags.network
    })
    const { serveMcp } = await import("../mcp/McpServer.ts")
    const limit = (amount: bigint | null, unit: string) =>
      amount === null ? [] : [`${decimalOf(amount)} USDT ${unit}`]
    output.note(
      payer === null
        ? `Serving free tools for ${baseUrl}${flags["read-only"] ? "" : ": no wallet is configured"}.`
        : `Serving tools for ${baseUrl}. ${payer} pays at most ${[...limit(limits.perCall, "per call"), ...limit(limits.perDay, "per day")].join(" and ")}.`
    )
    for (const { amount, id } of agent.payments.open())
      output.warn(
        asStarted(
          host,
          `Payment ${id} of ${amount} USDT has no known outcome. Find it out: agentctl payments resume ${id}`
        )
      )
    await serveMcp({
      agent,
      tools: TOOLS.filter(({ needsWallet }) => payer !== null || !needsWallet),
      options: { spent },
      input: host.openStdin?.() ?? process.stdin,
      output: new Writable({
        write: (chunk: Uint8Array, _encoding, done) => {
          host.stdout.write(chunk)
          callbackify(host.stdout.drained)(done)
        }
      }),
      signal: host.signal,
      onResult: ({ name }, { error, isError }) => {
        output.note(`${name}: ${isError ? (error?.code ?? "invalid input") : "done"}`)
        if (error?.code === "PAYMENT_OUTCOME_UNKNOWN") release(error.details.paymentId)
      },
      onError: (error) => output.warn(error.message)
    })
    if (host.signal.aborted) throw new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  }
)
