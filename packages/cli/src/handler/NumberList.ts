import type { Context } from "../command/Handler.ts"
import { momentOf, spanOf } from "../output/Wording.ts"
import { connectWithToken } from "../server/Connection.ts"

export const run = async (context: Context): Promise<void> => {
  const { client } = await connectWithToken(context)
  const data = await client.call("listNumbers")
  context.output.table(
    data,
    data.items,
    [
      { heading: "NUMBER", value: ({ number }) => number, whole: true },
      { heading: "AGENT", value: ({ agentName }) => agentName },
      { heading: "STATUS", value: ({ status }) => status, whole: true },
      { heading: "UNTIL", value: ({ entitlement }) => momentOf(entitlement.expiresAt), whole: true },
      { heading: "LEFT", value: ({ entitlement }) => spanOf(entitlement.secondsRemaining) },
      { heading: "INBOUND LEFT", value: ({ inboundAllowance }) => spanOf(inboundAllowance.remainingSeconds) },
      { heading: "PHONE NUMBER ID", value: ({ phoneNumberId }) => phoneNumberId, whole: true }
    ],
    "There is no number yet."
  )
}
