import { encodeJson, hexOf, utf8 } from "../Encoding.ts"
import { isLoopback } from "../Options.ts"
import type { WalletAccount } from "./Account.ts"
import type { Challenge, ChallengeOption } from "./Challenge.ts"

/** TransferWithAuthorization of EIP-3009. */
const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
}

/** ASCII `agentos2`: the prefix of a nonce that is bound to a server and a challenge. */
const NONCE_TAG = "6167656e746f7332"
/** Bytes of the hash after the tag. */
const HASH_BYTES = 24

/** Returns the origin of a URL. Every name of this machine is `localhost`. */
const originOf = (text: string): string => {
  const url = new URL(text)
  if (isLoopback(url.hostname)) url.hostname = "localhost"
  return url.origin
}

/**
 * Returns the nonce of a payment, bound to the server that this client connected to and to the challenge: the tag, then 24
 * bytes of SHA-256 over the origin, a line feed and `extra.binding`. So a server that relays the challenge of another one
 * gets a payment that the other one refuses, also if it removes the binding.
 */
const nonceFor = async ({ binding }: ChallengeOption["extra"], baseUrl: string): Promise<`0x${string}`> => {
  const hash =
    typeof binding === "string"
      ? new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(`${originOf(baseUrl)}\n${binding}`)))
      : // oxlint-disable-next-line no-restricted-properties -- a nonce is random on every platform
        crypto.getRandomValues(new Uint8Array(HASH_BYTES))
  return `0x${NONCE_TAG}${hexOf(hash.subarray(0, HASH_BYTES))}`
}

/** A signed payment. */
export interface SignedPayment {
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
  /** Unix seconds. */
  readonly validBefore: number
}

/**
 * Signs one option of a challenge of the server at `baseUrl`: scheme `exact` of x402 version 2, by EIP-3009. `now` is in
 * milliseconds.
 */
export const signPayment = async (
  wallet: WalletAccount,
  challenge: Challenge,
  option: ChallengeOption,
  baseUrl: string,
  now: number
): Promise<SignedPayment> => {
  const validBefore = Math.floor(now / 1_000) + option.maxTimeoutSeconds
  const nonce = await nonceFor(option.extra, baseUrl)
  const authorization = {
    from: wallet.address,
    to: option.payTo.toLowerCase(),
    value: String(option.amount),
    // The clock of the chain may be behind that of this machine.
    validAfter: "0",
    validBefore: String(validBefore),
    nonce
  }
  const signature = await wallet.signTypedData({
    domain: {
      name: String(option.extra["name"]),
      version: String(option.extra["version"]),
      chainId: Number(option.network.replace("eip155:", "")),
      verifyingContract: `0x${option.asset.slice(2).toLowerCase()}`
    },
    types: TYPES,
    primaryType: "TransferWithAuthorization",
    message: {
      ...authorization,
      value: option.amount,
      validAfter: 0n,
      validBefore: BigInt(validBefore)
    }
  })
  const { extensions, resource } = challenge
  const header = encodeJson({
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted: option.raw,
    payload: { signature, authorization },
    ...(extensions === undefined ? {} : { extensions })
  })
  return { header, validBefore }
}
