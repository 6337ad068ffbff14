import type { ProviderError, SettleAnswer } from "@agentos/core"
import { type Effect, Schema, type Scope } from "effect"
import type { GasSponsoring, OfferedNetwork } from "../network/PaymentNetwork.ts"
import { between, HeaderValue, HttpUrl } from "../network/ConfigurationField.ts"

/**
 * The payer's own payload, and the requirements that we made for it (x402 version 2, section 7.2). Both are
 * JSON text.
 */
export interface FacilitatorRequest {
  readonly payload: string
  readonly requirements: string
}

export interface FacilitatorSupport {
  readonly exact: boolean
  /** The allowances that it submits with payments. */
  readonly gasSponsoring: ReadonlyArray<GasSponsoring>
}

/**
 * Submits authorizations to a chain for us. It never retries by itself: a repeated settlement is the caller's
 * decision. Its answers decide nothing, only the chain does. It is not asked to verify, because it would then
 * see the authorization before the operation is claimed.
 */
export interface Facilitator {
  /** Fails if it is already known that no payment can be submitted now. Reveals no payment. */
  readonly ready: Effect.Effect<void, ProviderError>
  /**
   * Returns whether calls of a price (in base units of prices) are offered now. A facilitator without it does not pay for gas
   * from the operator's wallet, and all are.
   */
  readonly sells?: (price: bigint) => boolean
  /**
   * Submits the payment. `Accepted` and `Refused` require an explicit answer of the facilitator; a timeout, a
   * broken connection and any ambiguous answer are `Unknown`.
   */
  readonly settle: (request: FacilitatorRequest) => Effect.Effect<SettleAnswer>
  /** Returns what of scheme `exact` of version 2 the facilitator supports on a network. */
  readonly supports: (network: string) => Effect.Effect<FacilitatorSupport, ProviderError>
}

/** Makes the facilitator of a network. Its background work ends with the scope. */
export type FacilitatorFactory<R = never> = (
  offered: OfferedNetwork
) => Effect.Effect<Facilitator, never, R | Scope.Scope>

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
