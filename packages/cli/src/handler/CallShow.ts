import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { CALL_SHOW } from "../command/PhoneCommands.ts"
import { connectWithToken } from "../server/Connection.ts"
import { callFields } from "./CallFields.ts"

export const run = async (context: Context, input: InputOf<typeof CALL_SHOW>): Promise<void> => {
  const { client } = await connectWithToken(context)
  const data = await client.call("getCall", { params: { callId: input.arguments.call } })
  context.output.record(data, callFields(data.call))
}
