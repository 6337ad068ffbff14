import { defineCommand } from "./Command.ts"
import { PAY_EXITS, PAY_FLAGS } from "./PayFlags.ts"

const NUMBER_ARGUMENT = {
  name: "number",
  summary: "Id of a number, or the number itself, as +14155550100.",
  presence: "required",
  completes: "number"
} as const

export const NUMBER_BUY = defineCommand({
  name: "number buy",
  summary: "Buy a telephone number for 30 days",
  description:
    "Calls to it reach your agent, which answers them at --webhook. The secret by which your agent knows the service is part of the answer: shown on a terminal, in the document with --json, and printed to no pipe as text. It is given with the answer to this purchase alone; agentctl payments resume PAYMENT --json shows that answer again.",
  arguments: [{ name: "country", summary: "Where the number is.", presence: "required", choices: ["us", "ca"] }],
  flags: [
    { name: "agent-name", type: "text", value: "TEXT", summary: "What the agent is called. Needed." },
    {
      name: "webhook",
      type: "text",
      value: "URL",
      summary: "Where your agent is asked what to say; begins with https://. Needed."
    },
    { name: "area-code", type: "text", value: "CODE", summary: "Three digits; any area unless given." },
    { name: "description", type: "text", value: "TEXT", summary: "What the agent is for." },
    { name: "greeting", type: "text", value: "TEXT", summary: "What is said first to whoever calls." },
    { name: "voice", type: "text", value: "NAME", summary: "The voice that speaks." },
    { name: "language", type: "text", value: "TAG", summary: "The language, as en-US." },
    ...PAY_FLAGS
  ],
  examples: [
    {
      line: "agentctl number buy us --area-code 415 --agent-name Ada --webhook https://agent.example/voice",
      does: "Shows what it costs, and asks"
    }
  ],
  output: "record",
  json: "{phoneNumberId, number, callbackVerificationSecret, phoneNumber, operationId, authentication: {accessTokenSaved, profile}, payment}",
  exits: PAY_EXITS
})

export const NUMBER_RENEW = defineCommand({
  name: "number renew",
  summary: "Keep a number for another 30 days",
  description: "They are added to its end, whenever you pay for them. A number whose time is over can't be renewed.",
  arguments: [NUMBER_ARGUMENT],
  flags: PAY_FLAGS,
  examples: [{ line: "agentctl number renew +14155550100", does: "Shows what it costs, and asks" }],
  output: "record",
  json: "{phoneNumber, operationId, payment}",
  exits: PAY_EXITS
})

export const NUMBER_ADD_MINUTES = defineCommand({
  name: "number add-minutes",
  summary: "Buy ten minutes for calls that come in",
  description: "They are added to what is left. Calls to a number without minutes are not answered.",
  arguments: [NUMBER_ARGUMENT],
  flags: PAY_FLAGS,
  examples: [{ line: "agentctl number add-minutes +14155550100", does: "Shows what it costs, and asks" }],
  output: "record",
  json: "{phoneNumber, operationId, payment}",
  exits: PAY_EXITS
})

export const NUMBER_RELEASE = defineCommand({
  name: "number release",
  summary: "Give a number back, for good",
  description: "It is free and can't be undone: the number may be somebody else's tomorrow. Nothing is paid back.",
  arguments: [NUMBER_ARGUMENT],
  flags: [{ name: "yes", short: "y", type: "boolean", summary: "Do it without being asked." }],
  examples: [{ line: "agentctl number release +14155550100", does: "Asks, and gives it back" }],
  output: "record",
  json: "{phoneNumber}",
  exits: [2, 4, 5, 6, 9]
})
