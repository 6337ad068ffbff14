import { Failure } from "@agentos/command-line"
import type { Context } from "../command/Command.ts"
import { saveToken } from "../config/Credentials.ts"
import { rejectFolderServer, requireBaseUrl, resolveSettings } from "../config/Settings.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import type { SignInMessage } from "../payment/Signing.ts"
import { requireWallet, type WalletFlags } from "../wallet/Wallet.ts"
import { ApiClient } from "./ApiClient.ts"
import { apiFailure } from "./ApiFailure.ts"
import { ROUTES } from "./Routes.ts"

/** Longer than any challenge. */
const CHALLENGE_LIMIT = 65_536

const wrong = (problem: string): Failure =>
  new Failure({
    code: "UNEXPECTED_ANSWER",
    message: `The sign-in message of the server is invalid: ${problem}. Nothing was signed.`
  })

/**
 * Returns the message of the extension sign-in-with-x in a PAYMENT-REQUIRED header. It must be for this URL, because the
 * signature of a message for another server would sign in there.
 */
const messageIn = (header: string, url: URL): SignInMessage => {
  const challenge = header.length > CHALLENGE_LIMIT ? undefined : parseJson(Buffer.from(header, "base64").toString())
  const extensions = isRecord(challenge) ? challenge["extensions"] : undefined
  const extension = isRecord(extensions) ? extensions["sign-in-with-x"] : undefined
  if (!isRecord(extension) || !isRecord(extension["info"])) throw wrong("sign-in-with-x is missing")
  const { domain, expirationTime, issuedAt, nonce, statement, uri, version } = extension["info"]
  const chains = Array.isArray(extension["supportedChains"]) ? extension["supportedChains"] : []
  const chain: unknown = chains.find((each) => isRecord(each) && each["type"] === "eip191")
  const chainId = isRecord(chain) ? chain["chainId"] : undefined
  if (typeof chainId !== "string" || !/^eip155:\d{1,15}$/.test(chainId)) throw wrong("it supports no EVM chain")
  if (domain !== url.host || uri !== url.href) throw wrong("it is not for this server")
  if (version !== "1" || typeof nonce !== "string") throw wrong("its version or nonce is not supported")
  if (!isMoment(issuedAt) || !isMoment(expirationTime)) throw wrong("a time is missing")
  return {
    domain,
    uri,
    version,
    chainId,
    nonce,
    issuedAt,
    expirationTime,
    ...(typeof statement === "string" ? { statement } : {})
  }
}

const isMoment = (value: unknown): value is string =>
  typeof value === "string" && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value

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
  // Without the saved token, which may be the one that was lost or revoked.
  const client = new ApiClient(context, baseUrl, undefined)
  const request = { method: ROUTES[operation].method, path: ROUTES[operation].path, repeatable: false }
  const challenge = await client.send(request)
  const header = challenge.headers.get("payment-required")
  if (challenge.status !== 402 || header === null) throw apiFailure(challenge, baseUrl)
  const message = messageIn(header, new URL(`${baseUrl}${request.path}`))
  const key = await wallet.open()
  const { signMessage } = await import("../payment/Signing.ts")
  const answer = await client.send({ ...request, headers: { "SIGN-IN-WITH-X": await signMessage(message, key) } })
  const data = client.dataOf(answer)
  const authentication = isRecord(data) ? data["authentication"] : undefined
  const token = isRecord(authentication) ? authentication["accessToken"] : undefined
  if (typeof token !== "string")
    throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned no access token." })
  const profile = settings.profile.value
  await saveToken(context.host, profile, baseUrl, token)
  return { profile, baseUrl, address: key.address }
}
