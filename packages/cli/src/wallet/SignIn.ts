import { messageIn, signMessage } from "@agentos/client/internal"
import { Failure } from "@agentos/command-line"
import { findToken, saveToken } from "../config/Credentials.ts"
import { rejectFolderServer, requireBaseUrl, resolveSettings } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { isRecord } from "../file/Json.ts"
import { ApiClient } from "../server/ApiClient.ts"
import { apiFailure, failingWith } from "../server/ApiFailure.ts"
import { ROUTES } from "../server/Routes.ts"
import { folderWalletWarning, NAME_YOUR_WALLET, requireWallet, type WalletFlags } from "./Wallet.ts"

/** A finished sign-in. */
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
  // The first request goes without the saved token, which may be the one that was lost or revoked.
  const client = new ApiClient(context, baseUrl, undefined)
  const request = { method: ROUTES[operation].method, path: ROUTES[operation].path }
  const challenge = await client.send(request)
  const header = challenge.headers.get("payment-required")
  if (challenge.status !== 402 || header === null) throw apiFailure(challenge, baseUrl)
  const url = new URL(`${baseUrl}${request.path}`)
  const message = failingWith("UNEXPECTED_ANSWER", () => messageIn(header, url))
  const { accountOf } = await import("./Account.ts")
  const signed = await signMessage(message, accountOf(key))
  const profile = settings.profile.value
  // The first sign-in of a wallet replaces the token of its first payment, unless the request carries it.
  const saved = await findToken(context.host, profile, baseUrl)
  const answer = await client.send({
    ...request,
    headers: {
      ...(saved === undefined ? {} : { Authorization: `Bearer ${saved.value}` }),
      "SIGN-IN-WITH-X": signed
    }
  })
  const { authentication } = client.dataOf(answer)
  const token = isRecord(authentication) ? authentication["accessToken"] : undefined
  if (typeof token !== "string")
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned no access token." })
  await saveToken(context.host, profile, baseUrl, token)
  return { profile, baseUrl, address: key.address }
}
