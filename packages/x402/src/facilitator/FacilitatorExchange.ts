import { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { PROVIDER } from "../PaymentNetwork.ts"
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

/** A response with any status, its body read completely. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** Size limit of a response. A facilitator with many networks lists them in about 20 KB. */
const ANSWER_BYTES_MAX = 256 * 1_024

/** Returns the body of a settlement, with additional members if the interface has them. */
export const bodyOf = ({ payload, requirements }: FacilitatorRequest, more = ""): string =>
  `{"x402Version":2,"paymentPayload":${payload},"paymentRequirements":${requirements}${more}}`

export const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

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
 * Sends one request and reads the whole response. Fails with `Temporary` on a timeout. Redirects are rejected:
 * following one would submit a payment to a server named in the response, or turn into a GET that settles
 * nothing.
 */
export const exchange = (call: FacilitatorCall): Effect.Effect<HttpAnswer, ProviderError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(call.url, {
        method: call.body === null ? "GET" : "POST",
        headers: {
          accept: "application/json",
          ...(call.body === null ? {} : { "content-type": "application/json" }),
          ...call.headers
        },
        body: call.body,
        redirect: "error",
        signal
      })
      return { status: response.status, body: await readBody(response) }
    },
    catch: (cause) => facilitatorError("Temporary", `could not be reached for ${call.name}`, cause)
  }).pipe(
    Effect.timeoutOrElse({
      duration: call.timeoutMillis,
      orElse: () =>
        Effect.fail(facilitatorError("Temporary", `did not answer ${call.name} within ${call.timeoutMillis} ms`))
    })
  )

const readBody = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let body = ""
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength
    if (length > ANSWER_BYTES_MAX) throw new Error(`an answer of more than ${ANSWER_BYTES_MAX} bytes`)
    body += decoder.decode(chunk, { stream: true })
  }
  return body + decoder.decode()
}
