import { encodeJson, hexOf, utf8 } from "../Encoding.ts"
import type { WalletAccount } from "./Account.ts"
import type { Challenge, ChallengeOption } from "./Challenge.ts"
import { signPermit } from "./Permit.ts"
import { authorizeByPermit2 } from "./Permit2.ts"
import { isLoopback } from "../Options.ts"
import { type Authorization, type AuthorizedPayment, fieldsOf, tokenDomainOf } from "./Authorization.ts"

/** TransferWithAuthorization of EIP-3009. */
const TYPES = {
  TransferWithAuthorization: fieldsOf(
    "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce"
  )
}

/** The token itself executes the authorization (`assetTransferMethod` `eip3009`). */
const authorizeByEip3009 = (transfer: Authorization): AuthorizedPayment => {
  const { nonce, payTo, payer, validBefore, value } = transfer
  // The clock of the chain may be behind that of this machine.
  const authorization = {
    from: payer,
    to: payTo,
    value: String(value),
    validAfter: "0",
    validBefore: String(validBefore),
    nonce
  }
  return {
    typedData: {
      domain: tokenDomainOf(transfer),
      types: TYPES,
      primaryType: "TransferWithAuthorization",
      message: { ...authorization, value, validAfter: 0n, validBefore: BigInt(validBefore) }
    },
    payload: { authorization }
  }
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
const nonceFor = async (binding: unknown, baseUrl: string): Promise<`0x${string}`> => {
  const hash =
    typeof binding === "string"
      ? new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(`${originOf(baseUrl)}\n${binding}`)))
      : // oxlint-disable-next-line no-restricted-properties -- a nonce is random on every platform
        crypto.getRandomValues(new Uint8Array(HASH_BYTES))
  return `0x${NONCE_TAG}${hexOf(hash.subarray(0, HASH_BYTES))}`
}

export interface SignedPayment {
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
  /** Unix seconds. */
  readonly validBefore: number
}

const lowerCase = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`

/**
 * Signs one option of a challenge of the server at `baseUrl`: scheme `exact` of x402 version 2, by the transfer method that it
 * asks for, and the permit for it. `now` is in milliseconds.
 */
export const signPayment = async (
  wallet: WalletAccount,
  challenge: Challenge,
  option: ChallengeOption,
  baseUrl: string,
  now: number
): Promise<SignedPayment> => {
  const { allowanceBy, amount, asset, extra, maxTimeoutSeconds, network, payTo, permitNonce, raw } = option
  const validBefore = Math.floor(now / 1_000) + maxTimeoutSeconds
  const authorize = allowanceBy === "none" ? authorizeByEip3009 : authorizeByPermit2
  const authorization = {
    payer: wallet.address,
    payTo: lowerCase(payTo),
    asset: lowerCase(asset),
    chainId: Number(network.replace("eip155:", "")),
    value: amount,
    nonce: await nonceFor(extra["binding"], baseUrl),
    validBefore,
    extra
  }
  const { resource } = challenge
  const extensions =
    permitNonce === undefined
      ? challenge.extensions
      : await signPermit(wallet, challenge.extensions, authorization, permitNonce)
  const { payload, typedData } = authorize(authorization)
  const signature = await wallet.signTypedData(typedData)
  const header = encodeJson({
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted: raw,
    payload: { signature, ...payload },
    ...(extensions === undefined ? {} : { extensions })
  })
  return { header, validBefore }
}
