import { Schema } from "effect"
import { between, HeaderValue, HttpUrl, PrivateKey } from "../ConfigurationField.ts"

/**
 * Time limit for requests about supported networks or the status of a settlement; default 10,000. The name
 * dates from when facilitators were also asked to verify.
 */
const verifyTimeoutMillis = Schema.optionalKey(between(1, 120_000))
/**
 * Time limit for a settlement before its outcome counts as unknown; default 30,000. It should exceed the time
 * that the facilitator itself waits for a receipt: a lower limit makes outcomes unknown without need.
 */
const settleTimeoutMillis = Schema.optionalKey(between(1, 600_000))

/**
 * A facilitator with the standard HTTP interface (x402 version 2, section 7): /settle and /supported are
 * called, /verify is not. It is the default kind.
 */
export const HttpFacilitatorConfig = Schema.Struct({
  kind: Schema.optionalKey(Schema.Literal("http")),
  /** Base URL, without the name of a call. */
  url: HttpUrl,
  /** Headers of every request, for a facilitator that requires authentication. */
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.RedactedFromValue(HeaderValue))),
  verifyTimeoutMillis,
  settleTimeoutMillis
})
export type HttpFacilitatorConfig = typeof HttpFacilitatorConfig.Type

/** OKX's facilitator, for X Layer; see `FacilitatorOkx`. Key, secret and passphrase come from its developer portal. */
export const OkxFacilitatorConfig = Schema.Struct({
  kind: Schema.Literal("okx"),
  /** Base URL without a path; default https://web3.okx.com. */
  url: Schema.optionalKey(HttpUrl),
  apiKey: Schema.RedactedFromValue(HeaderValue),
  secretKey: Schema.RedactedFromValue(Schema.NonEmptyString),
  passphrase: Schema.RedactedFromValue(HeaderValue),
  verifyTimeoutMillis,
  settleTimeoutMillis
})
export type OkxFacilitatorConfig = typeof OkxFacilitatorConfig.Type

/**
 * No third party: the server submits settlements itself, from a wallet that pays for their gas; see
 * `FacilitatorSelf`. All servers of a deployment may share the wallet, but nothing else may use it: any other
 * transaction from it takes the place of a settlement.
 */
export const SelfFacilitatorConfig = Schema.Struct({
  kind: Schema.Literal("self"),
  /**
   * Private key of the wallet that pays for gas. The wallet holds the chain's native coin and needs none of the
   * token.
   */
  privateKey: PrivateKey,
  /**
   * Highest price of a unit of gas, in gwei; default 100. A settlement takes about 100,000 units. While the
   * chain requires more, nothing is submitted, and submitted transactions wait.
   */
  maxFeePerGasGwei: Schema.optionalKey(
    Schema.Finite.check(Schema.isBetween({ minimum: 0.000_001, maximum: 1_000_000 }))
  ),
  /** Time without being mined after which a transaction is signed again at a higher price; default 15,000. */
  repriceAfterMillis: Schema.optionalKey(between(1_000, 3_600_000)),
  /** Time that a settlement waits to be mined before its outcome counts as unknown; default 20,000. */
  settleTimeoutMillis: Schema.optionalKey(between(1, 600_000))
})
export type SelfFacilitatorConfig = typeof SelfFacilitatorConfig.Type

/** Configuration of the facilitator that submits authorizations to the chain. */
export const FacilitatorConfig = Schema.Union([HttpFacilitatorConfig, OkxFacilitatorConfig, SelfFacilitatorConfig])
export type FacilitatorConfig = typeof FacilitatorConfig.Type
