import type { Context } from "../command/Handler.ts"
import { forgetToken } from "../config/Credentials.ts"
import { requireBaseUrl, resolveSettings } from "../config/Settings.ts"

export const run = async (context: Context): Promise<void> => {
  const { host, output } = context
  const settings = await resolveSettings(context)
  const baseUrl = requireBaseUrl(settings)
  const profile = settings.profile.value
  const forgotten = await forgetToken(host, profile, baseUrl)
  output.record({ profile, baseUrl, loggedIn: false }, [
    ["Profile", profile],
    ["Server", baseUrl],
    ["Token", forgotten ? "forgotten" : "there was none"]
  ])
  if ((host.env["AGENTOS_TOKEN"] ?? "") !== "") output.warn("AGENTOS_TOKEN is set, and is still used.")
}
