import type { Context } from "../command/Handler.ts"
import { readConfig } from "../config/ConfigFile.ts"
import { inForce, SETTING_KEYS } from "../config/SettingKey.ts"
import { resolveSettings } from "../config/Settings.ts"

export const run = async (context: Context): Promise<void> => {
  const { host, output } = context
  const [settings, config] = await Promise.all([resolveSettings(context), readConfig(host)])
  const items = SETTING_KEYS.map((key) => {
    const setting = inForce(settings, key)
    return { key, value: setting?.value ?? null, source: setting?.source ?? null }
  })
  const profiles = Object.keys(config.profiles)
  output.table(
    { profile: settings.profile.value, profiles, items },
    items,
    [
      { heading: "SETTING", value: ({ key }) => key, whole: true },
      { heading: "VALUE", value: ({ value }) => value, whole: true },
      { heading: "FROM", value: ({ source }) => source, whole: true }
    ],
    "Nothing is set."
  )
  if (profiles.length > 1) output.note(`Profiles: ${profiles.join(", ")}`)
}
