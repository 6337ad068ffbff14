import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { ENVIRONMENT_TOKEN, findToken, type Token } from "../config/Credentials.ts"
import {
  rejectFolderServer,
  requireBaseUrl,
  resolveSettings,
  type SettingFlags,
  type Settings
} from "../config/Settings.ts"
import { Server } from "./Server.ts"

/** A server and the settings that name it. */
export interface Connection {
  readonly settings: Settings
  readonly profile: string
  readonly baseUrl: string
  readonly token: Token | undefined
  readonly client: Server
}

/** Resolves the settings and creates the client, with the token if there is one. Sends nothing. */
export const connect = async (context: Context, flags: SettingFlags = {}): Promise<Connection> => {
  const settings = await resolveSettings(context, flags)
  const baseUrl = requireBaseUrl(settings)
  const profile = settings.profile.value
  const token = await findToken(context.host, profile, baseUrl)
  if (token?.source === ENVIRONMENT_TOKEN) rejectFolderServer(settings, ENVIRONMENT_TOKEN)
  return { settings, profile, baseUrl, token, client: new Server(context, baseUrl, token?.value) }
}

/** The same, for commands that need a token. Fails without one before anything is sent. */
export const connectWithToken = async (
  context: Context,
  flags: SettingFlags = {}
): Promise<Connection & { readonly token: Token }> => {
  const connection = await connect(context, flags)
  const { baseUrl, profile, token } = connection
  if (token !== undefined) return { ...connection, token }
  throw new Failure({
    code: "NOT_LOGGED_IN",
    message: `Profile ${profile} has no access token for ${baseUrl}. If your wallet has bought something there, sign in with it, which is free. Otherwise make a first purchase, which returns a token.`,
    next: ["agentctl login --wallet", "agentctl mailbox create LOCALPART"]
  })
}
