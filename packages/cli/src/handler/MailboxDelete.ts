import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAILBOX_DELETE } from "../command/MailboxCommands.ts"
import { pay } from "../payment/Payment.ts"
import { connectWithToken } from "../server/Connection.ts"
import { mailboxIdOf } from "./MailList.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, input: InputOf<typeof MAILBOX_DELETE>): Promise<void> => {
  const { mailbox } = input.arguments
  const { client } = await connectWithToken(context)
  const mailboxId = await mailboxIdOf(client, mailbox)
  const { data, entry } = await pay(
    context,
    {
      operation: "deleteMailbox",
      payload: { mailboxId },
      what: `the deletion of the mailbox ${mailbox} with all of its messages, for good`
    },
    input.flags
  )
  context.output.record(withPayment(data, entry), [
    ["Mailbox", data.mailboxId],
    ["Deleted", "yes"],
    ["Messages", `${data.messagesDeleted} deleted`]
  ])
  notePayment(context, entry)
}
