import { resolve } from "node:path"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAIL_SEND } from "../command/SendCommand.ts"
import { Failure } from "../failure/Failure.ts"
import { readIfAny } from "../file/PrivateFile.ts"
import { countOf, momentOf } from "../output/Wording.ts"
import { pay } from "../payment/Payment.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import { connectWithToken } from "../server/Connection.ts"
import { given, needed } from "./Given.ts"
import { mailboxIdOf } from "./MailList.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

type Flags = InputOf<typeof MAIL_SEND>["flags"]

const wrong = (message: string): Failure => new Failure({ code: "USAGE", message, next: ["agentctl mail send --help"] })

const contentOf = async ({ host }: Context, path: string): Promise<string> => {
  if (path === "-") return host.readStdin()
  const content = await readIfAny(resolve(host.workingDirectory, path))
  if (content !== undefined) return content
  throw new Failure({ code: "NOT_FOUND", message: `There is no file ${path}.` })
}

const textOf = async (context: Context, flags: Flags): Promise<string> => {
  if (flags.text !== undefined && flags["text-file"] !== undefined)
    throw wrong("The text is given by --text or by --text-file; not by both.")
  if (flags.text !== undefined) return flags.text
  if (flags["text-file"] !== undefined) return contentOf(context, flags["text-file"])
  if (context.host.stdinIsTerminal) throw wrong("The text is missing: --text, --text-file, or standard input.")
  const text = await context.host.readStdin()
  // Most likely a script whose input is closed, and not somebody who pays for an empty message.
  if (text === "") throw wrong("Standard input is empty: give the text there, or by --text or --text-file.")
  return text
}

const onlyMailboxId = async (client: ApiClient): Promise<string> => {
  const { items } = await client.call("listMailboxes")
  const [only, ...more] = items
  if (only !== undefined && more.length === 0) return only.mailboxId
  throw new Failure({
    code: "USAGE",
    message:
      only === undefined ? "You have no mailbox to send from." : "You have several mailboxes: say which by --from.",
    next: [only === undefined ? "agentctl mailbox create LOCALPART" : "agentctl mailbox list"]
  })
}

export const run = async (context: Context, { flags }: InputOf<typeof MAIL_SEND>): Promise<void> => {
  const subject = needed(flags.subject, "subject", "mail send")
  if (flags.to.length === 0) throw wrong("--to is missing: to whom is it sent?")
  if (flags.html === "-" && flags["text-file"] === "-")
    throw wrong("Standard input can't be both the text and the HTML.")
  const html = flags.html === undefined ? undefined : await contentOf(context, flags.html)
  const text = await textOf(context, flags)
  const { client } = await connectWithToken(context)
  const mailboxId = flags.from === undefined ? await onlyMailboxId(client) : await mailboxIdOf(client, flags.from)
  const recipients = flags.to.length + flags.cc.length + flags.bcc.length
  const { data, entry } = await pay(
    context,
    {
      operation: "sendMessage",
      payload: {
        mailboxId,
        to: flags.to,
        ...(flags.cc.length === 0 ? {} : { cc: flags.cc }),
        ...(flags.bcc.length === 0 ? {} : { bcc: flags.bcc }),
        subject,
        text,
        ...given({ html })
      },
      what: `one message to ${recipients === 1 ? flags.to[0]! : countOf(recipients, "recipient")}`
    },
    flags
  )
  const { message } = data
  context.output.record(withPayment(data, entry), [
    ["Message", message.messageId],
    ["From", message.from],
    ["To", message.to.join(", ")],
    ["Subject", message.subject],
    ["Status", message.status],
    ["Created", momentOf(message.createdAt)]
  ])
  notePayment(context, entry)
}
