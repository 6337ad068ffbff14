import { Schema } from "effect"
import { between, HeaderValue, HttpUrl } from "../ConfigurationField.ts"

/**
 * A facilitator that is reached by the standard HTTP interface (x402 version 2, section 7: /verify, /settle, /supported).
 * The kind that is meant when none is named.
 */
export const HttpFacilitatorConfig = Schema.Struct({
  kind: Schema.optionalKey(Schema.Literal("http")),
  /** Where it is, without the name of a call. */
  url: HttpUrl,
  /** Headers of every call, for a facilitator that wants to know who calls. */
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.RedactedFromValue(HeaderValue))),
  /** How long a verification, or the question what is supported, may take; 10,000 when left out. */
  verifyTimeoutMillis: Schema.optionalKey(between(1, 120_000)),
  /**
   * How long a settlement may take before its outcome counts as unknown; 30,000 when left out. It should be more
   * than the facilitator itself waits for a receipt: to give up earlier makes outcomes unknown that need not be.
   */
  settleTimeoutMillis: Schema.optionalKey(between(1, 600_000))
})
export type HttpFacilitatorConfig = typeof HttpFacilitatorConfig.Type

/** Who submits authorizations to the chain for us. */
export const FacilitatorConfig = HttpFacilitatorConfig
export type FacilitatorConfig = typeof FacilitatorConfig.Type
