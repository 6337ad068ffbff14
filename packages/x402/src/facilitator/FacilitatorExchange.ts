import { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { exchangeHttp, ExchangeTimeout, type HttpAnswer } from "../HttpExchange.ts"
import { PROVIDER } from "../network/PaymentNetwork.ts"
import type { FacilitatorRequest } from "./Facilitator.ts"

/** A request to a facilitator over HTTP. */
export interface FacilitatorCall {
  /** The name in error messages, without the URL: `/settle`. */
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text of a POST; null for a GET. */
  readonly body: string | null
  readonly timeoutMillis: number
}

/** Size limit of a response. A facilitator with many networks lists them in about 20 KB. */
const ANSWER_BYTES_MAX = 256 * 1_024

/** Returns the body of a settlement, with additional members if the interface has them. */
export const bodyOf = ({ payload, requirements }: FacilitatorRequest, more = ""): string =>
  `{"x402Version":2,"paymentPayload":${payload},"paymentRequirements":${requirements}${more}}`

/**
 * An error for a facilitator that could not be reached, or whose answer is no result. `what` continues "The
 * payment facilitator".
 */
export const facilitatorError = (reason: ProviderError["reason"], what: string, cause?: unknown): ProviderError =>
  new ProviderError({
    provider: PROVIDER,
    reason,
    message: `The payment facilitator ${what}.`,
    ...(cause === undefined ? {} : { cause })
  })

/** Classifies a status without a usable body, for requests that have no effect. */
export const reasonOf = (status: number): ProviderError["reason"] => {
  if ([401, 403, 404, 405].includes(status)) return "Misconfigured"
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429 ? "Rejected" : "Temporary"
}

/**
 * Sends one request and reads the whole response. Fails with `Temporary` on a timeout or a redirect.
 */
export const exchange = ({ name, url, ...call }: FacilitatorCall): Effect.Effect<HttpAnswer, ProviderError> =>
  Effect.tryPromise({
    try: (signal) => exchangeHttp({ url, answerBytesMax: ANSWER_BYTES_MAX })({ ...call, signal }),
    catch: (cause) =>
      cause instanceof ExchangeTimeout
        ? facilitatorError("Temporary", `did not answer ${name} within ${call.timeoutMillis} ms`)
        : facilitatorError("Temporary", `could not be reached for ${name}`, cause)
  })
