import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAILBOX_UPDATE } from "../command/MailboxCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { pay } from "../payment/Payment.ts"
import { connectWithToken } from "../server/Connection.ts"
import { given } from "./Given.ts"
import { mailboxFields } from "./MailboxFields.ts"
import { mailboxIdOf } from "./MailList.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, input: InputOf<typeof MAILBOX_UPDATE>): Promise<void> => {
  const { flags } = input
  const changes = given({
    displayName: flags["display-name"],
    outboundSignature: flags.signature,
    active: flags.active === undefined ? undefined : flags.active === "true"
  })
  // The server would take it, and the money: a call that changes nothing is a slip.
  if (Object.keys(changes).length === 0)
    throw new Failure({
      code: "USAGE",
      message: "Nothing is to be changed: give --display-name, --signature or --active.",
      next: ["agentctl mailbox update --help"]
    })
  const { client } = await connectWithToken(context)
  const mailboxId = await mailboxIdOf(client, input.arguments.mailbox)
  const { data, entry } = await pay(
    context,
    {
      operation: "updateMailbox",
      payload: { mailboxId, ...changes },
      what: `a change of the mailbox ${input.arguments.mailbox}`
    },
    flags
  )
  context.output.record(withPayment(data, entry), mailboxFields(data.mailbox))
  notePayment(context, entry)
}
