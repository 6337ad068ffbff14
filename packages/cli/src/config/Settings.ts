import { resolve } from "node:path"
import type { Context } from "../command/Handler.ts"
import { Failure } from "../failure/Failure.ts"
import { checkProfileName, readConfig, readFolderSettings, type SettingName } from "./ConfigFile.ts"

/** Where a setting comes from, for people. */
export type Source = string

/** Where a setting comes from that nothing says. */
const BY_DEFAULT: Source = "default"

/** The settings file of the current folder, which whoever made the folder has written. */
export const FOLDER_FILE: Source = "./agentctl.json"

/** A setting in force. */
export interface Setting {
  readonly value: string
  readonly source: Source
  /** Whether `FOLDER_FILE` decides it: by naming it, or by naming the profile that it comes from. */
  readonly isFromFolder: boolean
}

/** Where it comes from, as part of a sentence. */
export const fromOf = ({ source }: Pick<Setting, "source">): string =>
  source === BY_DEFAULT ? "by default" : `from ${source}`

/** What is in force for a command, each with where it comes from. */
export interface Settings {
  readonly profile: Setting
  readonly baseUrl: Setting | undefined
  readonly walletFile: Setting | undefined
  readonly rpcUrl: Setting | undefined
}

/** Flags of the command that stand over what is configured. */
export interface SettingFlags {
  readonly walletFile?: string | undefined
  readonly rpcUrl?: string | undefined
}

const setting = (value: string | undefined, source: Source): Setting | undefined =>
  value === undefined || value === "" ? undefined : { value, source, isFromFolder: source === FOLDER_FILE }

const first = (...candidates: ReadonlyArray<Setting | undefined>): Setting | undefined =>
  candidates.find((candidate) => candidate !== undefined)

/** Resolves the settings: flag over environment over ./agentctl.json over the profile. */
export const resolveSettings = async ({ globals, host }: Context, flags: SettingFlags = {}): Promise<Settings> => {
  const [config, folder] = await Promise.all([readConfig(host), readFolderSettings(host)])
  const { env } = host
  const profile = first(
    setting(globals.profile, "--profile"),
    setting(env["AGENTOS_PROFILE"], "AGENTOS_PROFILE"),
    setting(folder.profile, FOLDER_FILE)
  ) ?? { value: config.profile, source: config.namesProfile ? "config.json" : BY_DEFAULT, isFromFolder: false }
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

/** The address of a server, without a slash at its end. Plain http is refused but for this machine: a token travels over it. */
export const checkBaseUrl = ({ source, value }: Pick<Setting, "source" | "value">): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const refuse = (why: string) =>
    new Failure({ code: "CONFIGURATION", message: `The server's address ${value} (from ${source}) ${why}.` })
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refuse("is not an address that begins with https://, or on this machine with http://")
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw refuse("may have a host, a port and a path, and nothing else")
  if (url.protocol === "http:" && !isLocal(url.hostname))
    throw refuse("must begin with https://, since tokens are sent to it")
  return url.href.replace(/\/+$/, "")
}

/** Whether a host name is this machine's. */
export const isLocal = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname)

/** The server's address, or the failure that says how to set it. */
export const requireBaseUrl = (settings: Settings): string => {
  if (settings.baseUrl !== undefined) return checkBaseUrl(settings.baseUrl)
  throw new Failure({
    code: "CONFIGURATION",
    message: `No server is set: neither --base-url, nor AGENTOS_BASE_URL, nor profile ${settings.profile.value} names one.`,
    next: ["agentctl config set base-url https://…", "agentctl dev"]
  })
}
