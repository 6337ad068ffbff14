import { Schema } from "effect"
import { between, HeaderValue, HttpUrl } from "../ConfigurationField.ts"

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

/** Configuration of a facilitator that is reached over HTTP. */
export const FacilitatorConfig = Schema.Union([HttpFacilitatorConfig, OkxFacilitatorConfig])
export type FacilitatorConfig = typeof FacilitatorConfig.Type
