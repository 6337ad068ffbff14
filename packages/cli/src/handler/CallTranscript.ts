import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { CALL_TRANSCRIPT } from "../command/PhoneCommands.ts"
import { plainJson, plainLine } from "../output/Plain.ts"
import type { DataOf } from "../server/ApiClient.ts"
import { connectWithToken } from "../server/Connection.ts"

/** How often a call that goes on is looked at. */
const PAUSE_MILLIS = 1_000

type Turn = DataOf<"getTranscript">["transcript"]["turns"][number]

const turnLine = ({ at, role, text }: Turn): string =>
  `${plainLine(`${at.slice(11, 19)}  ${role.padEnd(6)}  ${text}`)}\n`

export const run = async (context: Context, input: InputOf<typeof CALL_TRANSCRIPT>): Promise<void> => {
  const { host, output } = context
  const { client } = await connectWithToken(context)
  const read = () => client.call("getTranscript", { params: { callId: input.arguments.call } })
  if (!input.flags.follow) {
    const data = await read()
    const { complete, turns } = data.transcript
    output.data(data, () => turns.map(turnLine).join(""))
    if (complete && turns.length === 0) output.note("Nothing was said.")
    if (!complete) output.note("The call is still going on: --follow stays until it has ended.")
    return
  }
  let shown = 0
  for (;;) {
    const { complete, turns } = (await read()).transcript
    for (const turn of turns.slice(shown)) output.text(output.options.json ? `${plainJson(turn)}\n` : turnLine(turn))
    shown = Math.max(shown, turns.length)
    if (complete) return
    await host.sleep(PAUSE_MILLIS)
  }
}
