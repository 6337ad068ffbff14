import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import type { PaymentPayload } from "@x402/core/types"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import type { WalletAccount } from "@agentos/client"
import { isRecord } from "../file/Json.ts"
import type { PrivateKey } from "../wallet/PrivateKey.ts"
import { declined, type Terms } from "./Quote.ts"

/*
 * The only module that loads viem and x402, and the last one that a payment loads.
 */

/**
 * Signs the terms and returns the PAYMENT-SIGNATURE header. The signed payment is decoded again and compared with the
 * terms; any difference throws PAYMENT_DECLINED, and the signature is discarded.
 */
export const signTerms = async (terms: Terms, key: PrivateKey): Promise<string> => {
  const { index, option, quote } = terms
  const challenge = decodePaymentRequiredHeader(quote.challenge)
  const accepted = challenge.accepts[index]
  if (accepted === undefined) throw declined("The challenge does not contain the confirmed option.")
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
    isSameAddress(authorization["to"], option.payTo) &&
    isSameAddress(authorization["from"], key.address)
  if (!isAgreed) throw declined("The payment to sign differs from the confirmed terms.")
  return encodePaymentSignatureHeader(payment)
}

/** Returns the account of a key, for a client that signs its own payments. */
export const accountOf = (key: PrivateKey): WalletAccount => {
  const { address, signMessage: sign, signTypedData } = privateKeyToAccount(key.revealHex())
  return {
    address,
    signMessage: (message) => sign(message),
    signTypedData: (typedData) => signTypedData(typedData as Parameters<typeof signTypedData>[0])
  }
}

/** The fields of a sign-in message (EIP-4361), as the extension sign-in-with-x of x402 names them. */
export interface SignInMessage {
  readonly domain: string
  readonly uri: string
  readonly version: "1"
  /** CAIP-2 id of an EVM chain. */
  readonly chainId: string
  readonly nonce: string
  /** ISO 8601 in UTC with milliseconds. */
  readonly issuedAt: string
  readonly expirationTime: string
  readonly statement?: string
}

/** Signs a sign-in message and returns the SIGN-IN-WITH-X header. */
export const signMessage = async (message: SignInMessage, key: PrivateKey): Promise<string> => {
  const account = privateKeyToAccount(key.revealHex())
  const { address } = account
  const { chainId, expirationTime, issuedAt } = message
  const text = createSiweMessage({
    ...message,
    address,
    chainId: Number(chainId.replace("eip155:", "")),
    issuedAt: new Date(issuedAt),
    expirationTime: new Date(expirationTime)
  })
  const signature = await account.signMessage({ message: text })
  return Buffer.from(JSON.stringify({ ...message, address, type: "eip191", signature })).toString("base64")
}

/** ASCII `agentos1`: the prefix of a nonce that is bound to a challenge. */
const NONCE_TAG = "0x6167656e746f7331"

/**
 * Returns the nonce that binds a payment to the challenge with this `extra`, so that an intercepted payment cannot be
 * used for another request: the tag, then 24 bytes of SHA-256 over the ASCII text of `binding`. Undefined if the
 * challenge does not support it.
 */
const boundNonceOf = ({ binding, nonceTag }: Readonly<Record<string, unknown>>): Hex | undefined =>
  nonceTag === NONCE_TAG && typeof binding === "string"
    ? `0x${NONCE_TAG.slice(2)}${createHash("sha256").update(binding, "ascii").digest("hex").slice(0, 48)}`
    : undefined

/** Returns a signer that signs with the bound nonce, and a function that puts the same nonce into the payment. */
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

const isSameAddress = (value: unknown, address: string): boolean =>
  typeof value === "string" && value.toLowerCase() === address.toLowerCase()
