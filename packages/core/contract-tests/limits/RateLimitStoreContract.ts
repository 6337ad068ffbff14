import { type RateRule, RateLimitStore } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { type ContractTests, defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** Refilled so slowly that no token returns while a test runs. */
const SLOW = { burst: 100, perSecond: 0.001, isShared: true }

const freshRule = (rule: Omit<RateRule, "name"> = SLOW): Effect.Effect<RateRule> =>
  Effect.map(Fresh.word, (name) => ({ ...rule, name }))

const exchangeTests: ContractTests<RateLimitStore> = (it) => {
  describe("exchange", () => {
    it.effect("adds the tokens that servers took, and returns the sums in the order of the uses", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const rule = yield* freshRule()
        const first = yield* store.exchange([
          { rule, subject: "b", tokens: 2 },
          { rule, subject: "a", tokens: 1 }
        ])
        assert.deepStrictEqual(first, [2, 1])
        const second = yield* store.exchange([
          { rule, subject: "a", tokens: 10 },
          { rule, subject: "c", tokens: 5 },
          { rule, subject: "b", tokens: 20 }
        ])
        assert.deepStrictEqual(second.map(Math.round), [11, 5, 22])
      })
    )

    it.effect("separates the buckets of rules", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const [one, other] = [yield* freshRule(), yield* freshRule()]
        yield* store.exchange([{ rule: one, subject: "a", tokens: 7 }])
        assert.deepStrictEqual(yield* store.exchange([{ rule: other, subject: "a", tokens: 1 }]), [1])
      })
    )

    it.effect("refills buckets on the store's clock", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const clock = yield* StoreClock
        const rule = yield* freshRule({ burst: 1_000_000, perSecond: 10, isShared: true })
        yield* store.exchange([{ rule, subject: "a", tokens: 100_000 }])
        yield* clock.advance(1_000_000)
        const [left] = yield* store.exchange([{ rule, subject: "a", tokens: 1 }])
        // A few more tokens are refilled while a database answers.
        assert.isAtMost(left!, 90_001)
        assert.isAtLeast(left!, 89_000)
        yield* clock.advance(100_000_000)
        assert.deepStrictEqual(yield* store.exchange([{ rule, subject: "a", tokens: 3 }]), [3])
      })
    )

    it.effect("removes no tokens when the clock is set back", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const clock = yield* StoreClock
        const rule = yield* freshRule()
        yield* store.exchange([{ rule, subject: "a", tokens: 10 }])
        yield* clock.advance(-60_000)
        const answer = yield* store.exchange([{ rule, subject: "a", tokens: 10 }])
        yield* clock.advance(60_000)
        assert.deepStrictEqual(answer, [20])
      })
    )

    it.effect("limits the debt of a subject to another burst", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const rule = yield* freshRule()
        assert.deepStrictEqual(yield* store.exchange([{ rule, subject: "a", tokens: 5_000 }]), [200])
        assert.deepStrictEqual(yield* store.exchange([{ rule, subject: "a", tokens: 5_000 }]), [200])
      })
    )

    it.effect("loses nothing in overlapping exchanges", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const rule = yield* freshRule()
        const subjects = ["a", "b", "c"]
        yield* Effect.forEach(
          [subjects, subjects.toReversed(), subjects, subjects.toReversed()],
          (order) => store.exchange(order.map((subject) => ({ rule, subject, tokens: 10 }))),
          { concurrency: "unbounded" }
        )
        const sums = yield* store.exchange(subjects.map((subject) => ({ rule, subject, tokens: 0 })))
        assert.deepStrictEqual(sums.map(Math.round), [40, 40, 40])
      })
    )

    it.effect("accepts subjects with any text", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const rule = yield* freshRule()
        const subjects = ["", "2001:db8::/64", "a\u0000b", "\u{1F4EE}".repeat(128), "'; drop table rate_limits"]
        assert.deepStrictEqual(
          yield* store.exchange(subjects.map((subject) => ({ rule, subject, tokens: 1 }))),
          subjects.map(() => 1)
        )
      })
    )
  })
}

const deletionTests: ContractTests<RateLimitStore> = (it) => {
  describe("deleteFull", () => {
    it.effect("deletes buckets that are full again, and no other", () =>
      Effect.gen(function* () {
        const store = yield* RateLimitStore
        const clock = yield* StoreClock
        const fast = yield* freshRule({ burst: 100, perSecond: 10, isShared: true })
        const slow = yield* freshRule()
        yield* store.exchange([
          { rule: fast, subject: "a", tokens: 100 },
          { rule: fast, subject: "b", tokens: 1 },
          { rule: slow, subject: "a", tokens: 100 }
        ])
        yield* Effect.repeat(store.deleteFull, { while: (deleted) => deleted > 0 })
        yield* clock.advance(20_000)
        assert.isAtLeast(yield* store.deleteFull, 2)
        assert.strictEqual(yield* store.deleteFull, 0)
        const [left] = yield* store.exchange([{ rule: slow, subject: "a", tokens: 0 }])
        assert.isAtLeast(left!, 99)
      })
    )
  })
}

/** The contract tests of `RateLimitStore`. */
export const RateLimitStoreContract = defineContract<RateLimitStore>("RateLimitStore", (it, capabilities) => {
  exchangeTests(it, capabilities)
  deletionTests(it, capabilities)
})
