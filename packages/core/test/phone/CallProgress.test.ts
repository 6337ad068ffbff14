import { Allowance, type Call, CallProgress, CallState, HangUpReason, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const { SECOND } = Timestamp
const moment = (millis: number) => Timestamp.Timestamp.make(millis)
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const START = moment(1_000_000 * SECOND)
const after = (seconds: number) => Timestamp.add(START, seconds * SECOND)
const LIMIT = 60

/** A new outbound call. */
const begun: Call = {
  callId: "01900000-0000-7000-8000-000000000001",
  tenantId: "01900000-0000-7000-8000-000000000002",
  phoneNumberId: "01900000-0000-7000-8000-000000000003",
  agentId: "01900000-0000-7000-8000-000000000004",
  direction: "outbound",
  fromNumber: "+14155550100",
  toNumber: "+14155550150",
  state: "queued",
  providerCallId: null,
  greeting: null,
  authorizedSeconds: LIMIT,
  extendedSeconds: 0,
  hangUpReason: null,
  answeredBy: null,
  endReason: null,
  connectedSeconds: 0,
  watchAt: CallProgress.firstWatch(START),
  createdAt: START,
  answeredAt: null,
  endedAt: null
}

const answeredAt = (at: Timestamp.Timestamp): CallProgress.CallReport => ({ _tag: "Answered", at })
const endedAt = (
  at: Timestamp.Timestamp,
  ending: CallProgress.Ending = "completed",
  seconds: number | null = null
): CallProgress.CallReport => ({ _tag: "Ended", at, ending, seconds })
const RINGING: CallProgress.CallReport = { _tag: "Ringing" }

const applyAll = (call: Call, reports: ReadonlyArray<CallProgress.CallReport>): Call =>
  reports.reduce(CallProgress.apply, call)

const answered = CallProgress.apply(begun, answeredAt(after(5)))

describe("a call that receives reports", () => {
  it("was answered by who the carrier recognizes first, also before its answer is reported", () => {
    const early = CallProgress.apply(begun, { _tag: "Recognized", answeredBy: "machine" })
    assert.deepStrictEqual(early, { ...begun, answeredBy: "machine" })
    assert.strictEqual(CallProgress.apply(early, { _tag: "Recognized", answeredBy: "person" }), early)
    assert.deepInclude(CallProgress.apply(early, answeredAt(after(5))), {
      state: "in_progress",
      answeredBy: "machine"
    })
    const inbound: Call = { ...begun, direction: "inbound" }
    assert.strictEqual(CallProgress.apply(inbound, { _tag: "Recognized", answeredBy: "fax" }), inbound)
    const end: CallProgress.CallReport = {
      _tag: "Ended",
      at: after(9),
      ending: "completed",
      seconds: 4,
      answeredBy: "fax"
    }
    assert.deepInclude(CallProgress.apply(begun, end), { state: "ended", answeredBy: "fax" })
    assert.deepInclude(CallProgress.apply(early, end), { state: "ended", answeredBy: "machine" })
  })

  it("lets the last words of its agent be heard, if its answer is reported while they are spoken", () => {
    const said = CallProgress.requestHangUp(begun, "hangup_agent", after(6), after(20))
    const late = CallProgress.apply(said, answeredAt(after(7)))
    assert.deepInclude(late, { state: "in_progress", hangUpReason: "hangup_agent", watchAt: after(22) })
  })

  it("rings, is answered and ends", () => {
    const ringing = CallProgress.apply(begun, RINGING)
    assert.deepStrictEqual(ringing, { ...begun, state: "ringing" })
    const talking = CallProgress.apply(ringing, answeredAt(after(5)))
    assert.deepStrictEqual(talking, {
      ...begun,
      state: "in_progress",
      answeredAt: after(5),
      watchAt: after(25)
    })
    assert.deepStrictEqual(CallProgress.apply(talking, endedAt(after(17.4))), {
      ...talking,
      state: "ended",
      endReason: "completed",
      connectedSeconds: 13,
      watchAt: null,
      endedAt: after(17.4)
    })
  })

  it("stays the same object when a report contains nothing new", () => {
    const ended = CallProgress.apply(answered, endedAt(after(9)))
    for (const call of [answered, ended]) {
      assert.strictEqual(CallProgress.apply(call, RINGING), call)
      assert.strictEqual(CallProgress.apply(call, answeredAt(after(8))), call)
    }
    assert.strictEqual(CallProgress.apply(ended, endedAt(after(10), "failed", 3)), ended)
    assert.strictEqual(CallProgress.setLimit(ended, 600, after(10)), ended)
    assert.strictEqual(CallProgress.requestHangUp(ended, "time_limit", after(10)), ended)
  })

  it("ends with the reason of highest precedence", () => {
    const reasonOf = (call: Call, ending: CallProgress.Ending, seconds: number | null = null) =>
      CallProgress.apply(call, endedAt(after(1_000), ending, seconds)).endReason
    const inbound: Call = { ...answered, direction: "inbound" }
    const hungUp = (why: HangUpReason) => CallProgress.requestHangUp(answered, why, after(7))

    for (const ending of ["busy", "no_answer", "failed"] as const) assert.strictEqual(reasonOf(begun, ending), ending)
    assert.strictEqual(reasonOf(begun, "completed"), "completed")
    assert.strictEqual(reasonOf(answered, "failed", 3), "failed")
    assert.strictEqual(reasonOf(answered, "completed", LIMIT - 1), "completed")
    assert.strictEqual(reasonOf(answered, "completed", LIMIT), "time_limit")
    assert.strictEqual(reasonOf(answered, "completed"), "time_limit")
    assert.strictEqual(reasonOf(inbound, "completed", LIMIT), "allowance_exhausted")
    assert.strictEqual(reasonOf(inbound, "completed", LIMIT - 1), "completed")
    for (const why of HangUpReason.literals) {
      assert.strictEqual(reasonOf(hungUp(why), "completed", 3), why)
      assert.strictEqual(reasonOf(hungUp(why), "completed"), why)
      assert.strictEqual(reasonOf(hungUp(why), "failed"), "failed")
    }
    assert.strictEqual(
      reasonOf(CallProgress.requestHangUp(hungUp("hangup_agent"), "time_limit", after(8)), "completed"),
      "hangup_agent"
    )
  })

  it("counts as answered if its length shows it, although the answer was never reported", () => {
    assert.deepInclude(CallProgress.apply(begun, endedAt(after(30), "completed", 12)), {
      answeredAt: after(18),
      connectedSeconds: 12,
      endedAt: after(30)
    })
    assert.deepInclude(CallProgress.apply(begun, endedAt(after(3), "completed", 50)), {
      answeredAt: START,
      connectedSeconds: 50
    })
    for (const report of [endedAt(after(30)), endedAt(after(30), "completed", 0), endedAt(after(30), "busy", 12)]) {
      assert.deepInclude(CallProgress.apply(begun, report), { answeredAt: null, connectedSeconds: 0 })
    }
  })

  it("is polled at its deadline, every 20 s before, every ten seconds while it rings, and 2 s after the request to end it", () => {
    const long = { ...answered, authorizedSeconds: 300 }
    assert.strictEqual(answered.watchAt, after(25))
    assert.strictEqual(CallProgress.nextWatch(long, after(10)), after(30))
    assert.strictEqual(CallProgress.nextWatch(long, after(70)), after(90))
    assert.strictEqual(CallProgress.nextWatch(long, after(290)), after(305))
    assert.strictEqual(CallProgress.nextWatch(long, after(400)), after(400))
    assert.isAtMost(CallProgress.setLimit(long, 20, after(12)).watchAt!, after(25))
    assert.strictEqual(CallProgress.requestHangUp(long, "hangup_agent", after(12)).watchAt, after(14))
    assert.strictEqual(CallProgress.nextWatch(begun, after(60)), after(70))
  })

  it("is polled 3 s after its relay has ended, unless it is due earlier or has ended", () => {
    const long = { ...answered, authorizedSeconds: 300 }
    assert.strictEqual(CallProgress.relayEnded(long, after(20)).watchAt, after(23))
    const due = { ...long, watchAt: after(21) }
    assert.strictEqual(CallProgress.relayEnded(due, after(20)), due)
    const over = CallProgress.apply(long, endedAt(after(30)))
    assert.strictEqual(CallProgress.relayEnded(over, after(31)), over)
  })
})

describe("a call that is being ended", () => {
  const long = { ...answered, authorizedSeconds: 300 }
  const leaving = CallProgress.requestHangUp(long, "hangup_agent", after(10), after(30))

  it("is polled 2 s after its speech has been heard, or earlier if it must end earlier", () => {
    assert.deepInclude(leaving, { hangUpReason: "hangup_agent", watchAt: after(32) })
    assert.strictEqual(CallProgress.requestHangUp(leaving, "time_limit", after(11), after(31)), leaving)
    const sooner = CallProgress.requestHangUp(leaving, "time_limit", after(12))
    assert.deepInclude(sooner, { hangUpReason: "hangup_agent", watchAt: after(14) })
    assert.strictEqual(CallProgress.requestHangUp(sooner, "hangup_agent", after(12), after(30)), sooner)
  })

  it("is polled no later than at its limit", () => {
    const short = { ...answered, authorizedSeconds: 20 }
    assert.strictEqual(CallProgress.requestHangUp(short, "hangup_agent", after(10), after(60)).watchAt, after(25))
    assert.strictEqual(CallProgress.requestHangUp(short, "hangup_agent", after(40)).watchAt, after(40))
  })

  it("is polled every 2 s until the carrier reports its end, and at its limit", () => {
    const short = CallProgress.requestHangUp({ ...answered, authorizedSeconds: 20 }, "hangup_agent", after(10))
    assert.strictEqual(CallProgress.nextWatch(short, after(12)), after(14))
    assert.strictEqual(CallProgress.nextWatch(short, after(24)), after(25))
    assert.strictEqual(CallProgress.nextWatch(short, after(25)), after(27))
    assert.strictEqual(CallProgress.nextWatch(short, after(26)), after(28))
  })

  it("keeps the time for its last speech when its limit changes meanwhile", () => {
    assert.deepInclude(CallProgress.setLimit(leaving, 200, after(12)), { authorizedSeconds: 200, watchAt: after(32) })
    assert.deepInclude(CallProgress.setLimit(leaving, 20, after(12)), { authorizedSeconds: 20, watchAt: after(25) })
    assert.deepInclude(CallProgress.setLimit(leaving, 3, after(12)), { authorizedSeconds: 3, watchAt: after(12) })
  })
})

/**
 * The events that may happen to a call. Each comes `later` milliseconds after the previous one, or before it, because
 * the clocks of servers differ.
 */
const Happening = Schema.Union([
  Schema.TaggedStruct("Ringing", {}),
  Schema.TaggedStruct("Answered", {}),
  Schema.TaggedStruct("Ended", {
    ending: Schema.Literals(["completed", "busy", "no_answer", "failed"]),
    seconds: Schema.NullOr(between(0, 400))
  }),
  Schema.TaggedStruct("HangUp", { why: HangUpReason, goodbye: between(0, 50 * SECOND) }),
  Schema.TaggedStruct("Limit", { seconds: between(0, 400) }),
  Schema.TaggedStruct("Look", {})
])
type Happening = typeof Happening.Type

const happen = (call: Call, happening: Happening, now: Timestamp.Timestamp): Call => {
  switch (happening._tag) {
    case "Ringing":
      return CallProgress.apply(call, happening)
    case "Answered":
      return CallProgress.apply(call, answeredAt(now))
    case "Ended":
      return CallProgress.apply(call, endedAt(now, happening.ending, happening.seconds))
    case "HangUp":
      return CallProgress.requestHangUp(call, happening.why, now, Timestamp.add(now, happening.goodbye))
    case "Limit":
      return CallProgress.setLimit(call, happening.seconds, now)
    case "Look":
      return { ...call, watchAt: CallProgress.nextWatch(call, now) }
  }
}

/** Asserts the invariants of every call. */
const assertSound = (call: Call): void => {
  const isEnded = call.state === "ended"
  assert.deepStrictEqual(
    [call.watchAt === null, call.endedAt !== null, call.endReason !== null],
    [isEnded, isEnded, isEnded]
  )
  if (call.state !== "ended") assert.strictEqual(call.answeredAt !== null, call.state === "in_progress")
  assert.isAtLeast(call.connectedSeconds, 0)
  assert.isAtMost(call.connectedSeconds, isEnded && call.answeredAt !== null ? call.authorizedSeconds : 0)
  assert.isAtLeast(call.answeredAt ?? call.createdAt, call.createdAt)
  if (call.endedAt !== null) assert.isAtLeast(call.endedAt, call.answeredAt ?? call.createdAt)
}

/** Asserts the invariants of every change of a call. */
const assertForward = (before: Call, next: Call): void => {
  assert.isAtLeast(CallState.literals.indexOf(next.state), CallState.literals.indexOf(before.state))
  if (before.state === "ended") assert.deepStrictEqual(next, before)
  if (before.answeredAt !== null) assert.strictEqual(next.answeredAt, before.answeredAt)
  if (before.hangUpReason !== null) assert.strictEqual(next.hangUpReason, before.hangUpReason)
  if (next.state !== "ended" && next.state !== "in_progress") {
    assert.strictEqual(next.authorizedSeconds, before.authorizedSeconds, "only an answered call has its limit changed")
  }
}

const Direction = Schema.Literals(["inbound", "outbound"])
const History = Schema.Array(Schema.Struct({ what: Happening, later: between(-2 * SECOND, 90 * SECOND) })).check(
  Schema.isMaxLength(25)
)

describe("any sequence of events of a call", () => {
  it.prop("keeps its invariants and only moves it forward", [Direction, History], ([direction, history]) => {
    let call: Call = { ...begun, direction }
    let now: number = START
    for (const { later, what } of history) {
      now = Math.max(0, now + later)
      const next = happen(call, what, moment(now))
      assertSound(next)
      assertForward(call, next)
      call = next
    }
  })

  it.prop("leaves it polled no later than at its deadline", [Direction, History], ([direction, history]) => {
    let call: Call = { ...begun, direction }
    let now: number = START
    let again = 0
    for (const { later, what } of history) {
      now += Math.max(0, later)
      call = happen(call, what, moment(now))
      if (call.watchAt === null) continue
      const deadline = Allowance.deadlineOf(call)
      if (call.hangUpReason !== null) assert.isAtMost(call.watchAt, now + 60 * SECOND)
      if (deadline === null) continue
      // A call that was polled after its deadline is polled again 2 s later, whatever else is reported about it.
      if (call.hangUpReason !== null && what._tag === "Look" && now >= deadline) again = now + 2 * SECOND
      assert.isAtMost(call.watchAt, Math.max(deadline, now, again))
    }
  })
})

/**
 * The facts of an answered call: when it was answered, how long it lasted, and which reports about it arrived how
 * often.
 */
const Facts = Schema.Struct({
  direction: Direction,
  answeredAfter: between(0, 40 * SECOND),
  lasted: between(1, 100 * SECOND),
  limit: between(1, 90),
  hangUpReason: Schema.NullOr(HangUpReason),
  told: Schema.Array(Schema.Literals(["ringing", "answered", "ended"])).check(Schema.isMaxLength(8))
})

describe("the order of reports", () => {
  it.prop("changes nothing if the report of the end contains the length of the call", [Facts], ([facts]) => {
    const { answeredAfter, direction, hangUpReason, lasted, limit, told } = facts
    const call: Call = { ...begun, direction, authorizedSeconds: limit, hangUpReason }
    const answer = moment(START + answeredAfter)
    const end = moment(answer + lasted)
    const reports = {
      ringing: RINGING,
      answered: answeredAt(answer),
      ended: endedAt(end, "completed", Math.ceil(lasted / SECOND))
    }
    const usual = applyAll(call, [reports.ringing, reports.answered, reports.ended])
    const { answeredAt: estimated, ...ended } = applyAll(call, [...told.map((what) => reports[what]), reports.ended])
    const { answeredAt: known, ...expected } = usual
    assert.deepStrictEqual(ended, expected)
    assert.isAtMost(Math.abs(known! - estimated!), SECOND, "the answer is known, or follows from the length")
  })

  it.prop(
    "changes nothing as long as the end comes last, and no report after the end changes anything",
    [Facts, Schema.Literals(["completed", "busy", "no_answer", "failed"]), Schema.Boolean],
    ([facts, ending, isAnswered]) => {
      const call: Call = { ...begun, direction: facts.direction, authorizedSeconds: facts.limit }
      const answer = moment(START + facts.answeredAfter)
      const end = endedAt(moment(answer + facts.lasted), ending)
      const reports = { ringing: RINGING, answered: isAnswered ? answeredAt(answer) : RINGING }
      const before = facts.told.flatMap((what) => (what === "ended" ? [] : [reports[what]]))
      const usual = applyAll(call, isAnswered ? [RINGING, answeredAt(answer), end] : [RINGING, end])
      assert.deepStrictEqual(applyAll(call, [...before, reports.answered, end]), usual)
      assert.deepStrictEqual(applyAll(usual, [...before, end]), usual)
    }
  )
})
