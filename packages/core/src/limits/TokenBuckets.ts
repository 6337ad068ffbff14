import { Iterable } from "effect"
import type { RateDecision, RateRule, RateUse } from "./RateLimitStore.ts"

/** Maximum number of subjects stored per rule. */
const CAPACITY = 20_000
/** Buckets examined to free one. */
const EVICTION_PROBES = 16
/** Subjects are truncated to this length, in characters. No address, id or mail address is longer. */
const SUBJECT_LENGTH_LIMIT = 256
/** A bucket is reported to the other servers once this share of its burst was taken from it. */
const REPORTED_SHARE = 0.01
export const REPORT_INTERVAL_SECONDS = 1

interface Bucket {
  readonly rule: RateRule
  readonly subject: string
  /** Tokens at time `at`; negative while the subject owes tokens. */
  tokens: number
  at: number
  /** Tokens taken but not yet reported to the other servers. */
  unreported: number
}

const refill = (bucket: Bucket, { burst, perSecond }: RateRule, now: number): void => {
  // A clock that is set back removes no tokens.
  const passedSeconds = Math.max(0, now - bucket.at) / 1000
  bucket.tokens = Math.min(burst, bucket.tokens + passedSeconds * perSecond)
  bucket.at = now
}

/** A report to send, and the handler of its answer. */
export interface Report {
  readonly uses: ReadonlyArray<RateUse>
  /** Subtracts the tokens that other servers took, given the number of tokens missing from each bucket. */
  readonly apply: (missing: ReadonlyArray<number>, now: number) => void
}

interface RuleBuckets {
  readonly bySubject: Map<string, Bucket>
  /** The same buckets, in the order in which they are examined when the map is full. */
  readonly slots: Array<Bucket>
  /** The slot that is examined next. */
  hand: number
}

/**
 * The token buckets of one process, at most 20,000 per rule. To make room, the fullest of the next 16 buckets is
 * evicted; the search cycles over all buckets, and evicting a full one loses nothing. So a subject can't have its
 * bucket reset without draining most others further, and new subjects that take one token each evict only each other.
 */
export class TokenBuckets {
  readonly #byRule = new Map<string, RuleBuckets>()
  readonly #unreported = new Set<Bucket>()

  take(rule: RateRule, subject: string, cost: number, now: number): RateDecision {
    const bucket = this.#touch(rule, subject, now)
    // A cost above the burst takes a full bucket, because it could never be admitted otherwise.
    const taken = Math.min(cost, rule.burst)
    const isAdmitted = bucket.tokens >= taken
    const retryAfterSeconds = isAdmitted ? 0 : Math.ceil((taken - bucket.tokens) / rule.perSecond)
    if (isAdmitted) this.#spend(bucket, rule, taken)
    return {
      isAdmitted,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      retryAfterSeconds,
      resetSeconds: Math.ceil((rule.burst - bucket.tokens) / rule.perSecond)
    }
  }

  /** Takes tokens even if too few are left. A subject owes at most another burst. */
  charge(rule: RateRule, subject: string, cost: number, now: number): void {
    const bucket = this.#touch(rule, subject, now)
    this.#spend(bucket, rule, Math.min(cost, bucket.tokens + rule.burst))
  }

  /** Returns the tokens taken from shared buckets that are due for a report, for at most `limit` buckets. */
  report(limit: number): Report {
    const buckets = [...Iterable.take(this.#unreported, limit)]
    const uses = buckets.map((bucket): RateUse => {
      const { rule, subject, unreported: tokens } = bucket
      bucket.unreported = 0
      this.#unreported.delete(bucket)
      return { rule, subject, tokens }
    })
    return {
      uses,
      apply: (missing, now) =>
        buckets.forEach((bucket, index) => {
          const { rule } = bucket
          refill(bucket, rule, now)
          // The store refills from the report on, but the reported tokens were taken up to one interval earlier.
          const refilledBefore = rule.perSecond * REPORT_INTERVAL_SECONDS
          bucket.tokens = Math.min(bucket.tokens, rule.burst - missing[index]! - bucket.unreported + refilledBefore)
        })
    }
  }

  #touch(rule: RateRule, subject: string, now: number): Bucket {
    const key = subject.slice(0, SUBJECT_LENGTH_LIMIT)
    const buckets = this.#bucketsOf(rule)
    const known = buckets.bySubject.get(key)
    if (known !== undefined) {
      refill(known, rule, now)
      return known
    }
    const made: Bucket = { rule, subject: key, tokens: rule.burst, at: now, unreported: 0 }
    if (buckets.slots.length < CAPACITY) buckets.slots.push(made)
    else this.#replace(buckets, made)
    buckets.bySubject.set(key, made)
    return made
  }

  #spend(bucket: Bucket, rule: RateRule, tokens: number): void {
    bucket.tokens -= tokens
    if (!rule.isShared) return
    bucket.unreported += tokens
    if (bucket.unreported > 0 && bucket.unreported >= rule.burst * REPORTED_SHARE) this.#unreported.add(bucket)
  }

  #replace(buckets: RuleBuckets, made: Bucket): void {
    const { bySubject, hand, slots } = buckets
    let fullest = hand
    for (let slot = hand; slot < hand + EVICTION_PROBES; slot++) {
      const bucket = slots[slot % CAPACITY]!
      refill(bucket, bucket.rule, made.at)
      if (missingShare(bucket) < missingShare(slots[fullest % CAPACITY]!)) fullest = slot
    }
    const forgotten = slots[fullest % CAPACITY]!
    bySubject.delete(forgotten.subject)
    this.#unreported.delete(forgotten)
    slots[fullest % CAPACITY] = made
    buckets.hand = (hand + EVICTION_PROBES) % CAPACITY
  }

  #bucketsOf({ name }: RateRule): RuleBuckets {
    const known = this.#byRule.get(name)
    if (known !== undefined) return known
    const made: RuleBuckets = { bySubject: new Map(), slots: [], hand: 0 }
    this.#byRule.set(name, made)
    return made
  }
}

const missingShare = ({ rule, tokens }: Bucket): number => (rule.burst - tokens) / rule.burst
