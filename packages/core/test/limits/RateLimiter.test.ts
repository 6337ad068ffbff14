import { assert, describe, it } from "@effect/vitest"
import { RateLimiter, type RateRule } from "@agentos/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

const rule: RateRule = { name: "test", burst: 3, perSecond: 2, isShared: false }

describe("RateLimiter", () => {
  it.effect("admits a burst, then requests at the refill rate", () =>
    Effect.gen(function* () {
      const limiter = RateLimiter.makeLocal()
      const take = Effect.map(limiter.take(rule, "a"), ({ retryAfterSeconds }) => retryAfterSeconds)
      assert.deepStrictEqual(yield* Effect.all([take, take, take, take]), [0, 0, 0, 1])
      assert.isTrue((yield* limiter.take(rule, "b")).isAdmitted)
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(yield* Effect.all([take, take]), [0, 1])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Effect.all([take, take, take, take]), [0, 0, 0, 1])
    })
  )

  it.effect("keeps the tokens of a subject when the clock is set back", () =>
    Effect.gen(function* () {
      const limiter = RateLimiter.makeLocal()
      const take = Effect.map(limiter.take(rule, "a"), ({ isAdmitted }) => isAdmitted)
      yield* TestClock.setTime(3_600_000)
      assert.isTrue(yield* take)
      yield* TestClock.setTime(0)
      assert.deepStrictEqual(yield* Effect.all([take, take, take]), [true, true, false])
    })
  )

  it.effect("takes the cost of an admitted request, and nothing for a refused one", () =>
    Effect.gen(function* () {
      const limiter = RateLimiter.makeLocal()
      assert.deepStrictEqual(yield* limiter.take(rule, "a", 2), {
        isAdmitted: true,
        remaining: 1,
        retryAfterSeconds: 0,
        resetSeconds: 1
      })
      assert.deepStrictEqual(yield* limiter.take(rule, "a", 2), {
        isAdmitted: false,
        remaining: 1,
        retryAfterSeconds: 1,
        resetSeconds: 1
      })
      assert.isTrue((yield* limiter.take(rule, "a")).isAdmitted)
    })
  )

  it.effect("keeps separate buckets for each rule", () =>
    Effect.gen(function* () {
      const limiter = RateLimiter.makeLocal()
      yield* limiter.take(rule, "a", 3)
      assert.isFalse((yield* limiter.take(rule, "a")).isAdmitted)
      assert.isTrue((yield* limiter.take({ ...rule, name: "other" }, "a")).isAdmitted)
    })
  )
})
