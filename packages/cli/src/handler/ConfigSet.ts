import { resolve } from "node:path"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { CONFIG_SET } from "../command/ToolCommands.ts"
import { changeConfig, changeSetting, checkProfileName, readConfig } from "../config/ConfigFile.ts"
import { inForce, SETTING_OF } from "../config/SettingKey.ts"
import { checkBaseUrl, resolveSettings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"

const checked = ({ host }: Context, key: keyof typeof SETTING_OF, value: string): string => {
  if (key === "base-url") return checkBaseUrl({ value, source: "the command line" })
  if (key === "wallet-file") return resolve(host.workingDirectory, value)
  if (!URL.canParse(value))
    throw new Failure({ code: "USAGE", message: `${key} takes an address, as https://rpc.example; not "${value}".` })
  return value
}

export const run = async (context: Context, input: InputOf<typeof CONFIG_SET>): Promise<void> => {
  const { host, output } = context
  const { key, value } = input.arguments
  const name = SETTING_OF[key]
  if (name === null) await changeConfig(host, (config) => ({ ...config, profile: checkProfileName(value) }))
  else {
    const profile = checkProfileName((await resolveSettings(context)).profile.value)
    await changeSetting(host, profile, name, value === "" ? undefined : checked(context, key, value))
  }
  if (name === null && (await readConfig(host)).profiles[value] === undefined)
    output.note(`Profile ${value} has no settings yet.`)
  const setting = inForce(await resolveSettings(context), key)
  const document = { key, value: setting?.value ?? null, source: setting?.source ?? null }
  output.record(document, [
    ["Setting", key],
    ["Value", setting?.value ?? "not set"],
    ["From", setting?.source]
  ])
  if (setting !== undefined && setting.source !== "config.json" && !setting.source.startsWith("profile "))
    output.warn(`Saved, but ${setting.source} is stronger here.`)
}
