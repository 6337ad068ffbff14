import { Context, Effect, Layer } from "effect"
import { Base64Url } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Extensions } from "./PaymentRail.ts"
import type { PaymentTerms } from "./PaymentTerms.ts"
import { CHALLENGE_LIFETIME } from "./RequestBinding.ts"

/** A payment that ended, as its receipt states it. */
export interface ReceiptSubject {
  /** The path of the resource that the receipt is about, below the public URL. */
  readonly path: string
  readonly network: string
  readonly payer: string
  /** The transaction that paid. */
  readonly transaction: string
  /** The transaction that refunded the payment; null if the service was delivered. */
  readonly refundTransaction: string | null
  readonly issuedAt: Timestamp.Timestamp
}

/** The keys of the service as a DID document (https://www.w3.org/TR/did-1.0/). */
export interface DidDocument {
  readonly "@context": ReadonlyArray<string>
  readonly id: string
  readonly verificationMethod: ReadonlyArray<{
    readonly id: string
    readonly type: "JsonWebKey"
    readonly controller: string
    readonly publicKeyJwk: { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string }
  }>
  readonly assertionMethod: ReadonlyArray<string>
}

/**
 * Signs the offers of challenges and the receipts of payments, by the x402 extension `offer-receipt`
 * (https://github.com/coinbase/x402, specs/extensions/extension-offer-and-receipt.md, version 0.6) as JWS with Ed25519.
 * Anyone verifies them with the keys in the service's DID document, without asking the service about the payment.
 */
export class OfferReceipts extends Context.Service<
  OfferReceipts,
  {
    /**
     * Returns the extension with offers for the first terms; see `offersMax`. Offers are signed once for a resource, its
     * terms and the minute of `issuedAt`, and stay valid for as long as challenges of that minute.
     */
    readonly offers: (challenge: {
      readonly resourceUrl: string
      readonly accepts: ReadonlyArray<PaymentTerms>
      readonly issuedAt: Timestamp.Timestamp
    }) => Extensions
    /**
     * Returns the extension with the receipt. That of a refund has the refund's transaction, and the payment's as
     * `refundOf`.
     */
    readonly receipt: (subject: ReceiptSubject) => Extensions
    /** The keys of all servers of the deployment, for the DID that receipts name. */
    readonly didDocument: DidDocument
  }
>()("@agentos/core/payment/OfferReceipts") {
  /** `publicUrl` is the base URL for clients, without a trailing slash. It determines the DID. */
  static readonly layer = (publicUrl: string) =>
    Layer.effect(
      OfferReceipts,
      Effect.map(Keyring, (keyring) => make(keyring, publicUrl))
    )
}

/**
 * Returns the number of offers in a challenge. Its header must stay below 8 KiB, one offer takes about 600 bytes, and the
 * terms of a network about 490.
 */
const offersMax = (accepts: ReadonlyArray<PaymentTerms>): number => (accepts.length > 3 ? 1 : 2)

/** Offers kept for the current minute: more than a deployment has paid services and accepted tokens. */
const OFFERS_KEPT_MAX = 1_000

const VERSION = 1

const OFFER_SCHEMA = {
  type: "object",
  properties: { offers: { type: "array" } },
  required: ["offers"]
}

const RECEIPT_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { receipt: { type: "object" } },
  required: ["receipt"]
}

/** Returns the did:web of a URL (https://w3c-ccg.github.io/did-method-web/): its host, then its path. */
export const didOf = (publicUrl: string): string => {
  const { host, pathname } = new URL(publicUrl)
  const segments = pathname.split("/").filter((segment) => segment !== "")
  return ["did:web", encodeURIComponent(host), ...segments].join(":")
}

const make = (keyring: Keyring["Service"], publicUrl: string): OfferReceipts["Service"] => {
  const did = didOf(publicUrl)
  const methodId = (keyId: number) => `${did}#key-${keyId}`
  const header = (keyId: number) => Base64Url.encode(JSON.stringify({ alg: "EdDSA", kid: methodId(keyId) }))

  /**
   * Returns the compact JWS (RFC 7515) over a payload. The extension requires the canonical JSON of RFC 8785, which is
   * that of `JSON.stringify` if the keys are in alphabetical order and all values are strings or safe integers.
   */
  const sign = (payload: Readonly<Record<string, string | number | undefined>>): string => {
    const input = `${header(keyring.activeKeyId)}.${Base64Url.encode(JSON.stringify(payload))}`
    return `${input}.${Base64Url.encode(keyring.sign(Bytes.fromText(input)).bytes)}`
  }

  const signed = new Map<string, string>()
  let signedMinute = 0

  const offer = (resourceUrl: string, terms: PaymentTerms, minute: number): string => {
    if (minute !== signedMinute || signed.size >= OFFERS_KEPT_MAX) signed.clear()
    signedMinute = minute
    const key = JSON.stringify([resourceUrl, terms.network, terms.asset, terms.amount.toString()])
    const known = signed.get(key)
    if (known !== undefined) return known
    const { amount, asset, network, payTo, scheme } = terms
    const validUntil = ((minute + 1) * Timestamp.MINUTE + CHALLENGE_LIFETIME) / Timestamp.SECOND
    const signature = sign({
      amount: amount.toString(),
      asset,
      network,
      payTo,
      resourceUrl,
      scheme,
      validUntil,
      version: VERSION
    })
    signed.set(key, signature)
    return signature
  }

  return OfferReceipts.of({
    offers: ({ accepts, issuedAt, resourceUrl }) => {
      const minute = Math.floor(issuedAt / Timestamp.MINUTE)
      const offers = accepts.slice(0, offersMax(accepts)).map((terms, acceptIndex) => ({
        format: "jws",
        acceptIndex,
        signature: offer(resourceUrl, terms, minute)
      }))
      return { "offer-receipt": { info: { offers }, schema: OFFER_SCHEMA } }
    },
    receipt: ({ issuedAt, network, path, payer, refundTransaction, transaction }) => {
      const signature = sign({
        issuedAt: Math.floor(issuedAt / Timestamp.SECOND),
        network,
        payer,
        refundOf: refundTransaction === null ? undefined : transaction,
        resourceUrl: `${publicUrl}${path}`,
        transaction: refundTransaction ?? transaction,
        version: VERSION
      })
      return { "offer-receipt": { info: { receipt: { format: "jws", signature } }, schema: RECEIPT_SCHEMA } }
    },
    didDocument: {
      "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
      id: did,
      verificationMethod: keyring.verificationKeys.map(({ keyId, publicKey }) => ({
        id: methodId(keyId),
        type: "JsonWebKey",
        controller: did,
        publicKeyJwk: { kty: "OKP", crv: "Ed25519", x: Base64Url.encode(publicKey) }
      })),
      assertionMethod: keyring.verificationKeys.map(({ keyId }) => methodId(keyId))
    }
  })
}
