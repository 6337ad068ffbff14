import { defineCommand } from "./Command.ts"

export const NUMBER_LIST = defineCommand({
  name: "number list",
  summary: "List your telephone numbers",
  description: "With the end of each entitlement, and what is left of the inbound minutes.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl number list", does: "What you have and until when" }],
  output: "rows",
  json: "{items: [number]}",
  exits: [4, 9]
})

const CALL_ARGUMENT = { name: "call", summary: "Id of a call.", presence: "required" } as const

export const CALL_SHOW = defineCommand({
  name: "call show",
  summary: "Show a call: its state, its limit, how it ended",
  description: "Seconds count from the answer.",
  arguments: [CALL_ARGUMENT],
  flags: [],
  examples: [{ line: "agentctl call show 0190f3c2-…", does: "One call" }],
  output: "record",
  json: "{call}",
  exits: [4, 5, 9]
})

export const CALL_TRANSCRIPT = defineCommand({
  name: "call transcript",
  summary: "Print what was said in a call",
  description:
    "With --follow what is said is printed as it is said, until the call has ended. There is never a recording.\nWith --follow and --json each turn is one line of JSON.",
  arguments: [CALL_ARGUMENT],
  flags: [{ name: "follow", short: "f", type: "boolean", summary: "Stay until the call has ended." }],
  examples: [{ line: "agentctl call transcript 0190f3c2-… --follow", does: "Listen in by reading" }],
  output: "record",
  json: "{transcript}",
  exits: [4, 5, 9]
})
