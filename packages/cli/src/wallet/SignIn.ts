import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { ENVIRONMENT_TOKEN, findToken, saveToken } from "../config/Credentials.ts"
import { rejectFolderServer, requireBaseUrl, resolveSettings } from "../config/Settings.ts"
import { openAgent } from "../server/Agent.ts"
import { failureOf } from "../server/ApiFailure.ts"
import { folderWalletWarning, NAME_YOUR_WALLET, requireWallet, type WalletFlags } from "./Wallet.ts"

export interface SignedIn {
  readonly profile: string
  readonly baseUrl: string
  readonly address: string
}

/** Signs in with the wallet, calls the operation, and saves the token that it returns. Nothing is paid. */
export const signIn = async (
  context: Context,
  operation: "recoverToken" | "revokeTokens",
  flags: WalletFlags
): Promise<SignedIn> => {
  const { host } = context
  const settings = await resolveSettings(context, flags)
  const baseUrl = requireBaseUrl(settings)
  rejectFolderServer(settings, "A signature")
  const wallet = await requireWallet(context, flags)
  const warning = folderWalletWarning(wallet)
  // The author of the folder would have the account whose token is saved.
  if (warning !== undefined)
    throw new Failure({ code: "CONFIGURATION", message: `${warning} ${NAME_YOUR_WALLET} Nothing was signed.` })
  // First, because a message is valid for a minute, and a password may have to be typed.
  const key = await wallet.open()
  const profile = settings.profile.value
  const agent = await openAgent(context, baseUrl, {
    wallet: async () => (await import("./Account.ts")).accountOf(key),
    onPayment: () => false,
    tokens: {
      get: async () => (await findToken(host, profile, baseUrl))?.value,
      set: (_key, token) => saveToken(host, profile, baseUrl, token)
    }
  })
  const { authentication } = await agent.call(operation).catch(async (error: unknown) => {
    const failure = failureOf(error, baseUrl)
    const isUnknownWallet = failure instanceof Failure && failure.parts.code === "RESOURCE_NOT_FOUND"
    const token = isUnknownWallet ? await findToken(host, profile, baseUrl) : undefined
    if (!isUnknownWallet || token === undefined || token.source === ENVIRONMENT_TOKEN) throw failure
    // Otherwise the first purchase, which the server advises, would be refused with the saved token.
    const { message, next = [] } = failure.parts
    throw failure.with({
      message: `${message} The saved token of profile ${profile} is not that of this wallet: log out first.`,
      next: ["agentctl logout", ...next]
    })
  })
  if (typeof authentication?.accessToken === "string") return { profile, baseUrl, address: key.address }
  throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned no access token." })
}
