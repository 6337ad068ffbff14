import { InboundAllowance, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { SECOND } = Timestamp
const moment = (millis: number) => Timestamp.Timestamp.make(millis)
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const NOW = moment(1_000_000 * SECOND)
const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0)

/** Calls that were answered these numbers of milliseconds ago. */
const liveSince = (ages: ReadonlyArray<number>): ReadonlyArray<InboundAllowance.LiveCall> =>
  ages.map((age, n) => ({ callId: `${n}`, answeredAt: moment(NOW - age) }))

const Allowance = Schema.Struct({ purchasedSeconds: between(0, 6_000), usedSeconds: between(0, 6_000) })
const Ages = Schema.Array(between(0, 900 * SECOND)).check(Schema.isMaxLength(8))

describe("the remaining allowance", () => {
  it("grows by 600 seconds with each purchase, shrinks with use, and is never negative", () => {
    const bought = InboundAllowance.purchased(InboundAllowance.EMPTY)
    assert.strictEqual(InboundAllowance.remaining(InboundAllowance.EMPTY), 0)
    assert.strictEqual(InboundAllowance.remaining(bought), 600)
    assert.strictEqual(InboundAllowance.remaining(InboundAllowance.used(bought, 61)), 539)
    assert.strictEqual(InboundAllowance.remaining(InboundAllowance.used(bought, 601)), 0)
  })

  it("counts the seconds since the answer, rounded up", () => {
    const after = (millis: number) => InboundAllowance.secondsSince(NOW, moment(NOW + millis))
    assert.deepStrictEqual([-5, 0, 1, 999, 1_000, 1_001, 60_000].map(after), [0, 0, 1, 1, 1, 2, 60])
  })
})

describe("the limits of live calls", () => {
  it("add equal shares of the remaining allowance to the used seconds", () => {
    const allowance = { purchasedSeconds: 600, usedSeconds: 100 }
    const limits = (ages: ReadonlyArray<number>) => [
      ...InboundAllowance.limits(allowance, liveSince(ages), NOW).values()
    ]
    assert.deepStrictEqual(limits([]), [])
    assert.deepStrictEqual(limits([0]), [500])
    assert.deepStrictEqual(limits([40 * SECOND]), [500])
    assert.deepStrictEqual(limits([100 * SECOND, 0]), [300, 200])
    assert.deepStrictEqual(limits([100 * SECOND, 50 * SECOND, 0]), [216, 166, 116])
  })

  it.prop(
    "give each call an equal share, and all calls together no more than the allowance",
    [Allowance, Ages],
    ([allowance, ages]) => {
      const live = liveSince(ages)
      const limits = InboundAllowance.limits(allowance, live, NOW)
      const used = live.map(({ answeredAt }) => InboundAllowance.secondsSince(answeredAt, NOW))
      const shares = live.map(({ callId }, n) => limits.get(callId)! - used[n]!)
      const left = Math.max(0, InboundAllowance.remaining(allowance) - sum(used))
      assert.strictEqual(limits.size, live.length)
      assert.strictEqual(new Set(shares).size, Math.min(1, live.length), "equal shares")
      for (const share of shares) assert.isAtLeast(share, 0)
      assert.isAtMost(sum(shares), left)
      if (live.length > 0) assert.isAbove(sum(shares), left - live.length, "and all but what can't be shared out")
    }
  )

  it.prop("do not depend on the order of the calls", [Allowance, Ages], ([allowance, ages]) => {
    const live = liveSince(ages)
    const reversed = InboundAllowance.limits(allowance, live.toReversed(), NOW)
    for (const [callId, limit] of InboundAllowance.limits(allowance, live, NOW)) {
      assert.strictEqual(reversed.get(callId), limit)
    }
  })
})

/** The events of a number that receives calls. `Pass` advances the time by milliseconds. */
const Happening = Schema.Union([
  Schema.TaggedStruct("Join", {}),
  Schema.TaggedStruct("Leave", { call: between(0, 5) }),
  Schema.TaggedStruct("Pass", { millis: between(0, 5 * SECOND) }),
  Schema.TaggedStruct("Pass", { millis: between(0, 400 * SECOND) }),
  Schema.TaggedStruct("Buy", {})
])

interface LimitedCall extends InboundAllowance.LiveCall {
  readonly limit: number
}

/** A number whose carrier ends each call exactly at its limit. */
class CalledNumber {
  now: number = NOW
  allowance = InboundAllowance.EMPTY
  live: ReadonlyArray<LimitedCall> = []

  share(): void {
    const limits = InboundAllowance.limits(this.allowance, this.live, moment(this.now))
    this.live = this.live.map((call) => ({ ...call, limit: limits.get(call.callId)! }))
  }

  join(callId: string): void {
    const call = { callId, answeredAt: moment(this.now), limit: 0 }
    const limits = InboundAllowance.limits(this.allowance, [...this.live, call], moment(this.now))
    if (limits.get(callId)! < 1) return
    this.live = [...this.live, call]
    this.share()
  }

  leave(call: LimitedCall): void {
    const seconds = Math.min(call.limit, InboundAllowance.secondsSince(call.answeredAt, moment(this.now)))
    this.live = this.live.filter((other) => other !== call)
    this.allowance = InboundAllowance.used(this.allowance, seconds)
    this.share()
  }

  pass(millis: number): void {
    const until = this.now + millis
    for (;;) {
      const [first] = this.live.toSorted((a, b) => endOf(a) - endOf(b))
      if (first === undefined || endOf(first) > until) break
      this.now = Math.max(this.now, endOf(first))
      this.leave(first)
    }
    this.now = until
  }
}

const endOf = ({ answeredAt, limit }: LimitedCall): number => answeredAt + limit * SECOND

describe("a shared allowance", () => {
  it.prop(
    "is never exceeded, however calls join and leave",
    [Schema.Array(Happening).check(Schema.isMaxLength(60))],
    ([happenings]) => {
      const number = new CalledNumber()
      number.allowance = InboundAllowance.purchased(number.allowance)
      for (const [n, happening] of happenings.entries()) {
        if (happening._tag === "Join") number.join(`${n}`)
        if (happening._tag === "Leave" && number.live.length > 0) {
          number.leave(number.live[happening.call % number.live.length]!)
        }
        if (happening._tag === "Pass") number.pass(happening.millis)
        if (happening._tag === "Buy") {
          number.allowance = InboundAllowance.purchased(number.allowance)
          number.share()
        }
        const promised = sum(number.live.map(({ limit }) => limit))
        assert.isAtMost(number.allowance.usedSeconds + promised, number.allowance.purchasedSeconds)
        for (const { answeredAt, limit } of number.live) {
          assert.isAtMost(InboundAllowance.secondsSince(answeredAt, moment(number.now)), limit, "and no call cut short")
        }
      }
    }
  )

  it("is not reduced for one call by another call that has ended", () => {
    const number = new CalledNumber()
    number.allowance = InboundAllowance.purchased(number.allowance)
    number.join("a")
    number.pass(100 * SECOND)
    number.join("b")
    assert.deepStrictEqual(
      number.live.map(({ limit }) => limit),
      [350, 250]
    )
    number.pass(50 * SECOND)
    number.leave(number.live[1]!)
    assert.deepStrictEqual(
      number.live.map(({ limit }) => limit),
      [550]
    )
  })
})
