import { Allowance, NumberState, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { DAY, SECOND } = Timestamp
const moment = (millis: number) => Timestamp.Timestamp.make(millis)

/** A time within one year. */
const Moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 365 * DAY }))
const START = moment(Date.UTC(2026, 0, 1))
const END = Timestamp.add(START, Allowance.ENTITLEMENT)
const active = { state: "active", expiresAt: END } as const

const EXPIRING_FROM = Timestamp.add(END, -5 * DAY)

describe("the status of a number", () => {
  it("changes exactly 5 days before the end and at the end", () => {
    const at = (now: number) => Allowance.statusAt(active, moment(now))
    assert.deepStrictEqual([START, EXPIRING_FROM - 1, EXPIRING_FROM, END - 1, END, END + 365 * DAY].map(at), [
      "active",
      "active",
      "expiring",
      "expiring",
      "suspended",
      "suspended"
    ])
  })

  it("is its state once that is no longer active, at any time", () => {
    for (const state of ["suspended", "released"] as const) {
      for (const now of [START, EXPIRING_FROM, END - 1, END]) {
        const number = { state, expiresAt: END }
        assert.strictEqual(Allowance.statusAt(number, moment(now)), state)
        assert.isFalse(Allowance.isUsable(number, moment(now)))
        assert.strictEqual(Allowance.secondsRemaining(number, moment(now)), 0)
      }
    }
  })

  it.prop(
    "only moves forward, and allows use of the number until it is suspended",
    [NumberState, Moment, Schema.Array(Moment)],
    ([state, expiresAt, moments]) => {
      const number = { state, expiresAt: moment(expiresAt) }
      const statuses = moments.toSorted((a, b) => a - b).map((now) => Allowance.statusAt(number, moment(now)))
      const ranks = statuses.map((status) => Allowance.NumberStatus.literals.indexOf(status))
      assert.deepStrictEqual(
        ranks,
        ranks.toSorted((a, b) => a - b)
      )
      for (const now of moments) {
        const status = Allowance.statusAt(number, moment(now))
        assert.strictEqual(Allowance.isUsable(number, moment(now)), status === "active" || status === "expiring")
      }
    }
  )

  it.prop(
    "counts the whole seconds that are left of the entitlement, and never fewer than 0",
    [Moment, Moment],
    ([now, expiresAt]) => {
      const number = { state: "active", expiresAt: moment(expiresAt) } as const
      const seconds = Allowance.secondsRemaining(number, moment(now))
      const left = Math.max(0, expiresAt - now)
      assert.isAtMost(seconds * SECOND, left)
      assert.isAbove((seconds + 1) * SECOND, left)
    }
  )

  it("allows a use that lasts until exactly the end", () => {
    const lasts = (millis: number) => Allowance.lasts(active, START, millis / SECOND)
    assert.deepStrictEqual([0, Allowance.ENTITLEMENT, Allowance.ENTITLEMENT + 1].map(lasts), [true, true, false])
  })

  it.prop(
    "allows a use that lasts until the end, and no longer one",
    [Moment, Moment, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * DAY }))],
    ([now, expiresAt, millis]) => {
      const number = { state: "active", expiresAt: moment(expiresAt) } as const
      const isUsableThroughout = Allowance.isUsable(number, moment(now + millis - 1))
      assert.strictEqual(Allowance.lasts(number, moment(now), millis / SECOND), isUsableThroughout)
    }
  )
})

/** The events of a number: time passes and the job runs, or its tenant renews it. */
const NumberEvent = Schema.Union([
  Schema.TaggedStruct("Look", { days: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })) }),
  Schema.TaggedStruct("Look", { days: Schema.Literals([1, 2]) }),
  Schema.TaggedStruct("Renew", {})
])

