import { ProviderError } from "@agentos/core"
import { Option, Schema } from "effect"

/** The source of its events and the provider of its errors. */
export const PROVIDER = "twilio"

/** A refusal of Twilio's. Its `message` may hold numbers and names of the account: only the code is kept. */
const Refusal = Schema.fromJsonString(Schema.Struct({ code: Schema.Int }))
const decodeRefusal = Schema.decodeUnknownOption(Refusal)

/** Twilio's code (https://www.twilio.com/docs/api/errors) in the body of a refusal; undefined where it has none. */
export const codeOf = (body: string): number | undefined =>
  Option.getOrUndefined(Option.map(decodeRefusal(body), ({ code }) => code))

/** Codes by which it is the operator who must act, whatever the status. */
const OPERATOR_CODES: ReadonlySet<number> = new Set([
  10_001, // the account is not active
  10_002, // a trial account may not do this
  20_003, // wrong credentials, or no permission
  20_005, // the account is not active
  20_006, // access denied
  20_008, // credentials for tests
  21_205, // an address of ours that it can't call
  21_402, // the same, of a number's voice
  21_404, // a trial account has no room for another number
  21_502, // the same, of a number's status
  21_609 // the same, of a call's status
])

const LATER: ReadonlySet<number> = new Set([408, 425, 429])
/** No such thing there: what is asked for is part of the interface, so it is the address that is wrong. */
const WRONG_PLACE: ReadonlySet<number> = new Set([401, 403, 404, 405, 415])

/** What a refusal means, by its status and Twilio's code. A change that failed inside may have been made. */
export const reasonOf = (isChange: boolean, status: number, code: number | undefined): ProviderError["reason"] => {
  if (code !== undefined && OPERATOR_CODES.has(code)) return "Misconfigured"
  if (WRONG_PLACE.has(status)) return "Misconfigured"
  if (LATER.has(status)) return "Temporary"
  if (status >= 400 && status < 500) return "Rejected"
  return isChange ? "Unknown" : "Temporary"
}

/** A failure; `what` goes on from "The carrier". It holds no secret, and nothing that Twilio wrote. */
export const failure = (reason: ProviderError["reason"], what: string, cause?: unknown): ProviderError =>
  new ProviderError({
    provider: PROVIDER,
    reason,
    message: `The carrier ${what}.`,
    ...(cause === undefined ? {} : { cause })
  })

/** Failures by which it is certain that nothing was sent. */
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

/** Whether a request that failed was never sent. */
export const wasUnsent = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && UNSENT.has(cause.code)
}
