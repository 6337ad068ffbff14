import { CallAdmission, CallProgress, CallReports, CallStore, CallWatch, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { answeredCall, conversation, linesOf, settle, talk } from "../support/Conversation.ts"
import { scenario } from "../support/Purchase.ts"

describe("a person who hangs up while the report of the end is lost", () => {
  const hungUp = { _tag: "Ended", ending: "completed", seconds: 3 } as const

  scenario("ends the call within seconds of its relay, with the carrier's reason and time", (host) =>
    Effect.gen(function* () {
      const { call, leave } = yield* talk(host)
      yield* Effect.forkScoped(CallWatch.run)
      yield* TestClock.adjust("3 seconds")
      const at = yield* Timestamp.now
      host.carrier.calls[0]!.report = { ...hungUp, at }
      yield* leave
      yield* TestClock.adjust("5 seconds")
      const ended = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.deepInclude(ended, { state: "ended", endReason: "completed", connectedSeconds: 3, endedAt: at })
    })
  )

  scenario("ends the call at its limit, if its server was killed, with the carrier's reason and time", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      yield* Effect.forkScoped(CallWatch.run)
      yield* TestClock.adjust("3 seconds")
      const at = yield* Timestamp.now
      host.carrier.calls[0]!.report = { ...hungUp, at }
      host.carrier.script.changeLimit = Array.from({ length: 400 }, () => "Temporary" as const)
      yield* TestClock.adjust("6 minutes")
      const ended = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.deepInclude(ended, { state: "ended", endReason: "completed", connectedSeconds: 3, endedAt: at })
    })
  )
})

