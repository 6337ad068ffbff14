import { isDeepStrictEqual } from "node:util"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
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
  const client = new x402Client(() => accepted)
    .register(accepted.network, new ExactEvmScheme(privateKeyToAccount(key.revealHex())))
    .setSpendControls({
      maxAmountPerPayment: false,
      allowedAssets: [{ network: accepted.network, asset: option.asset, maxAmountPerPayment: String(option.baseUnits) }]
    })
  const payment = await client.createPaymentPayload({ ...challenge, accepts: [accepted] })
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

const sameAddress = (value: unknown, address: string): boolean =>
  typeof value === "string" && value.toLowerCase() === address.toLowerCase()
