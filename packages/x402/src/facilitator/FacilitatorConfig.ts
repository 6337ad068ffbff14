import { Schema } from "effect"
import { between, HeaderValue, HttpUrl, PrivateKey } from "../ConfigurationField.ts"

/**
 * How long the question what is supported, or what became of a settlement, may take; 10,000 when left out. The name is
 * from when facilitators were asked to verify, too.
 */
const verifyTimeoutMillis = Schema.optionalKey(between(1, 120_000))
/**
 * How long a settlement may take before its outcome counts as unknown; 30,000 when left out. It should be more
 * than the facilitator itself waits for a receipt: to give up earlier makes outcomes unknown that need not be.
 */
const settleTimeoutMillis = Schema.optionalKey(between(1, 600_000))

/**
 * A facilitator that is reached by the standard HTTP interface (x402 version 2, section 7: /settle and /supported; /verify is not asked).
 * The kind that is meant when none is named.
 */
export const HttpFacilitatorConfig = Schema.Struct({
  kind: Schema.optionalKey(Schema.Literal("http")),
  /** Where it is, without the name of a call. */
  url: HttpUrl,
  /** Headers of every call, for a facilitator that wants to know who calls. */
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.RedactedFromValue(HeaderValue))),
  verifyTimeoutMillis,
  settleTimeoutMillis
})
export type HttpFacilitatorConfig = typeof HttpFacilitatorConfig.Type

/** OKX's facilitator, for X Layer; see `FacilitatorOkx`. Key, secret and passphrase come from its developer portal. */
export const OkxFacilitatorConfig = Schema.Struct({
  kind: Schema.Literal("okx"),
  /** Where it is, without a path; https://web3.okx.com when left out. */
  url: Schema.optionalKey(HttpUrl),
  apiKey: Schema.RedactedFromValue(HeaderValue),
  secretKey: Schema.RedactedFromValue(Schema.NonEmptyString),
  passphrase: Schema.RedactedFromValue(HeaderValue),
  verifyTimeoutMillis,
  settleTimeoutMillis
})
export type OkxFacilitatorConfig = typeof OkxFacilitatorConfig.Type

/**
 * No third party: the server submits settlements itself, from a wallet that pays for their gas; see `FacilitatorSelf`.
 * Every server of a deployment may have the same wallet. Nothing else may: a transaction that something else sends
 * from it takes the place of a settlement.
 */
export const SelfFacilitatorConfig = Schema.Struct({
  kind: Schema.Literal("self"),
  /** Of the wallet that pays for gas. It holds the chain's own coin and needs none of the token. */
  privateKey: PrivateKey,
  /**
   * The most that a unit of gas may ever cost, in gwei; 100 when left out. A settlement takes some 100,000 units.
   * Where the chain asks for more, nothing is submitted, and what was submitted waits.
   */
  maxFeePerGasGwei: Schema.optionalKey(
    Schema.Finite.check(Schema.isBetween({ minimum: 0.000_001, maximum: 1_000_000 }))
  ),
  /** After how long without a block that has it a transaction is signed again at a higher price; 15,000 when left out. */
  repriceAfterMillis: Schema.optionalKey(between(1_000, 3_600_000)),
  /** How long a settlement waits to be mined before its outcome counts as unknown; 20,000 when left out. */
  settleTimeoutMillis: Schema.optionalKey(between(1, 600_000))
})
export type SelfFacilitatorConfig = typeof SelfFacilitatorConfig.Type

/** Who submits authorizations to the chain for us. */
export const FacilitatorConfig = Schema.Union([HttpFacilitatorConfig, OkxFacilitatorConfig, SelfFacilitatorConfig])
export type FacilitatorConfig = typeof FacilitatorConfig.Type
