import type { Context } from "../command/Handler.ts"
import { saveToken } from "../config/Credentials.ts"
import { requireBaseUrl, resolveSettings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { ApiClient } from "../server/ApiClient.ts"

const TOKEN = /^at_v1_[0-9A-Za-z]{1,500}$/

const readToken = async ({ host }: Context): Promise<string> => {
  const given = (host.env["AGENTOS_TOKEN"] ?? "").trim()
  if (given !== "") return given
  return (await (host.stdinIsTerminal ? host.ask("Access token: ", { hidden: true }) : host.readStdin())).trim()
}

export const run = async (context: Context): Promise<void> => {
  const { host, output } = context
  const settings = await resolveSettings(context)
  const baseUrl = requireBaseUrl(settings)
  const token = await readToken(context)
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
