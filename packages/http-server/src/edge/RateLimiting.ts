import { RateLimited } from "@agentos/api"
import type { TenantId } from "@agentos/core"
import { Context, Effect, Layer, Option } from "effect"
import { ServerSettings } from "../ServerSettings.ts"
import * as TokenBuckets from "./TokenBuckets.ts"

/** IPv6 clients have a network of 64 bits to themselves, so one is known by that. */
const clientOf = (address: string): string => {
  if (!address.includes(":") || address.includes(".")) return address
  const [head = "", tail] = address.split("::")
  const groups = head.split(":").filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length
  return [...groups, ...Array.from({ length: missing }, () => "0"), ...(tail ?? "").split(":")].slice(0, 4).join(":")
}

/** How many requests an address, and a tenant, may make. */
export class RateLimiting extends Context.Service<
  RateLimiting,
  {
    readonly limitAddress: (address: Option.Option<string>) => Effect.Effect<void, RateLimited>
    readonly limitTenant: (tenantId: TenantId) => Effect.Effect<void, RateLimited>
  }
>()("@agentos/http-server/edge/RateLimiting") {
  static readonly layer = Layer.effect(
    RateLimiting,
    Effect.map(ServerSettings, ({ rateLimit }) => {
      if (rateLimit === null) return { limitAddress: () => Effect.void, limitTenant: () => Effect.void }
      const limitBy = (buckets: TokenBuckets.TokenBuckets, client: string) =>
        Effect.flatMap(buckets.take(client), (retryAfterSeconds) =>
          retryAfterSeconds === undefined ? Effect.void : Effect.fail(new RateLimited({ retryAfterSeconds }))
        )
      const addresses = TokenBuckets.make(rateLimit)
      const tenants = TokenBuckets.make(rateLimit)
      return {
        limitAddress: (address) => limitBy(addresses, Option.match(address, { onNone: () => "", onSome: clientOf })),
        limitTenant: (tenantId) => limitBy(tenants, tenantId)
      }
    })
  )
}
