import { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { PROVIDER } from "../PaymentNetwork.ts"
import type { FacilitatorRequest } from "./Facilitator.ts"

/** A call of a facilitator over HTTP. */
export interface FacilitatorCall {
  /** As it stands in errors, without its address: `/settle`. */
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text that is posted; a question without one is a GET. */
  readonly body: string | null
  readonly timeoutMillis: number
}

/** An answer with any status, its body read to the end. */
export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** Largest answer that is read. A facilitator of many networks says what it supports in some 20 KB. */
const ANSWER_BYTES_MAX = 256 * 1_024

/** The body of a settlement, with further members where an interface has them. */
export const bodyOf = ({ payload, requirements }: FacilitatorRequest, more = ""): string =>
  `{"x402Version":2,"paymentPayload":${payload},"paymentRequirements":${requirements}${more}}`

export const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

/** A facilitator that could not be asked, or that gave no answer. `what` goes on from "The payment facilitator". */
export const trouble = (reason: ProviderError["reason"], what: string, cause?: unknown): ProviderError =>
  new ProviderError({
    provider: PROVIDER,
    reason,
    message: `The payment facilitator ${what}.`,
    ...(cause === undefined ? {} : { cause })
  })

/** What a status without an answer means, where nothing happened in any case. */
export const reasonOf = (status: number): ProviderError["reason"] => {
  if ([401, 403, 404, 405].includes(status)) return "Misconfigured"
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429 ? "Rejected" : "Temporary"
}

/**
 * One request, and its answer read to the end. No answer in time is `Temporary`. Redirects are refused: followed,
 * they would submit a payment to whoever the answer names, or turn into a question that settles nothing.
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
    catch: (cause) => trouble("Temporary", `could not be reached for ${call.name}`, cause)
  }).pipe(
    Effect.timeoutOrElse({
      duration: call.timeoutMillis,
      orElse: () => Effect.fail(trouble("Temporary", `did not answer ${call.name} within ${call.timeoutMillis} ms`))
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
