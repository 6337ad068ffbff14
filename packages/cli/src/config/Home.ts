import { join } from "node:path"
import type { Host } from "../host/Host.ts"

/** Where configuration, tokens, wallets and the journal are kept: AGENTOS_HOME, else the user's config folder (XDG Base Directory). */
export const homeFolder = ({ env, homeDirectory }: Host): string => {
  const own = env["AGENTOS_HOME"] ?? ""
  if (own !== "") return own
  const xdg = env["XDG_CONFIG_HOME"] ?? ""
  return join(xdg === "" ? join(homeDirectory, ".config") : xdg, "agentctl")
}

export const configPath = (host: Host): string => join(homeFolder(host), "config.json")
export const credentialsPath = (host: Host): string => join(homeFolder(host), "credentials.json")
export const budgetPath = (host: Host): string => join(homeFolder(host), "budget.json")
export const walletFolder = (host: Host): string => join(homeFolder(host), "wallets")
export const journalFolder = (host: Host): string => join(homeFolder(host), "journal")
