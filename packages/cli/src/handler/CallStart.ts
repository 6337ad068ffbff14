import type { CALL_START } from "../command/CallCommands.ts"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import { pay } from "../payment/Payment.ts"
import { connectWithToken } from "../server/Connection.ts"
import { callFields } from "./CallFields.ts"
import { given, needed } from "./Given.ts"
import { numberIdOf, onlyNumberId } from "./NumberId.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, { flags }: InputOf<typeof CALL_START>): Promise<void> => {
  const toNumber = needed(flags.to, "to", "call start")
  const { client } = await connectWithToken(context)
  const phoneNumberId = flags.from === undefined ? await onlyNumberId(client) : await numberIdOf(client, flags.from)
  const isShort = flags.minutes === "1"
  const { data, entry } = await pay(
    context,
    {
      operation: isShort ? "callOneMinute" : "callFiveMinutes",
      payload: { phoneNumberId, toNumber, ...given({ initialGreeting: flags.greeting }) },
      what: `a call to ${toNumber} of at most ${isShort ? "1 minute" : "5 minutes"}`
    },
    flags
  )
  context.output.record(withPayment(data, entry), callFields(data.call))
  notePayment(context, entry)
  context.output.note(`What is said: agentctl call transcript ${data.call.callId} --follow`)
}
