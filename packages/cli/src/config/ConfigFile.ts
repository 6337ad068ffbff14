import { dirname, isAbsolute, join, resolve } from "node:path"
import { Failure } from "../failure/Failure.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/JsonValue.ts"
import { readJsonIfAny, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import { configPath, homeFolder } from "./Home.ts"

/** What a profile, or a folder's agentctl.json, may say. None of it is a secret. */
export interface ProfileSettings {
  readonly baseUrl?: string
  /** Absolute once it is read. */
  readonly walletFile?: string
  readonly rpcUrl?: string
}
export type SettingName = keyof ProfileSettings

/** config.json of the home folder. */
export interface ConfigFile {
  /** The profile that is used where none is named. */
  readonly profile: string
  readonly profiles: Readonly<Record<string, ProfileSettings>>
}

/** What is read of it: the file as it is, or as it would be where there is none. */
export interface ReadConfigFile extends ConfigFile {
  /** Whether the file says which profile is used. */
  readonly namesProfile: boolean
}

export const DEFAULT_PROFILE = "default"
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const NAMES: ReadonlyArray<SettingName> = ["baseUrl", "walletFile", "rpcUrl"]

/** Refuses names that could not be part of a file's name, and those that every object has, as constructor. */
export const checkProfileName = (name: string): string => {
  if (PROFILE_NAME.test(name) && !(name in {})) return name
  throw new Failure({
    code: "CONFIGURATION",
    message: `"${name}" can't be the name of a profile: letters, digits, dots, dashes and underscores, 64 at most; or it is reserved.`
  })
}

const wrong = (path: string, what: string): Failure =>
  new Failure({ code: "CONFIGURATION", message: `${path}: ${what}. Mend it, or remove it.` })

const settingsOf = (value: unknown, path: string, more: ReadonlyArray<string>): ProfileSettings => {
  if (!isRecord(value)) throw wrong(path, "settings must be an object")
  const unknown = Object.keys(value).find((key) => !NAMES.some((name) => name === key) && !more.includes(key))
  if (unknown !== undefined) throw wrong(path, `there is no setting "${unknown}" (${[...NAMES, ...more].join(", ")})`)
  const settings: { -readonly [Name in SettingName]?: string } = {}
  for (const name of NAMES) {
    const text = value[name]
    if (text === undefined) continue
    if (typeof text !== "string" || text === "") throw wrong(path, `"${name}" must be a text`)
    // A path in a file is seen from that file, wherever the command runs.
    settings[name] = name === "walletFile" && !isAbsolute(text) ? join(dirname(path), text) : text
  }
  return settings
}

/** Reads config.json; an empty one where there is none. */
export const readConfig = async (host: Host): Promise<ReadConfigFile> => {
  const path = configPath(host)
  const value = await readJsonIfAny(path)
  if (value === undefined) return { profile: DEFAULT_PROFILE, profiles: {}, namesProfile: false }
  if (!isRecord(value)) throw wrong(path, "it must be an object")
  const { profile = DEFAULT_PROFILE, profiles = {} } = value
  if (typeof profile !== "string" || !isRecord(profiles))
    throw wrong(path, "profile must be a text, profiles an object")
  return {
    namesProfile: "profile" in value,
    profile: checkProfileName(profile),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, settings]) => [checkProfileName(name), settingsOf(settings, path, [])])
    )
  }
}

/** What ./agentctl.json says, if it is there. */
export interface FolderSettings extends ProfileSettings {
  readonly profile?: string
}

export const readFolderSettings = async (host: Host): Promise<FolderSettings> => {
  const path = resolve(host.workingDirectory, "agentctl.json")
  const value = await readJsonIfAny(path)
  if (value === undefined) return {}
  const settings = settingsOf(value, path, ["profile"])
  const profile = isRecord(value) ? value["profile"] : undefined
  if (profile === undefined) return settings
  if (typeof profile !== "string") throw wrong(path, '"profile" must be a text')
  return { ...settings, profile: checkProfileName(profile) }
}

/** Writes config.json as `change` makes it out of what is there, which no other process changes meanwhile. */
export const changeConfig = (host: Host, change: (config: ConfigFile) => ConfigFile): Promise<void> =>
  withFreeLock(host, homeFolder(host), "config", async () => {
    const { namesProfile: _read, ...before } = await readConfig(host)
    await writePrivate(configPath(host), `${JSON.stringify(change(before), undefined, 2)}\n`)
  })

/** Changes one setting of a profile; undefined takes it away. */
export const changeSetting = (
  host: Host,
  profile: string,
  name: SettingName,
  value: string | undefined
): Promise<void> =>
  changeConfig(host, (config) => {
    const { [name]: _old, ...others } = config.profiles[profile] ?? {}
    const settings: ProfileSettings = value === undefined ? others : { ...others, [name]: value }
    return { ...config, profiles: { ...config.profiles, [profile]: settings } }
  })
