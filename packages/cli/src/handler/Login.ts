import type { Context } from "../command/Handler.ts"
import { ENVIRONMENT_TOKEN, saveToken } from "../config/Credentials.ts"
import { refuseFolderServer } from "../config/FolderSettings.ts"
import { fromOf, requireBaseUrl, resolveSettings, type Settings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { ApiClient } from "../server/ApiClient.ts"

const TOKEN = /^at_v1_[0-9A-Za-z]{1,500}$/

/** The token from the environment, standard input or a prompt. Only the prompt can tell a person where it will be sent. */
const readToken = async ({ host }: Context, settings: Settings): Promise<string> => {
  const given = (host.env[ENVIRONMENT_TOKEN] ?? "").trim()
  if (given === "" && host.stdinIsTerminal) {
    const { baseUrl } = settings
    const server = baseUrl === undefined ? "" : ` for ${baseUrl.value} (${fromOf(baseUrl)})`
    return (await host.ask(`Access token${server}: `, { hidden: true })).trim()
  }
  refuseFolderServer(settings, "The access token")
  return given === "" ? (await host.readStdin()).trim() : given
}

export const run = async (context: Context): Promise<void> => {
  const { host, output } = context
  const settings = await resolveSettings(context)
  const baseUrl = requireBaseUrl(settings)
  const token = await readToken(context, settings)
  if (!TOKEN.test(token))
    throw new Failure({
      code: "USAGE",
      message: "That is no access token: it begins with at_v1_. Give it on standard input, or as AGENTOS_TOKEN.",
      next: ["agentctl login --help"]
    })
  // The smallest answer that a token opens.
  await new ApiClient(context, baseUrl, token).call("replayEvents", { query: { limit: 1 } })
  const profile = settings.profile.value
  await saveToken(host, profile, baseUrl, token)
  output.record({ profile, baseUrl, loggedIn: true }, [
    ["Profile", profile],
    ["Server", baseUrl],
    ["Token", "works, and is saved"]
  ])
}
