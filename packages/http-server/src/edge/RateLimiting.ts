import type { RateLimited } from "@agentos/api"
import { ClientAddress, RateLimiter, type RateRule, type TenantId } from "@agentos/core"
import { Context, Effect, Layer, Option } from "effect"
import { ServerSettings } from "../ServerSettings.ts"
import { type CountedLimit, findRefusal } from "./CountedLimit.ts"
import { RequestRecord } from "./Route.ts"

/** Limit of one IPv6 site (a /48), as a multiple of the limit of each of its 65,536 clients. */
const SITE_FACTOR = 10

/** Records the limits that a request was counted toward, and fails if one of them refused it. */
export const admitWithin = (limits: ReadonlyArray<CountedLimit>): Effect.Effect<void, RateLimited, RequestRecord> =>
  Effect.flatMap(RequestRecord, ({ limits: noted }) => {
    noted.push(...limits)
    const refusal = findRefusal(limits)
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  })

/** Counts the requests of addresses, IPv6 sites and tenants. */
export class RateLimiting extends Context.Service<
  RateLimiting,
  {
    /** Takes a cost from the limits of an address, in order, and stops at the first limit that refuses. */
    readonly countAddress: (address: Option.Option<string>, cost: number) => Effect.Effect<ReadonlyArray<CountedLimit>>
    /** Takes a cost from the limit of a tenant. */
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
      const { burst, perSecond } = rateLimit
      const own = { name: "address", burst, perSecond, isShared: true }
      const site = { name: "site", burst: burst * SITE_FACTOR, perSecond: perSecond * SITE_FACTOR, isShared: true }
      const tenant = { name: "tenant", burst, perSecond, isShared: true }

      const count = (rule: RateRule, subject: string, cost: number, scope: string) =>
        Effect.map(limiter.take(rule, subject, cost), (decision): CountedLimit => ({ rule, scope, decision }))

      return {
        countAddress: Effect.fnUntraced(function* (remote, cost) {
          const address = addressOf(remote)
          const counted = yield* count(own, ClientAddress.clientOf(address), cost, "one address")
          const siteOf = ClientAddress.siteOf(address)
          if (!counted.decision.isAdmitted || Option.isNone(siteOf)) return [counted]
          return [counted, yield* count(site, siteOf.value, cost, "one IPv6 /48 network")]
        }),
        countTenant: (tenantId, cost) =>
          Effect.map(count(tenant, tenantId, cost, "one tenant"), (counted) => [counted]),
        chargeAddress: Effect.fnUntraced(function* (remote, cost) {
          const address = addressOf(remote)
          yield* limiter.charge(own, ClientAddress.clientOf(address), cost)
          const siteOf = ClientAddress.siteOf(address)
          if (Option.isSome(siteOf)) yield* limiter.charge(site, siteOf.value, cost)
        })
      }
    })
  )
}

const addressOf = (remote: Option.Option<string>): string => Option.getOrElse(remote, () => "")
