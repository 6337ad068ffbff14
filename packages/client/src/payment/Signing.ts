import { encodeJson } from "../Encoding.ts"
import type { WalletAccount } from "./Account.ts"
import type { Challenge, ChallengeOption } from "./Challenge.ts"
import { authorizeByEip3009 } from "./Eip3009.ts"
import { nonceFor } from "./Nonce.ts"
import { signPermit } from "./Permit.ts"
import { authorizeByPermit2 } from "./Permit2.ts"

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
