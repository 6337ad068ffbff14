import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { EVENTS_GET } from "../command/EventCommands.ts"
import { plain } from "../output/Plain.ts"
import { momentOf } from "../output/Wording.ts"
import { connectWithToken } from "../server/Connection.ts"

export const run = async (context: Context, input: InputOf<typeof EVENTS_GET>): Promise<void> => {
  const { output } = context
  const { client } = await connectWithToken(context)
  const data = await client.call("getEvent", { payload: { eventId: input.arguments.event } })
  const { event } = data
  output.data(
    data,
    () =>
      output.recordText([
        ["Event", event.eventId],
        ["Type", event.type],
        ["Status", event.status],
        ["Source", event.source],
        ["Service", event.service],
        ["Resource", event.resourceId],
        ["Agent", event.agentId],
        ["Created", momentOf(event.createdAt)],
        ["Delivered", momentOf(event.deliveredAt)],
        ["Deliveries", event.deliveryCount],
        ["Acknowledged", momentOf(event.acknowledgedAt)],
        ["Expires", momentOf(event.expiresAt)]
      ]) + `\n${plain(JSON.stringify(event.payload, undefined, 2))}\n`
  )
}
