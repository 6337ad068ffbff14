import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import type { PaymentPayload } from "@x402/core/types"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { isRecord } from "../file/JsonValue.ts"
import type { PrivateKey } from "../wallet/PrivateKey.ts"
import { declined, type Terms } from "./Terms.ts"

/*
 * The heavy part of a payment, loaded when something is signed and never before.
 */

/**
 * Signs the terms, and gives the PAYMENT-SIGNATURE header. What was signed is read again and held against what was
 * agreed to: any difference throws PAYMENT_DECLINED, and the signature is forgotten.
 */
export const signTerms = async (terms: Terms, key: PrivateKey): Promise<string> => {
  const { index, option, quote } = terms
  const challenge = decodePaymentRequiredHeader(quote.challenge)
  const accepted = challenge.accepts[index]
  if (accepted === undefined) throw declined("The challenge does not hold what was agreed to.")
  const bound = bindTo(accepted.extra, privateKeyToAccount(key.revealHex()))
  const client = new x402Client(() => accepted)
    .register(accepted.network, new ExactEvmScheme(bound.signer))
    .setSpendControls({
      maxAmountPerPayment: false,
      allowedAssets: [{ network: accepted.network, asset: option.asset, maxAmountPerPayment: String(option.baseUnits) }]
    })
  const payment = bound.complete(await client.createPaymentPayload({ ...challenge, accepts: [accepted] }))
  const { authorization } = payment.payload
  const isAgreed =
    payment.x402Version === 2 &&
    isDeepStrictEqual(payment.accepted, accepted) &&
    accepted.amount === String(option.baseUnits) &&
    accepted.asset === option.asset &&
    accepted.network === option.network &&
    accepted.payTo === option.payTo &&
    isRecord(authorization) &&
    authorization["value"] === String(option.baseUnits) &&
    sameAddress(authorization["to"], option.payTo) &&
    sameAddress(authorization["from"], key.address)
  if (!isAgreed) throw declined("What would be signed is not what was agreed to.")
  return encodePaymentSignatureHeader(payment)
}

/** ASCII `agentos1`: how a nonce begins that is bound to a challenge. */
const NONCE_TAG = "0x6167656e746f7331"

/**
 * The nonce that binds a payment to the challenge with this `extra`, so that nobody who intercepts it can present it
 * for another request: the tag, then 24 bytes of SHA-256 over the ASCII text of `binding`. Undefined where the
 * challenge does not offer it.
 */
const boundNonceOf = ({ binding, nonceTag }: Readonly<Record<string, unknown>>): Hex | undefined =>
  nonceTag === NONCE_TAG && typeof binding === "string"
    ? `0x${NONCE_TAG.slice(2)}${createHash("sha256").update(binding, "ascii").digest("hex").slice(0, 48)}`
    : undefined

/** The account with the bound nonce in what it signs, and the same nonce in the payment that was made with it. */
const bindTo = (extra: Readonly<Record<string, unknown>>, account: ClientEvmSigner) => {
  const nonce = boundNonceOf(extra)
  const signer: ClientEvmSigner =
    nonce === undefined
      ? account
      : {
          address: account.address,
          signTypedData: (typed) => account.signTypedData({ ...typed, message: { ...typed.message, nonce } })
        }
  const complete = (payment: PaymentPayload): PaymentPayload => {
    const { authorization } = payment.payload
    return nonce === undefined || !isRecord(authorization)
      ? payment
      : { ...payment, payload: { ...payment.payload, authorization: { ...authorization, nonce } } }
  }
  return { signer, complete }
}

const sameAddress = (value: unknown, address: string): boolean =>
  typeof value === "string" && value.toLowerCase() === address.toLowerCase()
