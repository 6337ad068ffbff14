import { defineCommand } from "./Command.ts"
import { CURSOR_FLAG, LIMIT_FLAG } from "./PageFlags.ts"

export const MAILBOX_LIST = defineCommand({
  name: "mailbox list",
  summary: "List your mailboxes",
  description: "Inactive mailboxes take no mail, and are listed too.",
  arguments: [],
  flags: [],
  examples: [{ line: "agentctl mailbox list --json", does: "Every field, for a program" }],
  output: "rows",
  json: "{items: [mailbox]}",
  exits: [4, 9]
})

export const MAIL_LIST = defineCommand({
  name: "mail list",
  summary: "List messages, newest first",
  description: "Sent and received, without their bodies.",
  arguments: [],
  flags: [
    {
      name: "mailbox",
      type: "text",
      value: "ID",
      summary: "Only of this mailbox: its id, or its address.",
      completes: "mailbox"
    },
    LIMIT_FLAG,
    CURSOR_FLAG
  ],
  examples: [
    { line: "agentctl mail list --limit 10", does: "The last ten" },
    { line: "agentctl mail list --mailbox ada@agents.example", does: "Of one mailbox" }
  ],
  output: "rows",
  json: "{items: [message], nextCursor}",
  exits: [4, 5, 9]
})

export const MAIL_READ = defineCommand({
  name: "mail read",
  summary: "Read one message",
  description: "Prints its headers and its text. Reading changes nothing: an event stays unacknowledged.",
  arguments: [{ name: "message", summary: "Id of a message.", presence: "required", completes: "message" }],
  flags: [{ name: "html", type: "boolean", summary: "Print the HTML, and not the text." }],
  examples: [{ line: "agentctl mail read 0190f3c2-…", does: "The whole message" }],
  output: "record",
  json: "{message}",
  exits: [4, 5, 9]
})

export const MAIL_WAIT = defineCommand({
  name: "mail wait",
  summary: "Wait for a message, or for the code in one",
  description:
    "Looks at what came in the last 60 seconds, newest first, and then waits. Prints the first message that fits, or with --otp only its one-time code: 4 to 10 digits or capitals with a digit among them (also 123 456, 123-456 and G-123456), after or before a word such as code, PIN or verification, or digits alone on a line. Exit code 5 where none has come in time. Nothing is acknowledged.\nWith --otp or --from it accepts only messages whose sender is verified: DMARC passed for the domain of the From address. Others are reported on standard error and ignored.",
  arguments: [],
  flags: [
    {
      name: "from",
      type: "text",
      value: "SENDER",
      summary: "Only from this address, or from this domain and those below it; verified, unless --unverified is given."
    },
    { name: "subject", type: "text", value: "TEXT", summary: "Only with this text in the subject." },
    { name: "otp", type: "boolean", summary: "Print only the one-time code, and wait for a message that has one." },
    {
      name: "unverified",
      type: "boolean",
      summary: "With --otp or --from, accept messages whose sender is not verified."
    },
    { name: "timeout", type: "text", value: "SPAN", summary: "How long to wait: 20s, 5m, 1h.", default: "20s" },
    {
      name: "mailbox",
      type: "text",
      value: "ID",
      summary: "Only of this mailbox: its id, or its address.",
      completes: "mailbox"
    }
  ],
  examples: [
    { line: "agentctl mail wait --from github.com --otp", does: "The code, for a script that signs in" },
    { line: "agentctl mail wait --subject invoice --timeout 10m", does: "The message itself" }
  ],
  output: "record",
  json: "{message}; with --otp {code, messageId, authentication}",
  exits: [4, 5, 9]
})
