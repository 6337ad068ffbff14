import { Failure, plainLine, usageError } from "@agentos/node/command-line"
import { resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import { defineCommand } from "./Command.ts"

const KEY = {
  name: "key",
  summary: "Name of the setting.",
  presence: "required",
  choices: ["base-url", "wallet-file", "rpc-url", "profile"]
} as const

export const CONFIG_LIST = defineCommand(
  {
    name: "config list",
    summary: "List the effective settings and their sources",
    description: "Order of precedence: flag, environment, ./agentctl.json, profile.",
    examples: [{ line: "agentctl config list", does: "See which server is used, and why" }],
    output: "rows",
    json: "{profile, profiles, items: [{key, value, source}]}"
  },
  async (context) => {
    const { readConfig } = await import("../config/ConfigFile.ts")
    const { effective, resolveSettings, SETTING_KEYS } = await import("../config/Settings.ts")
    const { host, output } = context
    const [settings, config] = await Promise.all([resolveSettings(context), readConfig(host)])
    const items = SETTING_KEYS.map((key) => {
      const setting = effective(settings, key)
      return { key, value: setting?.value ?? null, source: setting?.source ?? null }
    })
    const profiles = Object.keys(config.profiles)
    output.table(
      { profile: settings.profile.value, profiles, items },
      items,
      [
        { heading: "SETTING", value: ({ key }) => key, whole: true },
        { heading: "FROM", value: ({ source }) => source, whole: true },
        { heading: "VALUE", value: ({ value }) => value, wraps: true }
      ],
      "No settings."
    )
    if (profiles.length > 1) output.note(`Profiles: ${profiles.join(", ")}`)
  }
)

export const CONFIG_GET = defineCommand(
  {
    name: "config get",
    summary: "Print the effective value of a setting",
    description: "Exit code 5 if it is not set.",
    arguments: [KEY],
    examples: [{ line: "agentctl config get base-url", does: "The URL of the server, for a script" }],
    output: "record",
    json: "{key, value, source}",
    exits: [5]
  },
  async (context, { arguments: { key } }) => {
    const { effective, resolveSettings } = await import("../config/Settings.ts")
    const setting = effective(await resolveSettings(context), key)
    if (setting === undefined)
      throw new Failure({
        code: "NOT_FOUND",
        message: `${key} is not set.`,
        next: [`agentctl config set ${key} VALUE`]
      })
    const { source, value } = setting
    context.output.data({ key, value, source }, () => `${plainLine(value)}\n`)
  }
)

export const CONFIG_SET = defineCommand(
  {
    name: "config set",
    summary: "Change a setting of this profile",
    description:
      "`profile` selects the default profile; the other settings belong to the profile in use. An empty value removes a setting. For keys and tokens, use wallet and login.",
    arguments: [KEY, { name: "value", summary: "New value.", presence: "required" }],
    examples: [
      { line: "agentctl config set base-url https://agentos.example", does: "Set the server" },
      { line: "agentctl config set profile staging", does: "Change the default profile" }
    ],
    output: "record",
    json: "{key, value, source}"
  },
  async (context, { arguments: { key, value } }) => {
    const { changeConfig, changeSetting, checkProfileName, readConfig } = await import("../config/ConfigFile.ts")
    const { effective, resolveSettings, SETTING_OF } = await import("../config/Settings.ts")
    const { host, output } = context
    const name = SETTING_OF[key]
    if (name === null) {
      await changeConfig(host, (config) => ({ ...config, profile: checkProfileName(value) }))
      if ((await readConfig(host)).profiles[value] === undefined) output.note(`Profile ${value} has no settings yet.`)
    } else {
      const profile = checkProfileName((await resolveSettings(context)).profile.value)
      await changeSetting(host, profile, name, value === "" ? undefined : await checked(context, key, value))
    }
    const setting = effective(await resolveSettings(context), key)
    const document = { key, value: setting?.value ?? null, source: setting?.source ?? null }
    output.record(document, [
      ["Setting", key],
      ["Value", setting?.value ?? "not set"],
      ["From", setting?.source]
    ])
    if (setting !== undefined && setting.source !== "config.json" && !setting.source.startsWith("profile "))
      output.warn(`Saved, but ${setting.source} takes precedence here.`)
  }
)

const checked = async ({ host }: Context, key: (typeof KEY.choices)[number], value: string): Promise<string> => {
  const { checkBaseUrl } = await import("../config/Settings.ts")
  if (key === "base-url") return checkBaseUrl({ value, source: "the command line" })
  if (key === "wallet-file") return resolve(host.workingDirectory, value)
  if (!URL.canParse(value)) throw usageError(`${key} takes a URL such as https://rpc.example, not "${value}".`)
  return value
}

export const CONFIG_PATH = defineCommand(
  {
    name: "config path",
    summary: "Print the path of the configuration folder",
    description: "The folder contains config.json, credentials.json, wallets and the payment journal.",
    examples: [{ line: 'ls "$(agentctl config path)"', does: "List the files of agentctl on this machine" }],
    output: "text",
    json: "one line of text"
  },
  async ({ host, output }) => {
    const { homeFolder } = await import("../config/ConfigFile.ts")
    output.text(`${homeFolder(host)}\n`)
  }
)
