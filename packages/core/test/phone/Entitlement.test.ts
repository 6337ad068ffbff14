import { Entitlement, NumberState, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { DAY, SECOND } = Timestamp
const moment = (millis: number) => Timestamp.Timestamp.make(millis)

/** A time within one year. */
const Moment = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 365 * DAY }))
const START = moment(Date.UTC(2026, 0, 1))
const END = Timestamp.add(START, Entitlement.GRANT)
const active = { state: "active", expiresAt: END } as const

const EXPIRING_FROM = Timestamp.add(END, -5 * DAY)

describe("the status of a number", () => {
  it("changes exactly 5 days before the end and at the end", () => {
    const at = (now: number) => Entitlement.statusAt(active, moment(now))
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
        assert.strictEqual(Entitlement.statusAt(number, moment(now)), state)
        assert.isFalse(Entitlement.isUsable(number, moment(now)))
        assert.strictEqual(Entitlement.secondsRemaining(number, moment(now)), 0)
      }
    }
  })

  it.prop(
    "only moves forward, and allows use of the number until it is suspended",
    [NumberState, Moment, Schema.Array(Moment)],
    ([state, expiresAt, moments]) => {
      const number = { state, expiresAt: moment(expiresAt) }
      const statuses = moments.toSorted((a, b) => a - b).map((now) => Entitlement.statusAt(number, moment(now)))
      const ranks = statuses.map((status) => Entitlement.NumberStatus.literals.indexOf(status))
      assert.deepStrictEqual(
        ranks,
        ranks.toSorted((a, b) => a - b)
      )
      for (const now of moments) {
        const status = Entitlement.statusAt(number, moment(now))
        assert.strictEqual(Entitlement.isUsable(number, moment(now)), status === "active" || status === "expiring")
      }
    }
  )

  it.prop(
    "counts the whole seconds that are left of the entitlement, and never fewer than 0",
    [Moment, Moment],
    ([now, expiresAt]) => {
      const number = { state: "active", expiresAt: moment(expiresAt) } as const
      const seconds = Entitlement.secondsRemaining(number, moment(now))
      const left = Math.max(0, expiresAt - now)
      assert.isAtMost(seconds * SECOND, left)
      assert.isAbove((seconds + 1) * SECOND, left)
    }
  )

  it("allows a use that lasts until exactly the end", () => {
    const lasts = (millis: number) => Entitlement.outlasts(active, START, millis)
    assert.deepStrictEqual([0, Entitlement.GRANT, Entitlement.GRANT + 1].map(lasts), [true, true, false])
  })

  it.prop(
    "allows a use that lasts until the end, and no longer one",
    [Moment, Moment, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * DAY }))],
    ([now, expiresAt, millis]) => {
      const number = { state: "active", expiresAt: moment(expiresAt) } as const
      const isUsableThroughout = Entitlement.isUsable(number, moment(now + millis - 1))
      assert.strictEqual(Entitlement.outlasts(number, moment(now), millis), isUsableThroughout)
    }
  )
})

/** The events of a number: time passes and the job runs, or its tenant renews it. */
const Happening = Schema.Union([
  Schema.TaggedStruct("Look", { days: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })) }),
  Schema.TaggedStruct("Look", { days: Schema.Literals([1, 2]) }),
  Schema.TaggedStruct("Renew", {})
])

describe("the notices of a number's end", () => {
  it("are due 5, 3 and 1 days before it, to the millisecond", () => {
    const { due: notices, next } = Entitlement.noticesDue(END, Entitlement.firstNotice(END), END)
    assert.isNull(next)
    assert.deepStrictEqual(
      notices,
      ([5, 3, 1] as const).map((daysBefore) => ({ daysBefore, at: Timestamp.add(END, -daysBefore * DAY) }))
    )
    assert.strictEqual(Entitlement.statusAt(active, notices[0]!.at), "expiring", "the first as it begins to expire")
  })

  it.prop(
    "are sent in order, once for each end, none before it is due, and all by the end, however late the job runs",
    [Schema.Array(Happening).check(Schema.isMaxLength(30))],
    ([happenings]) => {
      let now: number = START
      let expiresAt: Timestamp.Timestamp = END
      let next: Entitlement.Notice | null = Entitlement.firstNotice(expiresAt)
      const given = new Map<number, Array<number>>()
      for (const happening of happenings) {
        if (happening._tag === "Renew") {
          if (!Entitlement.isUsable({ state: "active", expiresAt }, moment(now))) continue
          expiresAt = Timestamp.add(expiresAt, Entitlement.GRANT)
          next = Entitlement.firstNotice(expiresAt)
          assert.isAbove(next.at, now - 5 * DAY)
          continue
        }
        now += happening.days * DAY
        const owed: ReturnType<typeof Entitlement.noticesDue> = Entitlement.noticesDue(expiresAt, next, moment(now))
        for (const notice of owed.due) assert.strictEqual(notice.at, expiresAt - notice.daysBefore * DAY)
        const told = owed.due.map(({ daysBefore }) => daysBefore)
        given.set(expiresAt, [...(given.get(expiresAt) ?? []), ...told])
        next = owed.next
        if (next !== null) assert.isAbove(next.at, now)
        const due = Entitlement.NOTICE_DAYS.filter((days) => expiresAt - days * DAY <= now)
        assert.deepStrictEqual(given.get(expiresAt) ?? [], due, "exactly what is due by now")
      }
      for (const days of given.values()) {
        assert.deepStrictEqual(days, Entitlement.NOTICE_DAYS.slice(0, days.length), "in order, and once each")
      }
    }
  )
})
