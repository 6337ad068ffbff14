import { defineCommand } from "./Command.ts"
import { PAY_EXITS, PAY_FLAGS } from "./PayFlags.ts"

export const MAIL_SEND = defineCommand({
  name: "mail send",
  summary: "Send a message from one of your mailboxes",
  description:
    "The text comes from --text, from --text-file, or from standard input where that is no terminal; then nobody can be asked there, and --yes and --max-amount are needed. It is sent once, whatever happens on the way.",
  arguments: [],
  flags: [
    {
      name: "from",
      type: "text",
      value: "MAILBOX",
      summary: "Id or address of the mailbox; the only one, where you have one.",
      completes: "mailbox"
    },
    { name: "to", type: "list", value: "ADDRESS", summary: "To whom." },
    { name: "cc", type: "list", value: "ADDRESS", summary: "Copy to." },
    { name: "bcc", type: "list", value: "ADDRESS", summary: "Hidden copy to." },
    { name: "subject", short: "s", type: "text", value: "TEXT", summary: "The subject." },
    { name: "text", type: "text", value: "TEXT", summary: "The text itself." },
    {
      name: "text-file",
      type: "text",
      value: "FILE",
      summary: "Read the text from this file; - for standard input.",
      completes: "file"
    },
    {
      name: "html",
      type: "text",
      value: "FILE",
      summary: "Read the message as HTML from this file; the text goes beside it.",
      completes: "file"
    },
    ...PAY_FLAGS
  ],
  examples: [
    {
      line: 'agentctl mail send --to bob@example.com --subject Hello --text "Are you there?"',
      does: "Shows what it costs, and asks"
    },
    {
      line: "agentctl mail send --to bob@example.com --subject Report --yes --max-amount 0.02 < report.txt",
      does: "The same in a script, with the text from a file"
    }
  ],
  output: "record",
  json: "{message, operationId, payment}",
  exits: PAY_EXITS
})
