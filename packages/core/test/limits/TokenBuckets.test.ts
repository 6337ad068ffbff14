import { assert, describe, it } from "@effect/vitest"
import type { RateRule } from "@agentos/core"
import { TokenBuckets } from "../../src/limits/TokenBuckets.ts"

const CAPACITY = 20_000
const rule: RateRule = { name: "test", burst: 10, perSecond: 0.01, isShared: false }

/** Takes tokens for `count` subjects that no other test uses. */
const flood = (buckets: TokenBuckets, count: number, now: number, cost = 1): void => {
  for (let index = 0; index < count; index++) buckets.take(rule, `stranger ${now} ${index}`, cost, now)
}

describe("TokenBuckets", () => {
  it("keeps a drained bucket while new subjects fill the memory", () => {
    const buckets = new TokenBuckets()
    buckets.take(rule, "attacker", 10, 0)
    for (let round = 1; round <= 5; round++) flood(buckets, CAPACITY, round)
    assert.isFalse(buckets.take(rule, "attacker", 1, 6).isAdmitted)
  })

  it("evicts full buckets first", () => {
    const buckets = new TokenBuckets()
    flood(buckets, CAPACITY - 1, 0)
    buckets.take(rule, "drained", 10, 0)
    // A minute later no bucket is full; after 100 s all but the drained one are.
    flood(buckets, CAPACITY - 1, 100_000)
    assert.strictEqual(buckets.take(rule, "drained", 0, 100_000).remaining, 1)
  })

  it("holds exactly as many subjects as its capacity", () => {
    const buckets = new TokenBuckets()
    buckets.take(rule, "first", 1, 0)
    // All other buckets are drained further than the first, so the first is evicted.
    flood(buckets, CAPACITY + 1, 0, 10)
    assert.strictEqual(buckets.take(rule, "first", 0, 0).remaining, 10)
  })

  it("cycles over all buckets to make room, so that new subjects do not evict each other", () => {
    const buckets = new TokenBuckets()
    flood(buckets, CAPACITY, 0)
    // All buckets are full again by now.
    const now = 100_000
    const newcomers = Array.from({ length: 17 }, (_, index) => `newcomer ${index}`)
    for (const subject of newcomers) buckets.take(rule, subject, 10, now)
    assert.deepStrictEqual(
      newcomers.filter((subject) => buckets.take(rule, subject, 1, now).isAdmitted),
      []
    )
  })

  it("lets a subject owe at most another burst", () => {
    const buckets = new TokenBuckets()
    for (let times = 0; times < 10; times++) buckets.charge(rule, "a", 10, 0)
    const refused = buckets.take(rule, "a", 1, 0)
    assert.deepStrictEqual(refused, { isAdmitted: false, remaining: 0, retryAfterSeconds: 1_100, resetSeconds: 2_000 })
    assert.isTrue(buckets.take(rule, "a", 1, 1_100_000).isAdmitted)
  })

  it("admits a cost above the burst with a full bucket", () => {
    const buckets = new TokenBuckets()
    assert.deepInclude(buckets.take(rule, "a", 1_000, 0), { isAdmitted: true, remaining: 0 })
    assert.deepInclude(buckets.take(rule, "a", 1_000, 0), { isAdmitted: false, retryAfterSeconds: 1_000 })
  })

  it("reports the tokens taken from shared buckets, each token once", () => {
    const buckets = new TokenBuckets()
    const shared = { ...rule, isShared: true }
    buckets.take(shared, "a", 3, 0)
    buckets.take(shared, "a", 2, 0)
    buckets.take(rule, "own", 5, 0)
    assert.deepStrictEqual(buckets.report(10).uses, [{ rule: shared, subject: "a", tokens: 5 }])
    assert.deepStrictEqual(buckets.report(10).uses, [])
  })

  it("reports a bucket once a hundredth of its burst was taken", () => {
    const buckets = new TokenBuckets()
    const wide = { ...rule, burst: 1_000, isShared: true }
    for (let times = 0; times < 9; times++) buckets.take(wide, "a", 1, 0)
    assert.deepStrictEqual(buckets.report(10).uses, [])
    buckets.take(wide, "a", 1, 0)
    assert.deepStrictEqual(buckets.report(10).uses, [{ rule: wide, subject: "a", tokens: 10 }])
  })

  it("reports a subject once, even if its bucket was evicted and recreated", () => {
    const buckets = new TokenBuckets()
    const shared = { ...rule, isShared: true }
    buckets.take(shared, "first", 1, 0)
    // All other buckets are drained further than the first, so the first is evicted.
    flood(buckets, CAPACITY + 1, 0, 10)
    buckets.take(shared, "first", 2, 0)
    assert.deepStrictEqual(buckets.report(10).uses, [{ rule: shared, subject: "first", tokens: 2 }])
  })

  it("reports at most the requested number of buckets, and the others next", () => {
    const buckets = new TokenBuckets()
    const shared = { ...rule, isShared: true }
    for (const subject of ["a", "b", "c"]) buckets.take(shared, subject, 1, 0)
    const reported = [2, 2, 2].map((limit) => buckets.report(limit).uses.map(({ subject }) => subject))
    assert.deepStrictEqual(reported, [["a", "b"], ["c"], []])
  })

  it("distinguishes subjects by their first 256 characters", () => {
    const buckets = new TokenBuckets()
    const long = "x".repeat(256)
    buckets.take(rule, `${long.slice(1)}a`, 1, 0)
    buckets.take(rule, `${long}a`, 3, 0)
    assert.strictEqual(buckets.take(rule, `${long}b`, 0, 0).remaining, 7)
  })

  it("subtracts the tokens that other servers took, and never adds any", () => {
    const buckets = new TokenBuckets()
    const shared = { ...rule, isShared: true }
    buckets.take(shared, "a", 1, 0)
    const first = buckets.report(10)
    buckets.take(shared, "a", 1, 0)
    first.apply([6], 0)
    assert.strictEqual(buckets.take(shared, "a", 0, 0).remaining, 3)
    buckets.report(10).apply([0], 0)
    assert.strictEqual(buckets.take(shared, "a", 0, 0).remaining, 3)
  })
})
