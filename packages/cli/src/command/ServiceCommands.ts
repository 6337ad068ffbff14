import { defineCommand } from "./Command.ts"

export const SERVICES_LIST = defineCommand({
  name: "services list",
  summary: "List the services and their prices",
  description: "Needs neither wallet nor token.",
  arguments: [],
  flags: [
    { name: "available", type: "boolean", summary: "Only what this server offers." },
    { name: "paid", type: "boolean", summary: "Only what costs something." }
  ],
  examples: [{ line: "agentctl services list --paid", does: "What there is to buy" }],
  output: "rows",
  json: "{items: [service]}",
  exits: [9]
})

export const SERVICES_SHOW = defineCommand({
  name: "services show",
  summary: "Show one service: price, inputs, errors, what to do next",
  description: "Needs neither wallet nor token.",
  arguments: [{ name: "service", summary: "Id of a service.", presence: "required", completes: "service" }],
  flags: [],
  examples: [{ line: "agentctl services show email.mailbox.create", does: "What a mailbox costs and needs" }],
  output: "record",
  json: "{service}",
  exits: [5, 9]
})

export const QUOTE = defineCommand({
  name: "quote",
  summary: "Show what a call would cost. Never pays",
  description:
    "Sends the call without a payment, and shows the challenge: amount, asset, network and payee. Everything that would make the call fail is found now, before money moves. Fields are NAME=TEXT, or NAME:=JSON for numbers, lists and booleans.",
  arguments: [
    { name: "service", summary: "Id of a service.", presence: "required", completes: "service" },
    { name: "fields", summary: "Fields of the call: NAME=TEXT or NAME:=JSON.", presence: "several" }
  ],
  flags: [],
  examples: [
    { line: "agentctl quote email.mailbox.create localPart=ada", does: "Is the name free, and what does it cost?" },
    {
      line: "agentctl quote email.message.send mailboxId=ID to=a@b.example subject=Hi text=Hello",
      does: "The same for a message"
    }
  ],
  output: "rows",
  json: "{serviceId, method, path, body, accepts: [{amount, baseUnits, asset, network, payTo, maxTimeoutSeconds, expiresAt}]}",
  exits: [4, 5, 6, 9]
})
