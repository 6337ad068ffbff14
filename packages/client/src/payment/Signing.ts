import { encodeJson } from "../Encoding.ts"
import type { WalletAccount } from "./Account.ts"
import type { Challenge, ChallengeOption } from "./Challenge.ts"
import { authorizeByEip3009 } from "./Eip3009.ts"
import { nonceFor } from "./Nonce.ts"
import { authorizeByPermit2 } from "./Permit2.ts"

/** A signed payment. */
export interface SignedPayment {
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
  /** Unix seconds. */
  readonly validBefore: number
}

const lowerCase = (address: string): `0x${string}` => `0x${address.slice(2).toLowerCase()}`

/**
 * Signs one option of a challenge of the server at `baseUrl`: scheme `exact` of x402 version 2, by the transfer method that it
 * asks for. `now` is in milliseconds.
 */
export const signPayment = async (
  wallet: WalletAccount,
  challenge: Challenge,
  option: ChallengeOption,
  baseUrl: string,
  now: number
): Promise<SignedPayment> => {
  const { amount, asset, extra, maxTimeoutSeconds, method, network, payTo, raw } = option
  const validBefore = Math.floor(now / 1_000) + maxTimeoutSeconds
  const authorize = method === "permit2" ? authorizeByPermit2 : authorizeByEip3009
  const { payload, typedData } = authorize({
    payer: wallet.address,
    payTo: lowerCase(payTo),
    asset: lowerCase(asset),
    chainId: Number(network.replace("eip155:", "")),
    value: amount,
    nonce: await nonceFor(extra["binding"], baseUrl),
    validBefore,
    extra
  })
  const signature = await wallet.signTypedData(typedData)
  const { extensions, resource } = challenge
  const header = encodeJson({
    x402Version: 2,
    ...(resource === undefined ? {} : { resource }),
    accepted: raw,
    payload: { signature, ...payload },
    ...(extensions === undefined ? {} : { extensions })
  })
  return { header, validBefore }
}
