import { Clock, Effect } from "effect"
import type { RateLimit } from "../ServerSettings.ts"

/** Clients remembered at a time. One that is forgotten begins again with a full bucket. */
const CAPACITY = 20_000

interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** Buckets of tokens, one a client: each request takes one, and they come back at a steady rate. */
export interface TokenBuckets {
  /** Takes one token; gives the whole seconds to wait when there is none, and undefined when there was. */
  readonly take: (client: string) => Effect.Effect<number | undefined>
}

/**
 * Buckets in the memory of this process. Several servers limit each for
 * themselves; what they hold is bounded, and the clients longest unseen go first.
 */
export const make = ({ burst, perSecond }: RateLimit): TokenBuckets => {
  const buckets = new Map<string, Bucket>()
  return {
    take: (client) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const last = buckets.get(client)
        // A clock that is set back takes nothing from anybody.
        const passed = last === undefined ? 0 : Math.max(0, now - last.at)
        const tokens = last === undefined ? burst : Math.min(burst, last.tokens + (passed / 1000) * perSecond)
        buckets.delete(client)
        const oldest = buckets.size >= CAPACITY ? buckets.keys().next().value : undefined
        if (oldest !== undefined) buckets.delete(oldest)
        buckets.set(client, { tokens: tokens < 1 ? tokens : tokens - 1, at: now })
        return tokens < 1 ? Math.ceil((1 - tokens) / perSecond) : undefined
      })
  }
}