describe("the notices of a number's end", () => {
  it("are due 5, 3 and 1 days before it, to the millisecond", () => {
    const { due: notices, next } = Allowance.noticesDue(END, Allowance.firstNotice(END), END)
    assert.isNull(next)
    assert.deepStrictEqual(
      notices,
      ([5, 3, 1] as const).map((daysBefore) => ({ daysBefore, at: Timestamp.add(END, -daysBefore * DAY) }))
    )
    assert.strictEqual(Allowance.statusAt(active, notices[0]!.at), "expiring", "the first as it begins to expire")
  })

  it.prop(
    "are sent in order, once for each end, none before it is due, and all by the end, however late the job runs",
    [Schema.Array(NumberEvent).check(Schema.isMaxLength(30))],
    ([events]) => {
      let now: number = START
      let expiresAt: Timestamp.Timestamp = END
      let next: Allowance.Notice | null = Allowance.firstNotice(expiresAt)
      const given = new Map<number, Array<number>>()
      for (const event of events) {
        if (event._tag === "Renew") {
          if (!Allowance.isUsable({ state: "active", expiresAt }, moment(now))) continue
          expiresAt = Timestamp.add(expiresAt, Allowance.ENTITLEMENT)
          next = Allowance.firstNotice(expiresAt)
          assert.isAbove(next.at, now - 5 * DAY)
          continue
        }
        now += event.days * DAY
        const owed: ReturnType<typeof Allowance.noticesDue> = Allowance.noticesDue(expiresAt, next, moment(now))
        for (const notice of owed.due) assert.strictEqual(notice.at, expiresAt - notice.daysBefore * DAY)
        const told = owed.due.map(({ daysBefore }) => daysBefore)
        given.set(expiresAt, [...(given.get(expiresAt) ?? []), ...told])
        next = owed.next
        if (next !== null) assert.isAbove(next.at, now)
        const due = Allowance.NOTICE_DAYS.filter((days) => expiresAt - days * DAY <= now)
        assert.deepStrictEqual(given.get(expiresAt) ?? [], due, "exactly the notices that are due by now")
      }
      for (const days of given.values()) {
        assert.deepStrictEqual(days, Allowance.NOTICE_DAYS.slice(0, days.length), "in order, and once each")
      }
    }
  )
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const NOW = moment(1_000_000 * SECOND)
const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0)

/** Calls that were answered these numbers of milliseconds ago. */
const liveSince = (ages: ReadonlyArray<number>): ReadonlyArray<Allowance.LiveCall> =>
  ages.map((age, n) => ({
    callId: `${n}`,
    answeredAt: moment(NOW - age),
    authorizedSeconds: Allowance.secondsSince(moment(NOW - age), NOW),
    extendedSeconds: 0
  }))

const Inbound = Schema.Struct({ purchasedSeconds: between(0, 6_000), usedSeconds: between(0, 6_000) })
const Ages = Schema.Array(between(0, 900 * SECOND)).check(Schema.isMaxLength(8))

describe("the remaining allowance", () => {
  it("grows by 600 seconds with each purchase, shrinks with use, and is never negative", () => {
    const bought = Allowance.extendInbound(Allowance.NO_INBOUND)
    assert.strictEqual(Allowance.remaining(Allowance.NO_INBOUND), 0)
    assert.strictEqual(Allowance.remaining(bought), 600)
    assert.strictEqual(Allowance.remaining(Allowance.consume(bought, 61)), 539)
    assert.strictEqual(Allowance.remaining(Allowance.consume(bought, 601)), 0)
  })

  it("counts the seconds since the answer, rounded up", () => {
    const after = (millis: number) => Allowance.secondsSince(NOW, moment(NOW + millis))
    assert.deepStrictEqual([-5, 0, 1, 999, 1_000, 1_001, 60_000].map(after), [0, 0, 1, 1, 1, 2, 60])
  })
})

describe("the limits of live calls", () => {
  it("add equal shares of the remaining allowance to the used seconds", () => {
    const allowance = { purchasedSeconds: 600, usedSeconds: 100 }
    const limits = (ages: ReadonlyArray<number>) => [...Allowance.reserve(allowance, liveSince(ages), NOW).values()]
    assert.deepStrictEqual(limits([]), [])
    assert.deepStrictEqual(limits([0]), [500])
    assert.deepStrictEqual(limits([40 * SECOND]), [500])
    assert.deepStrictEqual(limits([100 * SECOND, 0]), [300, 200])
    assert.deepStrictEqual(limits([100 * SECOND, 50 * SECOND, 0]), [216, 166, 116])
  })

  it.prop(
    "give each call an equal share, and all calls together no more than the allowance",
    [Inbound, Ages],
    ([allowance, ages]) => {
      const limits = Allowance.reserve(allowance, liveSince(ages), NOW)
      assert.strictEqual(limits.size, ages.length)
      const left = Math.max(0, Allowance.remaining(allowance) * SECOND - sum(ages))
      const share = left / ages.length
      for (const [n, age] of ages.entries()) {
        const limit = limits.get(`${n}`)! * SECOND
        if (share < SECOND) {
          assert.isAtLeast(limit, age)
          assert.isBelow(limit, age + SECOND, "the second that has begun")
        } else {
          assert.isAtMost(limit, age + share)
          assert.isAbove(limit, age + share - SECOND)
        }
      }
    }
  )

  it.prop(
    "stay as they are while the calls last",
    [Inbound, Ages, between(0, 6_000 * SECOND)],
    ([allowance, ages, millis]) => {
      const limits = Allowance.reserve(allowance, liveSince(ages), NOW)
      const live = liveSince(ages).map((call) => ({ ...call, authorizedSeconds: limits.get(call.callId)! }))
      const passed = Math.min(millis, ...live.map((call) => Math.max(0, endOf(call) - NOW)))
      assert.deepStrictEqual(Allowance.reserve(allowance, live, moment(NOW + passed)), limits)
    }
  )

  it.prop(
    "are the same by the clock of another server",
    [Inbound, Ages, between(-5 * SECOND, 5 * SECOND)],
    ([allowance, ages, difference]) => {
      const left = Allowance.remaining(allowance) * SECOND - sum(ages)
      // While a call can join, so that each has a second.
      if (left < (ages.length + 1) * SECOND + ages.length * Math.max(0, difference)) return
      const limits = Allowance.reserve(allowance, liveSince(ages), NOW)
      assert.deepStrictEqual(Allowance.reserve(allowance, liveSince(ages), moment(NOW + difference)), limits)
    }
  )

  it("are never less than a second", () => {
    assert.strictEqual(Allowance.limitOf({ answeredAt: NOW, authorizedSeconds: 1 }, 0, NOW), 1)
  })

  it.prop("do not depend on the order of the calls", [Inbound, Ages], ([allowance, ages]) => {
    const live = liveSince(ages)
    const reversed = Allowance.reserve(allowance, live.toReversed(), NOW)
    for (const [callId, limit] of Allowance.reserve(allowance, live, NOW)) {
      assert.strictEqual(reversed.get(callId), limit)
    }
  })
})

/** The events of a number that receives calls. `Pass` advances the time by milliseconds. */
const CallEvent = Schema.Union([
  Schema.TaggedStruct("Join", {}),
  Schema.TaggedStruct("Leave", { call: between(0, 5) }),
  Schema.TaggedStruct("Pass", { millis: between(0, 5 * SECOND) }),
  Schema.TaggedStruct("Pass", { millis: between(0, 400 * SECOND) }),
  Schema.TaggedStruct("Buy", {}),
  Schema.TaggedStruct("Extend", { call: between(0, 5) })
])

/** A number whose carrier ends each call exactly at its limit. */
class CalledNumber {
  now: number = NOW
  allowance = Allowance.NO_INBOUND
  live: ReadonlyArray<Allowance.LiveCall> = []

  share(): void {
    const limits = Allowance.reserve(this.allowance, this.live, moment(this.now))
    this.live = this.live.map((call) => ({ ...call, authorizedSeconds: limits.get(call.callId)! }))
  }

  join(callId: string): void {
    const call = { callId, answeredAt: moment(this.now), authorizedSeconds: 0, extendedSeconds: 0 }
    const limits = Allowance.reserve(this.allowance, [...this.live, call], moment(this.now))
    if (limits.get(callId)! < 1) return
    this.live = [...this.live, call]
    this.share()
  }

  extend(extended: Allowance.LiveCall): void {
    this.live = this.live.map((call) =>
      call === extended
        ? {
            ...call,
            authorizedSeconds: call.authorizedSeconds + Allowance.EXTENSION_SECONDS,
            extendedSeconds: call.extendedSeconds + Allowance.EXTENSION_SECONDS
          }
        : call
    )
  }

  leave(call: Allowance.LiveCall): void {
    const seconds = Math.min(call.authorizedSeconds, Allowance.secondsSince(call.answeredAt, moment(this.now)))
    this.live = this.live.filter((other) => other !== call)
    this.allowance = Allowance.consume(this.allowance, Allowance.allowanceSeconds(call, seconds))
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

const endOf = ({ answeredAt, authorizedSeconds }: Allowance.LiveCall): number => answeredAt + authorizedSeconds * SECOND

const extensionsOf = ({ live }: CalledNumber): number => sum(live.map(({ extendedSeconds }) => extendedSeconds))
const limitsOf = ({ live }: CalledNumber) => live.map(({ authorizedSeconds }) => authorizedSeconds)

describe("a shared allowance", () => {
  it.prop(
    "is never exceeded, and each extension adds exactly 60 s to its call, however calls join and leave",
    [Schema.Array(CallEvent).check(Schema.isMaxLength(60))],
    ([events]) => {
      const number = new CalledNumber()
      number.allowance = Allowance.extendInbound(number.allowance)
      for (const [n, event] of events.entries()) {
        const known = number.live
        if (event._tag === "Join") number.join(`${n}`)
        if (event._tag === "Leave" && number.live.length > 0) {
          number.leave(number.live[event.call % number.live.length]!)
        }
        if (event._tag === "Pass") number.pass(event.millis)
        if (event._tag === "Buy") {
          number.allowance = Allowance.extendInbound(number.allowance)
          number.share()
        }
        if (event._tag === "Extend" && number.live.length > 0) {
          const before = limitsOf(number)
          const extended = event.call % number.live.length
          number.extend(number.live[extended]!)
          const after = before.map((limit, index) => (index === extended ? limit + 60 : limit))
          assert.deepStrictEqual(limitsOf(number), after)
          number.share()
          assert.deepStrictEqual(limitsOf(number), after, "a reservation leaves the extension to its one call")
        }
        if (event._tag !== "Join") {
          number.share()
          for (const { authorizedSeconds, callId } of number.live) {
            const before = known.find((call) => call.callId === callId)!.authorizedSeconds
            assert.isAtLeast(authorizedSeconds, before, "only a call that joins takes seconds from others")
          }
        }
        const promised = sum(limitsOf(number)) - extensionsOf(number)
        assert.isAtMost(number.allowance.usedSeconds + promised, number.allowance.purchasedSeconds)
        for (const { answeredAt, authorizedSeconds } of number.live) {
          const seconds = Allowance.secondsSince(answeredAt, moment(number.now))
          assert.isAtMost(seconds, authorizedSeconds, "and no call cut short")
        }
      }
    }
  )

  it("is not reduced for one call by another call that has ended", () => {
    const number = new CalledNumber()
    number.allowance = Allowance.extendInbound(number.allowance)
    number.join("a")
    number.pass(100 * SECOND)
    number.join("b")
    assert.deepStrictEqual(limitsOf(number), [350, 250])
    number.pass(50 * SECOND)
    number.leave(number.live[1]!)
    assert.deepStrictEqual(limitsOf(number), [550])
  })

  it("pays for an extended call up to its share, and not for the seconds of the extension", () => {
    const number = new CalledNumber()
    number.allowance = Allowance.extendInbound(number.allowance)
    number.join("a")
    number.extend(number.live[0]!)
    number.pass(300 * SECOND)
    number.join("b")
    assert.deepStrictEqual(limitsOf(number), [510, 150], "300 used, 150 shared, and 60 of the extension for one alone")
    number.pass(100 * SECOND)
    number.leave(number.live[1]!)
    assert.deepStrictEqual(limitsOf(number), [560])
    number.pass(200 * SECOND)
    assert.deepStrictEqual(number.live, [])
    assert.deepStrictEqual(number.allowance, { purchasedSeconds: 600, usedSeconds: 600 })
  })

  it("keeps the seconds of an extension for its call while nothing of the allowance is left", () => {
    const number = new CalledNumber()
    number.allowance = Allowance.extendInbound(number.allowance)
    number.join("a")
    number.extend(number.live[0]!)
    number.pass(630 * SECOND)
    number.join("b")
    assert.lengthOf(number.live, 1, "the other is declined")
    number.allowance = Allowance.extendInbound(number.allowance)
    number.share()
    assert.deepStrictEqual(limitsOf(number), [1_260], "new minutes come before what is left of the extension")
  })
})
