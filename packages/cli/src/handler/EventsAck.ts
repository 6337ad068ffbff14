import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { EVENTS_ACK } from "../command/EventCommands.ts"
import type { DataOf } from "../server/ApiClient.ts"
import { connectWithToken } from "../server/Connection.ts"

export const run = async (context: Context, input: InputOf<typeof EVENTS_ACK>): Promise<void> => {
  const { client } = await connectWithToken(context)
  const items: Array<DataOf<"acknowledgeEvent">["event"]> = []
  // One after the other: whatever fails, those before it are acknowledged.
  for (const eventId of [input.arguments.event, ...input.arguments.more])
    items.push((await client.call("acknowledgeEvent", { payload: { eventId } })).event)
  context.output.table(
    { items },
    items,
    [
      { heading: "EVENT", value: ({ eventId }) => eventId, whole: true },
      { heading: "TYPE", value: ({ type }) => type, whole: true },
      { heading: "STATUS", value: ({ status }) => status, whole: true }
    ],
    "There is no event."
  )
}
