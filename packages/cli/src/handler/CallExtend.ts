import type { CALL_EXTEND } from "../command/CallCommands.ts"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import { pay } from "../payment/Payment.ts"
import { callFields } from "./CallFields.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

export const run = async (context: Context, input: InputOf<typeof CALL_EXTEND>): Promise<void> => {
  const callId = input.arguments.call
  const { data, entry } = await pay(
    context,
    { operation: "extendCall", payload: { callId }, what: `1 more minute of the call ${callId}` },
    input.flags
  )
  context.output.record(withPayment(data, entry), callFields(data.call))
  notePayment(context, entry)
}
