import type { Context } from "../command/Handler.ts"
import type { PayFlagValues } from "../command/PayFlags.ts"
import { pay } from "../payment/Payment.ts"
import { connectWithToken } from "../server/Connection.ts"
import { numberFields, numberIdOf } from "./NumberId.ts"
import { notePayment, withPayment } from "./PaidOutput.ts"

/** Pays for something of a number that is named by its id or by itself, and shows the number. */
export const payForNumber = async (
  context: Context,
  call: { readonly operation: "renewNumber" | "addInboundMinutes"; readonly number: string; readonly what: string },
  flags: PayFlagValues
): Promise<void> => {
  const { client } = await connectWithToken(context)
  const phoneNumberId = await numberIdOf(client, call.number)
  const { data, entry } = await pay(
    context,
    { operation: call.operation, payload: { phoneNumberId }, what: call.what },
    flags
  )
  context.output.record(withPayment(data, entry), numberFields(data.phoneNumber))
  notePayment(context, entry)
}
