import { Schema } from "effect"
import { ASSET, DECIMALS } from "../catalog/Usdt.ts"

/**
 * The terms of a payment: the payment requirements of x402 version 2, scheme `exact`
 * (https://github.com/x402-foundation/x402, specs/x402-specification-v2.md).
 */
export interface PaymentTerms {
  readonly scheme: "exact"
  /** CAIP-2 id of the chain, for example `eip155:196`. */
  readonly network: string
  /** Address of the token contract. */
  readonly asset: string
  /** Base units of the token. */
  readonly amount: bigint
  readonly payTo: string
  /** How long an authorization may be valid, counted from its creation. */
  readonly maxTimeoutSeconds: number
  /** The scheme's own fields (EIP-712 domain name and version), and our binding to the request. */
  readonly extra: Readonly<Record<string, string | number>>
}

/** Returns the symbol of the token: USDT, unless `extra` names another token that is accepted at par. */
export const symbolOf = ({ extra }: Pick<PaymentTerms, "extra">): string => {
  const { symbol } = extra
  return typeof symbol === "string" ? symbol : ASSET
}

/** Returns the decimals of the token: those of a price, unless `extra` has others. */
export const decimalsOf = ({ extra }: Pick<PaymentTerms, "extra">): number => Number(extra["decimals"] ?? DECIMALS)

/**
 * Our fields of `extra`, by which a challenge is bound to one request. The client echoes them but does not sign them, so the
 * server authenticates them.
 */
export interface ChallengeBinding {
  /**
   * 28 characters of base64url that no other challenge has: 12 random ones, then 16 of a MAC over all of the terms. The MAC
   * shows that this service offered the terms, whatever it offers now.
   */
  readonly challengeNonce: string
  /** In milliseconds since the Unix epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
  readonly keyId: number
  /** The MAC over the request, the terms and the other fields: 64 hexadecimal digits. */
  readonly binding: string
}

/** A signed authorization, decoded from a PAYMENT-SIGNATURE header. Nothing in it is trusted before verification. */
export interface PaymentProof {
  /** SHA-256 of the header's bytes, in hex. A retry must repeat it. */
  readonly digest: string
  readonly network: string
  readonly asset: string
  /** The wallet that signed, in lower case. */
  readonly payer: string
  readonly payTo: string
  readonly value: bigint
  /** The authorization's nonce: `0x` and 64 digits in lower case. */
  readonly nonce: string
  /** Unix seconds. */
  readonly validAfter: number
  readonly validBefore: number
  /** The terms that the client claims to have accepted, exactly as it echoed them. */
  readonly accepted: {
    readonly scheme: string
    readonly network: string
    readonly asset: string
    readonly amount: string
    readonly payTo: string
    readonly maxTimeoutSeconds: number
    readonly extra: Readonly<Record<string, unknown>>
  }
  /**
   * The client's identifier of this payment, which is the key of a request without Idempotency-Key. Absent if the client
   * sent none, and empty if the one that it sent is malformed.
   */
  readonly identifier?: string
  /** The decoded payload as JSON text; enough to submit the same authorization again. */
  readonly payload: string
}

/** Identifies an authorization permanently: the token contract accepts it once. Addresses and nonce in lower case. */
export interface ProofKey {
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly nonce: string
}

export const proofKey = (proof: ProofKey): ProofKey => ({
  network: proof.network,
  asset: proof.asset.toLowerCase(),
  payer: proof.payer.toLowerCase(),
  nonce: proof.nonce.toLowerCase()
})

/** An amount of money as decimal text, which loses no precision, and its asset. */
export const PriceRecord = Schema.Struct({
  amount: Schema.String.check(Schema.isPattern(/^\d+\.\d{2,6}$/u)).annotateKey({
    description: "The amount in the asset as decimal text, for example `0.25`."
  }),
  asset: Schema.Literal(ASSET).annotateKey({ description: "The asset of all prices." })
}).annotate({ identifier: "Price" })
export type PriceRecord = typeof PriceRecord.Type
