import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { MAIL_READ } from "../command/MailCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { messageText } from "../mail/MessageText.ts"
import { connectWithToken } from "../server/Connection.ts"

export const run = async (context: Context, input: InputOf<typeof MAIL_READ>): Promise<void> => {
  const { output } = context
  const { client } = await connectWithToken(context)
  const data = await client.call("queryMessages", { query: { messageId: input.arguments.message } })
  if (!("message" in data))
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server answered with a list." })
  const body = input.flags.html ? data.message.html : data.message.text
  output.data(data, () => messageText(data.message, body, output))
  if (body === null) output.note(input.flags.html ? "The message has no HTML." : "The message has no text; see --html.")
}
