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
