import { isAbsolute, join, resolve } from "node:path"
import type { Host } from "../host/Host.ts"

/**
 * Where configuration, tokens, wallets and the journal are kept, as an absolute path: AGENTOS_HOME, else the user's config
 * folder (XDG Base Directory, by which a relative XDG_CONFIG_HOME counts for nothing).
 */
export const homeFolder = ({ env, homeDirectory, workingDirectory }: Host): string => {
  const own = env["AGENTOS_HOME"] ?? ""
  if (own !== "") return resolve(workingDirectory, own)
  const xdg = env["XDG_CONFIG_HOME"] ?? ""
  return join(isAbsolute(xdg) ? xdg : join(homeDirectory, ".config"), "agentctl")
}

export const configPath = (host: Host): string => join(homeFolder(host), "config.json")
export const credentialsPath = (host: Host): string => join(homeFolder(host), "credentials.json")
export const budgetPath = (host: Host): string => join(homeFolder(host), "budget.json")
export const walletFolder = (host: Host): string => join(homeFolder(host), "wallets")
export const journalFolder = (host: Host): string => join(homeFolder(host), "journal")
