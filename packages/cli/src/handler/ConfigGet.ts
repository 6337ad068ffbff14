import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { CONFIG_GET } from "../command/ToolCommands.ts"
import { inForce } from "../config/SettingKey.ts"
import { resolveSettings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { plainLine } from "../output/Plain.ts"

export const run = async (context: Context, input: InputOf<typeof CONFIG_GET>): Promise<void> => {
  const { key } = input.arguments
  const setting = inForce(await resolveSettings(context), key)
  if (setting === undefined)
    throw new Failure({ code: "NOT_FOUND", message: `${key} is not set.`, next: [`agentctl config set ${key} VALUE`] })
  const { source, value } = setting
  context.output.data({ key, value, source }, () => `${plainLine(value)}\n`)
}
