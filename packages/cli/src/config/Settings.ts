import { isLoopback } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import { resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import { checkProfileName, readConfig, readFolderConfig, type SettingName } from "./ConfigFile.ts"

/** The settings as the command line names them. */
export type SettingKey = "base-url" | "wallet-file" | "rpc-url" | "profile"
export const SETTING_KEYS: ReadonlyArray<SettingKey> = ["profile", "base-url", "wallet-file", "rpc-url"]

/** The field of each setting in a profile; null for the profile itself. */
export const SETTING_OF: Readonly<Record<SettingKey, SettingName | null>> = {
  "base-url": "baseUrl",
  "wallet-file": "walletFile",
  "rpc-url": "rpcUrl",
  profile: null
}

/** The origin of a setting, for people. */
type Source = string
const DEFAULT: Source = "default"

/** The settings file of the current folder. It is not trusted, because the author of the folder wrote it. */
const FOLDER_FILE: Source = "./agentctl.json"

/** The effective value of a setting. */
export interface Setting {
  readonly value: string
  readonly source: Source
  /** Whether `FOLDER_FILE` sets it, or names the profile that sets it. */
  readonly isFromFolder: boolean
}

/** The source as a part of a sentence. */
export const fromOf = ({ source }: Pick<Setting, "source">): string =>
  source === DEFAULT ? "by default" : `from ${source}`

export interface Settings {
  readonly profile: Setting
  readonly baseUrl: Setting | undefined
  readonly walletFile: Setting | undefined
  readonly rpcUrl: Setting | undefined
}

/** Flags of a command that override settings. */
export interface SettingFlags {
  readonly walletFile?: string | undefined
  readonly rpcUrl?: string | undefined
}

export const effective = (settings: Settings, key: SettingKey): Setting | undefined =>
  settings[SETTING_OF[key] ?? "profile"]

const setting = (value: string | undefined, source: Source): Setting | undefined =>
  value === undefined || value === "" ? undefined : { value, source, isFromFolder: source === FOLDER_FILE }

const first = (...candidates: ReadonlyArray<Setting | undefined>): Setting | undefined =>
  candidates.find((candidate) => candidate !== undefined)

/** Resolves the settings, in order of precedence: flag, environment, ./agentctl.json, profile. */
export const resolveSettings = async ({ globals, host }: Context, flags: SettingFlags = {}): Promise<Settings> => {
  const [config, folder] = await Promise.all([readConfig(host), readFolderConfig(host)])
  const { env } = host
  const profile = first(
    setting(globals.profile, "--profile"),
    setting(env["AGENTOS_PROFILE"], "AGENTOS_PROFILE"),
    setting(folder.profile, FOLDER_FILE)
  ) ?? { value: config.profile, source: config.namesProfile ? "config.json" : DEFAULT, isFromFolder: false }
  const saved = config.profiles[checkProfileName(profile.value)]
  const ofProfile = (value: string | undefined): Setting | undefined => {
    const source = `profile ${profile.value}${profile.isFromFolder ? `, which ${FOLDER_FILE} names` : ""}`
    const found = setting(value, source)
    return found && { ...found, isFromFolder: profile.isFromFolder }
  }
  const pick = (name: SettingName, flag: string | undefined, flagName: string, variable: string) =>
    first(
      setting(flag, flagName),
      setting(env[variable], variable),
      setting(folder[name], FOLDER_FILE),
      ofProfile(saved?.[name])
    )
  const walletFile = pick("walletFile", flags.walletFile, "--wallet-file", "AGENTOS_WALLET_FILE")
  return {
    profile,
    baseUrl: pick("baseUrl", globals["base-url"], "--base-url", "AGENTOS_BASE_URL"),
    walletFile: walletFile && { ...walletFile, value: resolve(host.workingDirectory, walletFile.value) },
    rpcUrl: pick("rpcUrl", flags.rpcUrl, "--rpc-url", "AGENTOS_RPC_URL")
  }
}

/** Checks the URL of a server and removes its trailing slash. Tokens are sent to it, so http is for this machine only. */
export const checkBaseUrl = ({ source, value }: Pick<Setting, "source" | "value">): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const reject = (why: string) =>
    new Failure({ code: "CONFIGURATION", message: `Server URL ${value} (from ${source}) ${why}.` })
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw reject("is not valid. Use https://…, or http://… for this machine")
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw reject("has a user name, password, query or fragment. Only a host, a port and a path are allowed")
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw reject("must begin with https://, because access tokens are sent to it")
  return url.href.replace(/\/+$/, "")
}

export const requireBaseUrl = (settings: Settings): string => {
  if (settings.baseUrl !== undefined) return checkBaseUrl(settings.baseUrl)
  throw new Failure({
    code: "CONFIGURATION",
    message: `No server is configured for profile ${settings.profile.value}. Set it with --base-url, AGENTOS_BASE_URL or config set.`,
    next: ["agentctl config set base-url https://…", "agentctl dev"]
  })
}

/**
 * Throws a CONFIGURATION failure if ./agentctl.json decides one of these settings. For commands that ask nothing, such as
 * those with --yes: the author of a folder must not choose the recipient of a payment.
 */
export const rejectFolderSettings = (
  settings: Settings,
  keys: ReadonlyArray<SettingKey>,
  consequence: string,
  asker: { readonly name: string; readonly alternative: string } = {
    name: "--yes",
    alternative: ", or confirm on a terminal without --yes"
  }
): void => {
  const chosen = keys.filter((key) => effective(settings, key)?.source === FOLDER_FILE)
  if (chosen.length === 0) return
  const flags = chosen.map((key) => `--${key}`).join(" and ")
  throw new Failure({
    code: "CONFIGURATION",
    message: `${asker.name} does not accept settings from ${FOLDER_FILE} (${chosen.join(", ")}; server ${settings.baseUrl?.value ?? "not set"}). Pass ${flags} yourself${asker.alternative}. ${consequence}`
  })
}

/** Throws a CONFIGURATION failure if ./agentctl.json decides the server to which a token would be sent. */
export const rejectFolderServer = ({ baseUrl }: Settings, token: string): void => {
  if (baseUrl?.isFromFolder !== true) return
  throw new Failure({
    code: "CONFIGURATION",
    message: `${token} is not sent to ${baseUrl.value} (${fromOf(baseUrl)}). Name the server with --base-url or AGENTOS_BASE_URL. Nothing was sent.`
  })
}
