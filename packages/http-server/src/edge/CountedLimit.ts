import { RateLimited } from "@agentos/api"
import type { RateDecision, RateRule } from "@agentos/core"

/** A limit that a request was counted toward. */
export interface CountedLimit {
  readonly rule: RateRule
  /** The client that the rule limits, in words. */
  readonly scope: string
  readonly decision: RateDecision
}

const windowSeconds = ({ burst, perSecond }: RateRule): number => Math.ceil(burst / perSecond)

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10: for each limit its quota and window in seconds, the remaining
 * quota, and the seconds until the full quota is available again.
 */
export const rateLimitHeaders = (limits: ReadonlyArray<CountedLimit>): Readonly<Record<string, string>> => ({
  "ratelimit-policy": limits.map(({ rule }) => `"${rule.name}";q=${rule.burst};w=${windowSeconds(rule)}`).join(", "),
  ratelimit: limits
    .map(({ decision, rule }) => `"${rule.name}";r=${decision.remaining};t=${decision.resetSeconds}`)
    .join(", ")
})

const refusalOf = ({ decision, rule, scope }: CountedLimit): RateLimited =>
  new RateLimited({
    retryAfterSeconds: decision.retryAfterSeconds,
    limit: `${rule.burst} requests in ${windowSeconds(rule)} s from ${scope}`
  })

/** Returns the error for the first limit that refused the request, if any. */
export const findRefusal = (limits: ReadonlyArray<CountedLimit>): RateLimited | undefined => {
  const refused = limits.find(({ decision }) => !decision.isAdmitted)
  return refused === undefined ? undefined : refusalOf(refused)
}
