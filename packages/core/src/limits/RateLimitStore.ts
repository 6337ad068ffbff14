import { Context, type Effect } from "effect"

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

/** A token bucket for each subject: up to `burst` tokens, refilled at `perSecond`. */
export interface RateRule {
  /** Names the rule in metrics and headers, and separates its buckets from those of other rules. */
  readonly name: string
  readonly burst: number
  readonly perSecond: number
  /** Whether the servers of a deployment share the buckets. Otherwise each server has its own. */
  readonly isShared: boolean
}

export interface RateDecision {
  readonly isAdmitted: boolean
  /** Whole tokens left in the bucket; never negative. */
  readonly remaining: number
  /** Whole seconds until the cost can be taken; 0 if it was taken. */
  readonly retryAfterSeconds: number
  /** Whole seconds until the bucket is full again. */
  readonly resetSeconds: number
}
