import { Failure } from "../failure/Failure.ts"
import { inForce, type SettingKey } from "./SettingKey.ts"
import { FOLDER_FILE, fromOf, type Settings } from "./Settings.ts"

/**
 * Throws a CONFIGURATION failure if ./agentctl.json decides one of these settings. For what --yes lets happen without a
 * question: whoever made the folder must not choose whom it pays.
 */
export const refuseFolderSettings = (
  settings: Settings,
  keys: ReadonlyArray<SettingKey>,
  consequence: string
): void => {
  const chosen = keys.filter((key) => inForce(settings, key)?.source === FOLDER_FILE)
  if (chosen.length === 0) return
  const flags = chosen.map((key) => `--${key}`).join(" and ")
  throw new Failure({
    code: "CONFIGURATION",
    message: `--yes does not act at ${settings.baseUrl?.value ?? "a server"} on settings from ${FOLDER_FILE} (${chosen.join(", ")}). Pass ${flags} yourself, or leave out --yes and confirm on a terminal. ${consequence}`
  })
}

/** Throws a CONFIGURATION failure if ./agentctl.json decides to which server a token would go. */
export const refuseFolderServer = ({ baseUrl }: Settings, token: string): void => {
  if (baseUrl?.isFromFolder !== true) return
  throw new Failure({
    code: "CONFIGURATION",
    message: `${token} is not sent to ${baseUrl.value} (${fromOf(baseUrl)}). Name the server yourself with --base-url or AGENTOS_BASE_URL. Nothing was sent.`
  })
}
