import { Clock, Context, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { type RateDecision, RateLimitStore, type RateRule } from "./RateLimitStore.ts"
import { REPORT_INTERVAL_SECONDS, TokenBuckets } from "./TokenBuckets.ts"

/** Limits how often a subject (an address, a tenant, a sender) may perform an action. */
export interface RateLimiter {
  /** Takes `cost` tokens (default 1) from the subject's bucket. A refusal takes none. */
  readonly take: (rule: RateRule, subject: string, cost?: number) => Effect.Effect<RateDecision>
  /**
   * Takes tokens for work that turned out to cost more, even if too few are left. The subject then owes them, up to
   * another burst, and is refused until they are refilled.
   */
  readonly charge: (rule: RateRule, subject: string, cost: number) => Effect.Effect<void>
}

/** Admits everything: the default of a host without a rate limiter, and used by benchmarks. */
export const unlimited: RateLimiter = {
  take: ({ burst }) => Effect.succeed({ isAdmitted: true, remaining: burst, retryAfterSeconds: 0, resetSeconds: 0 }),
  charge: () => Effect.void
}

export const RateLimiter = Context.Reference<RateLimiter>("@agentos/core/limits/RateLimiter", {
  defaultValue: () => unlimited
})

const refusalsBy = (rule: string) =>
  Metric.counter("agentos_rate_limit_refusals_total", {
    description: "Requests, messages and connections refused because a rate limit was exceeded.",
    attributes: { rule },
    incremental: true
  })

/** Counts a refusal by a limit that has no bucket. */
export const countRefusal = (rule: string): Effect.Effect<void> => Metric.update(refusalsBy(rule), 1)

const over = (buckets: TokenBuckets): RateLimiter => ({
  take: (rule, subject, cost = 1) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const decision = buckets.take(rule, subject, cost, now)
      return decision.isAdmitted ? Effect.succeed(decision) : Effect.as(countRefusal(rule.name), decision)
    }),
  charge: (rule, subject, cost) =>
    Effect.map(Clock.currentTimeMillis, (now) => buckets.charge(rule, subject, cost, now))
})

/** Makes a rate limiter in the memory of this process that shares nothing with other servers. */
export const makeLocal = (): RateLimiter => over(new TokenBuckets())

/** Maximum number of buckets reported in one exchange. */
const EXCHANGE_SIZE = 500
const EXCHANGE_TIMEOUT = "5 seconds"
const CLEANUP_INTERVAL = "30 seconds"

/**
 * Makes a rate limiter that decides in the memory of this process. Once a second it reports the tokens taken from
 * shared buckets to the other servers and receives theirs. No request waits for the store: while the store is
 * unavailable, each server limits on its own.
 */
export const makeShared = Effect.gen(function* () {
  const store = yield* RateLimitStore
  const buckets = new TokenBuckets()
  let isFailing = false

  const failed = (message: string) => (cause: unknown) =>
    Effect.suspend(() => {
      if (isFailing) return Effect.void
      isFailing = true
      return Effect.logWarning(message, cause)
    })

  // The uses of a failed exchange are not reported again, because the store may have added them.
  const exchange = Effect.gen(function* () {
    const { apply, uses } = buckets.report(EXCHANGE_SIZE)
    if (uses.length === 0) return
    const missing = yield* Effect.timeout(store.exchange(uses), EXCHANGE_TIMEOUT)
    apply(missing, yield* Clock.currentTimeMillis)
    isFailing = false
  }).pipe(Effect.catchCause(failed("Rate limits could not be shared; this server limits by itself until they can")))

  const cleanUp = Effect.timeout(
    Effect.repeat(store.deleteFull, { while: (deleted) => deleted > 0 }),
    EXCHANGE_TIMEOUT
  ).pipe(Effect.catchCause(failed("Full rate limit buckets could not be deleted")))

  yield* Effect.forkScoped(Effect.repeat(exchange, Schedule.spaced(Duration.seconds(REPORT_INTERVAL_SECONDS))))
  yield* Effect.forkScoped(Effect.repeat(cleanUp, Schedule.spaced(CLEANUP_INTERVAL)))
  return over(buckets)
})

/** Provides a rate limiter that shares buckets with the other servers on the same store. */
export const layer = Layer.effect(RateLimiter, makeShared)
