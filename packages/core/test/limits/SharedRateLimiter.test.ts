import { assert, describe, it } from "@effect/vitest"
import { RateLimiter, type RateRule, RateLimitStore, type RateUse } from "@agentos/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

const rule: RateRule = { name: "test", burst: 10, perSecond: 0.001, isShared: true }

/** A store that adds the tokens taken and never refills. */
const addingStore = () => {
  const state = { missing: new Map<string, number>(), exchanges: 0, isDown: false, isSilent: false }
  const add = ({ subject, tokens }: RateUse): number => {
    const missing = (state.missing.get(subject) ?? 0) + tokens
    state.missing.set(subject, missing)
    return missing
  }
  const store = RateLimitStore.of({
    exchange: (uses) =>
      Effect.suspend(() => {
        state.exchanges++
        if (state.isSilent) return Effect.never
        return state.isDown ? Effect.die(new Error("the database is away")) : Effect.sync(() => uses.map(add))
      }),
    deleteFull: Effect.succeed(0)
  })
  const server = Effect.provideService(RateLimiter.makeShared, RateLimitStore, store)
  return { state, server }
}

const admitted = (limiter: RateLimiter.RateLimiter, cost: number) =>
  Effect.map(limiter.take(rule, "a", cost), ({ isAdmitted }) => isAdmitted)

describe("a shared RateLimiter", () => {
  it.effect("counts the tokens that other servers took within a second", () =>
    Effect.gen(function* () {
      const { server } = addingStore()
      const [one, other] = [yield* server, yield* server]
      assert.isTrue(yield* admitted(one, 8))
      assert.isTrue(yield* admitted(other, 1))
      yield* TestClock.adjust("2 seconds")
      yield* one.take({ ...rule, name: "other" }, "b")
      assert.isFalse(yield* admitted(other, 2))
      assert.isTrue(yield* admitted(other, 1))
    })
  )

  it.effect("does not call the store while no tokens were taken", () =>
    Effect.gen(function* () {
      const { server, state } = addingStore()
      const limiter = yield* server
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(state.exchanges, 0)
      yield* admitted(limiter, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(state.exchanges, 1)
    })
  )

  it.effect("limits on its own while the store is unavailable, and shares again afterward", () =>
    Effect.gen(function* () {
      const { server, state } = addingStore()
      const [one, other] = [yield* server, yield* server]
      state.isDown = true
      assert.isTrue(yield* admitted(one, 8))
      yield* TestClock.adjust("2 seconds")
      assert.isFalse(yield* admitted(one, 3))
      assert.isTrue(yield* admitted(other, 5))
      yield* TestClock.adjust("2 seconds")
      state.isDown = false
      assert.isTrue(yield* admitted(one, 2))
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(yield* admitted(other, 1))
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(state.missing.get("a"), 3)
    })
  )

  it.effect("stops waiting for an unresponsive store after 5 seconds, and shares again", () =>
    Effect.gen(function* () {
      const { server, state } = addingStore()
      const limiter = yield* server
      state.isSilent = true
      assert.isTrue(yield* admitted(limiter, 7))
      yield* TestClock.adjust("2 seconds")
      state.isSilent = false
      assert.isTrue(yield* admitted(limiter, 2))
      yield* TestClock.adjust("6 seconds")
      assert.strictEqual(state.missing.get("a"), 2)
    })
  )

  it.effect("shares no buckets of rules that are not shared", () =>
    Effect.gen(function* () {
      const { server, state } = addingStore()
      const limiter = yield* server
      yield* limiter.take({ ...rule, isShared: false }, "a", 5)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(state.exchanges, 0)
    })
  )
})
