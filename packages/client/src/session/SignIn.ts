import { AgentOsError } from "../AgentOsError.ts"
import { decodeJson, encodeJson, isRecord } from "../Encoding.ts"
import type { WalletAccount } from "../payment/Account.ts"

/** The fields of a sign-in message (EIP-4361), as x402's extension sign-in-with-x names them. */
export interface SignInMessage {
  readonly domain: string
  readonly uri: string
  readonly version: "1"
  readonly chainId: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expirationTime: string
  readonly statement: string
}

const wrong = (problem: string): AgentOsError =>
  new AgentOsError({
    code: "UNEXPECTED_ANSWER",
    message: `The sign-in message of the server is invalid: ${problem}. Nothing was signed.`
  })

const isMoment = (value: unknown): value is string =>
  typeof value === "string" && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value

/** A text of one line: a line break could forge another field. */
const isLine = (value: unknown): value is string => typeof value === "string" && !/[\r\n]/.test(value)

/**
 * Returns the message in a PAYMENT-REQUIRED header. It must be for this URL, because the signature of a message for
 * another server would sign in there.
 */
export const messageIn = (header: string, url: URL): SignInMessage => {
  const challenge = decodeJson(header)
  const extensions = isRecord(challenge) ? challenge["extensions"] : undefined
  const extension = isRecord(extensions) ? extensions["sign-in-with-x"] : undefined
  if (!isRecord(extension) || !isRecord(extension["info"])) throw wrong("sign-in-with-x is missing")
  const { domain, expirationTime, issuedAt, nonce, statement = "", uri, version } = extension["info"]
  const chains: ReadonlyArray<unknown> = Array.isArray(extension["supportedChains"]) ? extension["supportedChains"] : []
  const chain = chains.find((one) => isRecord(one) && one["type"] === "eip191")
  const chainId = isRecord(chain) ? chain["chainId"] : undefined
  if (typeof chainId !== "string" || !/^eip155:\d{1,15}$/.test(chainId)) throw wrong("it supports no EVM chain")
  if (domain !== url.host || uri !== url.href) throw wrong("it is not for this server")
  if (version !== "1" || !isLine(nonce) || !isLine(statement)) throw wrong("a field is not supported")
  if (!isMoment(issuedAt) || !isMoment(expirationTime)) throw wrong("a time is missing")
  return { domain: url.host, uri: url.href, version, chainId, nonce, issuedAt, expirationTime, statement }
}

/** Signs the text of EIP-4361 and returns the SIGN-IN-WITH-X header. */
export const signMessage = async (message: SignInMessage, wallet: WalletAccount): Promise<string> => {
  const text = [
    `${message.domain} wants you to sign in with your Ethereum account:`,
    wallet.address,
    "",
    message.statement,
    "",
    `URI: ${message.uri}`,
    `Version: ${message.version}`,
    `Chain ID: ${message.chainId.replace("eip155:", "")}`,
    `Nonce: ${message.nonce}`,
    `Issued At: ${message.issuedAt}`,
    `Expiration Time: ${message.expirationTime}`
  ].join("\n")
  const signature = await wallet.signMessage({ message: text })
  return encodeJson({ ...message, address: wallet.address, type: "eip191", signature })
}