describe("an agent that hangs up", () => {
  scenario("finishes speaking; then the call ends with the reason hangup_agent", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* Effect.forkScoped(CallWatch.run)
      yield* say("Bye.")
      const answer = asked(1)
      // 48 characters: 3.84 s, and 1 s until speech begins.
      answer.say("Thank you for calling, have a nice day! Goodbye.")
      answer.hangUp()
      yield* settle
      assert.isFalse(answer.isHeard)
      yield* TestClock.adjust("4800 millis")
      assert.strictEqual(heard(), "Thank you for calling, have a nice day! Goodbye.|")
      yield* TestClock.adjust("40 millis")
      assert.isTrue(heard().endsWith("|[end]"))
      yield* Fiber.join(fiber)
      yield* TestClock.adjust("5 seconds")
      const ended = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.deepInclude(ended, { state: "ended", endReason: "hangup_agent" })
    })
  )

  scenario("is heard whole by a caller who hears one word after another, however long the goodbye is", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say, spoken } = yield* talk(host)
      yield* Effect.forkScoped(CallWatch.run)
      yield* say("Bye.")
      const answer = asked(1)
      const goodbye = Array.from({ length: 40 }, (_, index) => `Step ${index}: note it down. `).join("")
      answer.say(goodbye)
      answer.hangUp()
      yield* settle
      // A slow voice: a word in 400 ms.
      const words = goodbye.trim().split(" ").length
      yield* TestClock.adjust(words * 400)
      assert.notStrictEqual(spoken.at(-1)?._tag, "End")
      assert.notInclude(host.carrier.log, `hangUp ${call.providerCallId}`)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.isTrue(heard().endsWith("|[end]"))
      assert.deepStrictEqual((yield* linesOf(call)).at(-1), `agent: ${goodbye}`)
    })
  )

  scenario(
    "stores the end of the call before its last words are heard, because a server may be killed meanwhile",
    (host) =>
      Effect.gen(function* () {
        const { asked, call, say, spoken } = yield* talk(host)
        yield* say("Bye.")
        asked(1).say("Thank you for calling, have a nice day! Goodbye.")
        asked(1).hangUp()
        yield* settle
        assert.strictEqual(spoken.at(-1)?._tag, "Say")
        const { hangUpReason, watchAt } = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
        assert.strictEqual(hangUpReason, "hangup_agent")
        // 4.84 s until the speech is heard, and 2 s for the relay to end the call.
        assert.strictEqual(watchAt, (yield* Timestamp.now) + 6_840)
        assert.strictEqual((yield* (yield* CallAdmission).resume(call.callId))._tag, "Decline")
      })
  )

  scenario("without text ends the call immediately", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* say("Bye.")
      asked(1).hangUp()
      yield* Fiber.join(fiber)
      assert.strictEqual(heard(), "[end]")
      const { hangUpReason } = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.strictEqual(hangUpReason, "hangup_agent")
    })
  )

  scenario("is not asked again, but the caller's turns are still stored", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* say("Bye.")
      asked(1).say("Goodbye.")
      asked(1).hangUp()
      yield* settle
      yield* say("Wait!")
      asked(1)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
      assert.strictEqual(heard(), "Goodbye.|[end]")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Bye.", "agent: Goodbye.", "caller: Wait!"])
    })
  )

  scenario("ends the call as soon as its speech is interrupted", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, say, spoken, tell } = yield* talk(host)
      yield* say("Bye.")
      asked(1).say("Goodbye and thanks for all the fish.")
      asked(1).hangUp()
      yield* settle
      yield* tell({ _tag: "Interrupted", spoken: "Goodbye and" })
      yield* Fiber.join(fiber)
      assert.strictEqual(spoken.at(-1)?._tag, "End")
      assert.strictEqual((yield* linesOf(call)).at(-1), "agent: Goodbye and")
    })
  )

  scenario("whose server was killed has its call ended at the carrier, after the time for its speech", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const heardAt = Timestamp.add(yield* Timestamp.now, 4_000)
      yield* (yield* CallReports).change(call.callId, (current, now) =>
        CallProgress.requestHangUp(current, "hangup_agent", now, heardAt)
      )
      yield* Effect.forkScoped(CallWatch.run)
      const line = `hangUp ${call.providerCallId}`
      yield* TestClock.adjust("5500 millis")
      assert.notInclude(host.carrier.log, line)
      yield* TestClock.adjust("2 seconds")
      assert.include(host.carrier.log, line)
    })
  )

  scenario("ends the call although its relay breaks off before", (host) =>
    Effect.gen(function* () {
      const { asked, call, leave, say } = yield* talk(host)
      yield* say("Bye.")
      asked(1).say("Goodbye and thanks for all the fish.")
      asked(1).hangUp()
      yield* settle
      yield* leave
      const { hangUpReason } = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.strictEqual(hangUpReason, "hangup_agent")
      assert.strictEqual((yield* (yield* CallAdmission).resume(call.callId))._tag, "Decline")
    })
  )
})

describe("a second relay of a call", () => {
  scenario("ends the first one, whose socket may not have noticed yet that it is gone", (host) =>
    Effect.gen(function* () {
      const first = yield* talk(host, "Good morning.")
      yield* first.say("What time is it?")
      const second = yield* conversation(host, first.call)
      yield* Fiber.join(first.fiber)
      assert.isFalse(host.carrier.agent.asked[0]!.isHeard)
      second.asked(2).say("Noon.")
      second.asked(2).end()
      yield* settle
      yield* second.say("Thank you.")
      second.asked(3)
      assert.strictEqual(first.heard(), "Good morning.|")
      assert.strictEqual(second.heard(), "Noon.|")
      const said = ["agent: Good morning.", "caller: What time is it?", "agent: Noon.", "caller: Thank you."]
      assert.deepStrictEqual(yield* linesOf(first.call), said)
      yield* second.leave
    })
  )

  scenario("of another call does not affect the first one", (host) =>
    Effect.gen(function* () {
      const first = yield* talk(host)
      const other = yield* conversation(host, { ...first.call, callId: "01900000-0000-7000-8000-00000000ca11" })
      yield* first.say("Hello?")
      assert.isTrue(first.asked(1).isHeard)
      yield* other.leave
      assert.isTrue(first.asked(1).isHeard)
    })
  )
})
