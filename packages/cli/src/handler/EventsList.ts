import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { EVENTS_LIST } from "../command/EventCommands.ts"
import { momentOfFlag } from "../output/Moment.ts"
import { shellWord } from "../output/ShellWord.ts"
import { momentOf } from "../output/Wording.ts"
import { connectWithToken } from "../server/Connection.ts"
import { collect } from "../server/Pages.ts"
import { aboutOf } from "../tail/EventLine.ts"

/** The types of a flag that takes several, given again or separated by commas. */
export const typesOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => text.split(",").map((type) => type.trim())).filter((type) => type !== "")

export const run = async (context: Context, { flags }: InputOf<typeof EVENTS_LIST>): Promise<void> => {
  const { host, output } = context
  const { client } = await connectWithToken(context)
  const types = typesOf(flags.types)
  const filter = {
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(types.length === 0 ? {} : { types }),
    ...(flags.service === undefined ? {} : { service: flags.service }),
    ...(flags.resource === undefined ? {} : { resourceId: flags.resource }),
    ...(flags.agent === undefined ? {} : { agentId: flags.agent }),
    ...(flags.since === undefined ? {} : { from: momentOfFlag("since", flags.since, host.now()) }),
    ...(flags.until === undefined ? {} : { to: momentOfFlag("until", flags.until, host.now()) })
  }
  const page = await collect(flags.limit, flags.cursor, (limit, cursor) =>
    client.call("listEvents", { payload: { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) } })
  )
  output.table(
    page,
    page.items,
    [
      { heading: "CREATED", value: ({ createdAt }) => momentOf(createdAt), whole: true },
      { heading: "TYPE", value: ({ type }) => type, whole: true },
      { heading: "STATUS", value: ({ status }) => status, whole: true },
      { heading: "ABOUT", value: ({ payload, resourceId }) => aboutOf(payload) ?? resourceId },
      { heading: "EVENT", value: ({ eventId }) => eventId, whole: true }
    ],
    "There is no event."
  )
  if (page.nextCursor !== null)
    output.note(`There are more: --limit ${flags.limit * 2}, or --cursor ${shellWord(page.nextCursor)}`)
}
