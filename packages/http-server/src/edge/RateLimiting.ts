import { RateLimited } from "@agentos/api"
import { ClientAddress, RateLimiter, type RateDecision, type RateRule, type TenantId } from "@agentos/core"
import { Context, Effect, Layer, Option } from "effect"
import { ServerSettings } from "../ServerSettings.ts"

/** Limit of one IPv6 site (a /48), as a multiple of the limit of each of its 65,536 clients. */
const SITE_FACTOR = 10

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

/** Counts the requests of addresses, IPv6 sites and tenants. */
export class RateLimiting extends Context.Service<
  RateLimiting,
  {
    /** Takes a cost from the limits of an address, in order, and stops at the first limit that refuses. */
    readonly countAddress: (address: Option.Option<string>, cost: number) => Effect.Effect<ReadonlyArray<CountedLimit>>
    readonly countTenant: (tenantId: TenantId, cost: number) => Effect.Effect<ReadonlyArray<CountedLimit>>
    /** Takes a cost from the limits of an address for work that is already done, even if nothing remains. */
    readonly chargeAddress: (address: Option.Option<string>, cost: number) => Effect.Effect<void>
  }
>()("@agentos/http-server/edge/RateLimiting") {
  static readonly layer = Layer.effect(
    RateLimiting,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const { rateLimit } = yield* ServerSettings
      if (rateLimit === null) {
        const none = Effect.succeed<ReadonlyArray<CountedLimit>>([])
        return { countAddress: () => none, countTenant: () => none, chargeAddress: () => Effect.void }
      }
      // Read for each request: the host may change the limit.
      const ruleOf = (name: "address" | "site" | "tenant"): RateRule => {
        const factor = name === "site" ? SITE_FACTOR : 1
        return { name, burst: rateLimit.burst * factor, perSecond: rateLimit.perSecond * factor, isShared: true }
      }

      const count = (rule: RateRule, subject: string, cost: number, scope: string) =>
        Effect.map(limiter.take(rule, subject, cost), (decision): CountedLimit => ({ rule, scope, decision }))

      return {
        countAddress: Effect.fnUntraced(function* (remote, cost) {
          const address = addressOf(remote)
          const counted = yield* count(ruleOf("address"), ClientAddress.clientOf(address), cost, "one address")
          const siteOf = ClientAddress.siteOf(address)
          if (!counted.decision.isAdmitted || Option.isNone(siteOf)) return [counted]
          return [counted, yield* count(ruleOf("site"), siteOf.value, cost, "one IPv6 /48 network")]
        }),
        countTenant: (tenantId, cost) =>
          Effect.map(count(ruleOf("tenant"), tenantId, cost, "one tenant"), (counted) => [counted]),
        chargeAddress: Effect.fnUntraced(function* (remote, cost) {
          const address = addressOf(remote)
          yield* limiter.charge(ruleOf("address"), ClientAddress.clientOf(address), cost)
          const siteOf = ClientAddress.siteOf(address)
          if (Option.isSome(siteOf)) yield* limiter.charge(ruleOf("site"), siteOf.value, cost)
        })
      }
    })
  )
}

const addressOf = (remote: Option.Option<string>): string => Option.getOrElse(remote, () => "")
