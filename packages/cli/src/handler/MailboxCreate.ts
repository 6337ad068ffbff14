import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAILBOX_CREATE } from "../command/MailboxCommands.ts"
import { pay } from "../payment/Payment.ts"
import { given } from "./Given.ts"
import { mailboxFields } from "./MailboxFields.ts"
import { notePayment, noteToken, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, input: InputOf<typeof MAILBOX_CREATE>): Promise<void> => {
  const { flags } = input
  const { localpart } = input.arguments
  const { data, entry } = await pay(
    context,
    {
      operation: "createMailbox",
      payload: {
        localPart: localpart,
        ...given({ displayName: flags["display-name"], outboundSignature: flags.signature })
      },
      what: `the mailbox ${localpart}`
    },
    flags
  )
  context.output.record(withPayment(data, entry), mailboxFields(data.mailbox))
  notePayment(context, entry)
  noteToken(context, entry)
}
