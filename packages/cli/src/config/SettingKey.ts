import type { SettingName } from "./ConfigFile.ts"
import type { Setting, Settings } from "./Settings.ts"

/** The settings as they are called on the command line. */
export type SettingKey = "base-url" | "wallet-file" | "rpc-url" | "profile"
export const SETTING_KEYS: ReadonlyArray<SettingKey> = ["profile", "base-url", "wallet-file", "rpc-url"]

/** The field of a profile; null for the choice of the profile itself. */
export const SETTING_OF: Readonly<Record<SettingKey, SettingName | null>> = {
  "base-url": "baseUrl",
  "wallet-file": "walletFile",
  "rpc-url": "rpcUrl",
  profile: null
}

/** The setting of a key as it is in force. */
export const inForce = (settings: Settings, key: SettingKey): Setting | undefined =>
  settings[SETTING_OF[key] ?? "profile"]
