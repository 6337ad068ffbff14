import { Failure } from "@agentos/node/command-line"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/Json.ts"
import { readJsonIfExists, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"

/**
 * Returns the absolute path of the folder with configuration, tokens, wallets and journal: AGENTOS_HOME, else the user's
 * configuration folder. The XDG Base Directory specification ignores a relative XDG_CONFIG_HOME.
 */
export const homeFolder = ({ env, homeDirectory, workingDirectory }: Host): string => {
  const own = env["AGENTOS_HOME"] ?? ""
  if (own !== "") return resolve(workingDirectory, own)
  const xdg = env["XDG_CONFIG_HOME"] ?? ""
  return join(isAbsolute(xdg) ? xdg : join(homeDirectory, ".config"), "agentctl")
}

export const walletFolder = (host: Host): string => join(homeFolder(host), "wallets")
const configPath = (host: Host): string => join(homeFolder(host), "config.json")

/** The settings of a profile or of ./agentctl.json. None is a secret. */
export interface ProfileSettings {
  readonly baseUrl?: string
  /** Absolute after reading. */
  readonly walletFile?: string
  readonly rpcUrl?: string
}
export type SettingName = keyof ProfileSettings

/** A profile. That of a sandbox names its description. */
export interface Profile extends ProfileSettings {
  /** The path of sandbox.json. */
  readonly sandboxFile?: string
}

export interface ConfigFile {
  readonly profile: string
  readonly profiles: Readonly<Record<string, Profile>>
}

/** config.json as read; with defaults if it does not exist. */
export interface ReadConfigFile extends ConfigFile {
  /** Whether the file sets the default profile. */
  readonly namesProfile: boolean
}

/** ./agentctl.json. */
export interface FolderConfig extends ProfileSettings {
  readonly profile?: string
}

const DEFAULT_PROFILE = "default"
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const NAMES: ReadonlyArray<SettingName> = ["baseUrl", "walletFile", "rpcUrl"]

/** Rejects profile names that cannot be part of a file name, and the names of object properties, such as constructor. */
export const checkProfileName = (name: string): string => {
  if (PROFILE_NAME.test(name) && !(name in {})) return name
  throw new Failure({
    code: "CONFIGURATION",
    message: `Invalid profile name "${name}": use 1 to 64 letters, digits, dots, dashes and underscores, and no reserved word.`
  })
}

const invalid = (path: string, problem: string): Failure =>
  new Failure({ code: "CONFIGURATION", message: `${path}: ${problem}. Fix it or delete it.` })

const settingsOf = (value: unknown, path: string, more: ReadonlyArray<string>): ProfileSettings => {
  if (!isRecord(value)) throw invalid(path, "settings must be an object")
  const names = [...NAMES, ...more]
  const unknown = Object.keys(value).find((key) => !names.includes(key))
  if (unknown !== undefined) throw invalid(path, `unknown setting "${unknown}" (known: ${names.join(", ")})`)
  const settings: { -readonly [Name in SettingName]?: string } = {}
  for (const name of NAMES) {
    const text = value[name]
    if (text === undefined) continue
    if (typeof text !== "string" || text === "") throw invalid(path, `"${name}" must be a non-empty string`)
    // A relative path in a file is relative to that file.
    settings[name] = name === "walletFile" && !isAbsolute(text) ? join(dirname(path), text) : text
  }
  return settings
}

const profileOf = (value: unknown, path: string): Profile => {
  const settings = settingsOf(value, path, ["sandboxFile"])
  const sandboxFile = isRecord(value) ? value["sandboxFile"] : undefined
  if (sandboxFile === undefined) return settings
  if (typeof sandboxFile !== "string" || !isAbsolute(sandboxFile))
    throw invalid(path, '"sandboxFile" must be an absolute path')
  return { ...settings, sandboxFile }
}

export const readConfig = async (host: Host): Promise<ReadConfigFile> => {
  const path = configPath(host)
  const value = await readJsonIfExists(path)
  if (value === undefined) return { profile: DEFAULT_PROFILE, profiles: {}, namesProfile: false }
  if (!isRecord(value)) throw invalid(path, "the content must be an object")
  const { profile = DEFAULT_PROFILE, profiles = {} } = value
  if (typeof profile !== "string") throw invalid(path, '"profile" must be a string')
  if (!isRecord(profiles)) throw invalid(path, '"profiles" must be an object')
  return {
    namesProfile: "profile" in value,
    profile: checkProfileName(profile),
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, settings]) => [checkProfileName(name), profileOf(settings, path)])
    )
  }
}

export const readFolderConfig = async (host: Host): Promise<FolderConfig> => {
  const path = resolve(host.workingDirectory, "agentctl.json")
  const value = await readJsonIfExists(path)
  if (value === undefined) return {}
  const settings = settingsOf(value, path, ["profile"])
  const profile = isRecord(value) ? value["profile"] : undefined
  if (profile === undefined) return settings
  if (typeof profile !== "string") throw invalid(path, '"profile" must be a string')
  return { ...settings, profile: checkProfileName(profile) }
}

/** Changes config.json under a lock. */
export const changeConfig = (host: Host, change: (config: ConfigFile) => ConfigFile): Promise<void> =>
  withFreeLock(host, homeFolder(host), "config", async () => {
    const { namesProfile: _read, ...before } = await readConfig(host)
    await writePrivate(configPath(host), `${JSON.stringify(change(before), undefined, 2)}\n`)
  })

/** Changes one setting of a profile; undefined removes it. */
export const changeSetting = (
  host: Host,
  profile: string,
  name: SettingName,
  value: string | undefined
): Promise<void> =>
  changeConfig(host, (config) => {
    const { [name]: _old, ...others } = config.profiles[profile] ?? {}
    const settings: Profile = value === undefined ? others : { ...others, [name]: value }
    return { ...config, profiles: { ...config.profiles, [profile]: settings } }
  })
