import { ProviderError } from "@agentos/core"
import { Option, Schema } from "effect"

/** The source of this adapter's events and the provider of its errors. */
export const PROVIDER = "twilio"

/** The body of an error. Its `message` may contain numbers and names of the account, so only the code is kept. */
const Refusal = Schema.fromJsonString(Schema.Struct({ code: Schema.Int }))
const decodeRefusal = Schema.decodeUnknownOption(Refusal)

/**
 * Returns Twilio's code (https://www.twilio.com/docs/api/errors) from the body of an error; undefined if it has
 * none.
 */
export const codeOf = (body: string): number | undefined =>
  Option.getOrUndefined(Option.map(decodeRefusal(body), ({ code }) => code))

/** Codes that require action by the operator, whatever the status. */
const OPERATOR_CODES: ReadonlySet<number> = new Set([
  10_001, // the account is not active
  10_002, // trial accounts are not allowed to do this
  20_003, // wrong credentials, or no permission
  20_005, // the account is not active
  20_006, // access denied
  20_008, // credentials for tests
  21_205, // Twilio cannot call a URL of this service
  21_402, // the same, for a number's voice URL
  21_404, // a trial account cannot have another number
  21_502, // the same, for a number's status URL
  21_609 // the same, for a call's status URL
])

const LATER: ReadonlySet<number> = new Set([408, 425, 429])
/** The requested path is part of the API, so these statuses mean that the base URL is wrong. */
const WRONG_PLACE: ReadonlySet<number> = new Set([401, 403, 404, 405, 415])

/**
 * Returns the meaning of an error by its status and Twilio's code. After an internal error, a change may have
 * been made.
 */
export const reasonOf = (isChange: boolean, status: number, code: number | undefined): ProviderError["reason"] => {
  if (code !== undefined && OPERATOR_CODES.has(code)) return "Misconfigured"
  if (WRONG_PLACE.has(status)) return "Misconfigured"
  if (LATER.has(status)) return "Temporary"
  if (status >= 400 && status < 500) return "Rejected"
  return isChange ? "Unknown" : "Temporary"
}

/** Makes an error; `what` continues "The carrier". It contains no secret, and no text from Twilio. */
export const failure = (reason: ProviderError["reason"], what: string, cause?: unknown): ProviderError =>
  new ProviderError({
    provider: PROVIDER,
    reason,
    message: `The carrier ${what}.`,
    ...(cause === undefined ? {} : { cause })
  })

/** Error codes that prove that nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID"
])

/** Returns whether a failed request was never sent. */
export const wasUnsent = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && UNSENT.has(cause.code)
}
