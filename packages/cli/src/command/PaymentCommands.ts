import { defineCommand } from "./Command.ts"

export const PAYMENTS_LIST = defineCommand({
  name: "payments list",
  summary: "List the payments made from this machine, newest first",
  description: "Read from the journal of this profile; the server is not asked.",
  arguments: [],
  flags: [
    { name: "open", type: "boolean", summary: "Only those without a final answer." },
    {
      name: "limit",
      type: "integer",
      value: "N",
      summary: "How many at most.",
      default: 50,
      minimum: 1,
      maximum: 10_000
    }
  ],
  examples: [{ line: "agentctl payments list --open", does: "What a lost answer left behind" }],
  output: "rows",
  json: "{items: [payment]}",
  exits: []
})

export const PAYMENTS_SHOW = defineCommand({
  name: "payments show",
  summary: "Show one payment: the request, the quote, what became of it",
  description: "The signed payment itself is a secret, and is not shown.",
  arguments: [{ name: "payment", summary: "Id of a payment.", presence: "required", completes: "payment" }],
  flags: [],
  examples: [{ line: "agentctl payments show 0190f3c2-…", does: "One payment" }],
  output: "record",
  json: "{payment}",
  exits: [5]
})

export const PAYMENTS_RESUME = defineCommand({
  name: "payments resume",
  summary: "Find out what became of a payment, and finish it",
  description:
    "After a lost answer, an interruption or a kill: sends the very bytes again that are in the journal. Nothing is signed, so nothing is charged twice. One that was answered is asked about again, and shows what it bought.\nWithout an id it takes the one open payment of this profile.",
  arguments: [{ name: "payment", summary: "Id of a payment.", presence: "optional", completes: "payment" }],
  flags: [{ name: "all", type: "boolean", summary: "Every open payment of this profile." }],
  examples: [
    { line: "agentctl payments resume", does: "The one that is open" },
    { line: "agentctl payments resume --all", does: "All of them, one after another" }
  ],
  output: "record",
  json: "{payment, data}; with --all {items: [payment]}",
  exits: [4, 5, 6, 7, 8, 9]
})

export const BUDGET_SET = defineCommand({
  name: "budget set",
  summary: "Limit what is paid from this machine",
  description: "Holds for this profile, and is checked before anything is signed. A day is the last 24 hours.",
  arguments: [],
  flags: [
    {
      name: "per-call",
      type: "text",
      value: "AMOUNT",
      summary: "Most that one call may cost, in USDT; none for no limit."
    },
    { name: "per-day", type: "text", value: "AMOUNT", summary: "Most that a day may cost, in USDT; none for no limit." }
  ],
  examples: [{ line: "agentctl budget set --per-call 0.50 --per-day 10", does: "Both limits" }],
  output: "record",
  json: "{profile, perCall, perDay, spentLastDay, leftToday}",
  exits: []
})

export const BUDGET_SHOW = defineCommand({
  name: "budget show",
  summary: "Show the limits and what is left of them",
  description: "What may have been charged counts as spent, until it is known that it was not.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl budget show", does: "What is left today" }],
  output: "record",
  json: "{profile, perCall, perDay, spentLastDay, leftToday}",
  exits: []
})
