import { defineCommand } from "./Command.ts"
import { PAY_EXITS, PAY_FLAGS } from "./PayFlags.ts"

export const CALL_START = defineCommand({
  name: "call start",
  summary: "Call somebody from one of your numbers",
  description:
    "Pays for one or five connected minutes, which count from the answer; the call ends with them. It returns once the call is placed: agentctl call transcript CALL --follow then prints what is said.",
  arguments: [],
  flags: [
    { name: "to", type: "text", value: "NUMBER", summary: "Whom to call, as +14155550100. Needed." },
    {
      name: "from",
      type: "text",
      value: "NUMBER",
      summary: "Id of your number, or the number itself; the only one, where you have one.",
      completes: "number"
    },
    {
      name: "minutes",
      type: "text",
      value: "N",
      summary: "How long it may last.",
      choices: ["1", "5"],
      default: "1"
    },
    { name: "greeting", type: "text", value: "TEXT", summary: "What is said first to whoever answers." },
    ...PAY_FLAGS
  ],
  examples: [
    {
      line: 'agentctl call start --to +14155550100 --minutes 5 --greeting "Hello, this is Ada."',
      does: "Shows what it costs, and asks"
    }
  ],
  output: "record",
  json: "{call, operationId, payment}",
  exits: PAY_EXITS
})

export const CALL_EXTEND = defineCommand({
  name: "call extend",
  summary: "Add a minute to a call that goes on",
  description: "Only to one that was answered and has not ended.",
  arguments: [{ name: "call", summary: "Id of a call.", presence: "required" }],
  flags: PAY_FLAGS,
  examples: [{ line: "agentctl call extend 0190f3c2-… --yes --max-amount 0.30", does: "Without being asked" }],
  output: "record",
  json: "{call, operationId, payment}",
  exits: PAY_EXITS
})
