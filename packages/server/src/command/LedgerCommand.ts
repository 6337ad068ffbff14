import { defineCommand, runEffect } from "./ServerCommand.ts"

export const LEDGER = defineCommand(
  {
    name: "ledger",
    summary: "Check that every payment is accounted for",
    description:
      "Checks that the ledger balances, that it matches the operations, and that the chain matches both. Amounts are in base units of the token: 1000000 are 1 USDT with 6 decimals. Transfers between your own wallets are listed as ownTransfers, and are no problem. Changes nothing, and can run beside servers on PostgreSQL. An embedded database has one user at a time: stop its server first.",
    examples: [{ line: "agentos-server ledger", does: "Print the report" }],
    output: "text",
    json: "{ok, amounts, ledger, chain}, which is the output without --json as well",
    exits: [2, 6],
    exitMeanings: { 2: "problems found", 6: "no problems, but transfers of no known operation" }
  },
  async (context) => {
    const { ledgerProgram } = await import("../program/LedgerProgram.ts")
    const { json, problems, unclaimed } = await runEffect(context, ledgerProgram(context.host.env))
    context.output.text(`${json}\n`)
    return problems > 0 ? 2 : unclaimed > 0 ? 6 : 0
  }
)
