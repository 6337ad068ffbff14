import { RateLimited } from "@agentos/api"
import type { RateDecision, RateRule } from "@agentos/core"

/** A limit that a request was counted against. */
export interface CountedLimit {
  readonly rule: RateRule
  /** Whom the rule limits, in words. */
  readonly scope: string
  readonly decision: RateDecision
}

const windowSeconds = ({ burst, perSecond }: RateRule): number => Math.ceil(burst / perSecond)

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10: the quota of each limit and its window in seconds, and what is
 * left of it and for how many seconds until all of it is there again.
 */
export const rateLimitHeaders = (limits: ReadonlyArray<CountedLimit>): Readonly<Record<string, string>> =>
  limits.length === 0
    ? {}
    : {
        "ratelimit-policy": limits
          .map(({ rule }) => `"${rule.name}";q=${rule.burst};w=${windowSeconds(rule)}`)
          .join(", "),
        ratelimit: limits
          .map(({ decision, rule }) => `"${rule.name}";r=${decision.remaining};t=${decision.resetSeconds}`)
          .join(", ")
      }

const refusalOf = ({ decision, rule, scope }: CountedLimit): RateLimited =>
  new RateLimited({
    retryAfterSeconds: decision.retryAfterSeconds,
    limit: `${rule.burst} requests in ${windowSeconds(rule)} s from ${scope}`
  })

/** Why a request may not go on, if one of its limits refused it. */
export const findRefusal = (limits: ReadonlyArray<CountedLimit>): RateLimited | undefined => {
  const refused = limits.find(({ decision }) => !decision.isAdmitted)
  return refused === undefined ? undefined : refusalOf(refused)
}
