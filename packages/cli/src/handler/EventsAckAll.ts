import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { EVENTS_ACK_ALL } from "../command/EventCommands.ts"
import { momentOfFlag } from "../output/Moment.ts"
import { connectWithToken } from "../server/Connection.ts"
import { typesOf } from "./EventsList.ts"

export const run = async (context: Context, { flags }: InputOf<typeof EVENTS_ACK_ALL>): Promise<void> => {
  const { client } = await connectWithToken(context)
  const types = typesOf(flags.types)
  const data = await client.call("acknowledgeAllEvents", {
    payload: {
      before: momentOfFlag("before", flags.before ?? "now", context.host.now()),
      ...(types.length === 0 ? {} : { types }),
      ...(flags.service === undefined ? {} : { service: flags.service })
    }
  })
  context.output.record(data, [["Acknowledged", data.acknowledged]])
}
