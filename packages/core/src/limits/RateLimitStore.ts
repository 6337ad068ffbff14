import { Context, type Effect } from "effect"
import type { RateRule } from "./RateRule.ts"

/** The tokens that one server took from a shared bucket since its last report. */
export interface RateUse {
  readonly rule: RateRule
  readonly subject: string
  readonly tokens: number
}

/**
 * The port through which the servers of a deployment share buckets. For each rule and subject it stores how many tokens
 * are missing from a full bucket, and refills them on its own clock. Its data need not survive a crash.
 */
export class RateLimitStore extends Context.Service<
  RateLimitStore,
  {
    /**
     * Adds the tokens taken, and returns for each use, in order, how many tokens are now missing from its bucket,
     * counting all servers: twice the burst at most. Each bucket should occur once.
     */
    readonly exchange: (uses: ReadonlyArray<RateUse>) => Effect.Effect<ReadonlyArray<number>>
    /** Deletes up to 1,000 buckets that are full again, and returns how many it deleted. */
    readonly deleteFull: Effect.Effect<number>
  }
>()("@agentos/core/limits/RateLimitStore") {}
