import { Context, type Effect } from "effect"
import type { RateRule } from "./RateRule.ts"

/** What one server took from a shared bucket since it last reported it. */
export interface RateUse {
  readonly rule: RateRule
  readonly subject: string
  readonly tokens: number
}

/**
 * The port through which the servers of a deployment share buckets. It keeps for each rule and subject how many tokens
 * are missing from a full bucket, and refills them on its own clock. It keeps nothing that must outlive a crash.
 */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Adds what was taken, and returns for each use, in order, how many tokens are now missing from its bucket because
     * of all servers: twice the burst at most. A bucket should be named once.
     */
    readonly exchange: (uses: ReadonlyArray<RateUse>) => Effect.Effect<ReadonlyArray<number>>
    /** Deletes up to 1,000 buckets that are full again, and returns how many it deleted. */
    readonly deleteFull: Effect.Effect<number>
  }
>()("@agentos/core/limits/RateLimitStore") {}
