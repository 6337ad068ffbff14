import { CallReports, CallStore, Timestamp, VoiceConversations } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { answeredCall, conversation, linesOf, settle, talk } from "../support/Conversation.ts"
import { PERSON, WEBHOOK } from "../support/PhonePurchase.ts"
import { scenario } from "../support/Purchase.ts"

describe("a relay's token", () => {
  scenario("admits to its call once, and no other token does", () =>
    Effect.gen(function* () {
      const { call, token } = yield* answeredCall()
      const { admit } = yield* VoiceConversations
      assert.isTrue(Option.isNone(yield* admit(Redacted.make("another"))))
      assert.strictEqual(Option.getOrThrow(yield* admit(token)).callId, call.callId)
      assert.isTrue(Option.isNone(yield* admit(token)))
    })
  )

  scenario("does not admit to a call that has ended", () =>
    Effect.gen(function* () {
      const { call, token } = yield* answeredCall()
      const at = yield* Timestamp.now
      yield* (yield* CallReports).apply(call.callId, { _tag: "Ended", at, ending: "completed", seconds: 1 })
      assert.isTrue(Option.isNone(yield* (yield* VoiceConversations).admit(token)))
    })
  )
})

describe("a relay of a call that another server has by a newer relay", () => {
  scenario("asks no agent and speaks no more, and ends", (host) =>
    Effect.gen(function* () {
      const { call, fiber, heard, say } = yield* talk(host, "Hello.")
      const store = yield* CallStore
      yield* store.issueRelay(call.callId, "newer")
      yield* store.redeemRelay("newer")
      yield* say("Who answers?")
      yield* Fiber.join(fiber)
      assert.lengthOf(host.carrier.agent.asked, 0)
      assert.strictEqual(heard(), "Hello.|")
    })
  )

  scenario("ends within seconds even in silence", (host) =>
    Effect.gen(function* () {
      const { call, fiber } = yield* talk(host)
      const store = yield* CallStore
      yield* store.issueRelay(call.callId, "newer")
      yield* store.redeemRelay("newer")
      yield* TestClock.adjust("6 seconds")
      yield* Fiber.join(fiber)
    })
  )
})

describe("the beginning of a conversation", () => {
  scenario("is the greeting, stored before it is spoken", (host) =>
    Effect.gen(function* () {
      const { call, heard, leave, unwritten } = yield* talk(host, "Good morning.")
      assert.strictEqual(heard(), "Good morning.|")
      assert.lengthOf(unwritten, 0)
      yield* leave
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Good morning."])
    })
  )

  scenario("is silence without a greeting", (host) =>
    Effect.gen(function* () {
      const { call, leave, spoken } = yield* talk(host)
      yield* TestClock.adjust("1 minute")
      yield* leave
      assert.lengthOf(spoken, 0)
      assert.lengthOf(host.carrier.agent.asked, 0)
      assert.deepStrictEqual(yield* linesOf(call), [])
    })
  )

  scenario("is not repeated by a relay that continues the call", (host) =>
    Effect.gen(function* () {
      const { call, leave } = yield* talk(host, "Good morning.")
      yield* leave
      const again = yield* conversation(host, call)
      yield* again.leave
      assert.lengthOf(again.spoken, 0)
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Good morning."])
    })
  )

  scenario("is the answer to the caller's last turn after a relay broke off", (host) =>
    Effect.gen(function* () {
      const first = yield* talk(host, "Good morning.")
      yield* first.say("What time is it?")
      yield* first.leave
      assert.isFalse(first.asked(1).isHeard)
      const second = yield* conversation(host, first.call)
      const asked = second.asked(2)
      assert.strictEqual(asked.message.turn.text, "What time is it?")
      assert.deepStrictEqual(
        asked.message.transcriptSoFar.map(({ text }) => text),
        ["Good morning."]
      )
      asked.say("Noon.")
      asked.end()
      yield* settle
      assert.strictEqual(second.heard(), "Noon.|")
      yield* second.leave
      const third = yield* conversation(host, first.call)
      third.asked(2)
    })
  )
})

describe("a turn of the caller", () => {
  scenario("is stored and sent to the agent, with the turns before it", (host) =>
    Effect.gen(function* () {
      const { asked, call, say } = yield* talk(host, "Hello.")
      yield* say("  Who are you?\u0000 ")
      const { message, secret, url } = asked(1)
      assert.strictEqual(url, WEBHOOK)
      assert.match(Redacted.value(secret), /^cs_v1_/)
      const [greeting, turn] = yield* (yield* CallStore).turns(call.callId)
      assert.deepStrictEqual(message, {
        callId: call.callId,
        phoneNumberId: call.phoneNumberId,
        direction: "outbound",
        from: call.fromNumber,
        to: PERSON,
        turn: { text: "Who are you?", at: turn!.at },
        transcriptSoFar: [greeting!]
      })
    })
  )

  scenario("is sent to the agent while it is being written, and no answer is spoken before it is written", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say, unwritten } = yield* talk(host, "Hello.")
      yield* host.database.close
      yield* TestClock.adjust("3 seconds")
      yield* say("Who are you?")
      asked(1).say("Ada.")
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(heard(), "Hello.|")
      yield* host.database.open
      yield* settle
      assert.strictEqual(heard(), "Hello.|Ada.")
      assert.lengthOf(unwritten, 0)
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Hello.", "caller: Who are you?", "agent: Ada."])
      // The time of the turn is the one that the agent received, not the time of the writing.
      const turn = (yield* (yield* CallStore).turns(call.callId))[1]!
      assert.strictEqual(turn.at, asked(1).message.turn.at)
      assert.strictEqual(turn.at, (yield* Timestamp.now) - 2_000)
    })
  )

  scenario("is not earlier than the turn before it, whatever the clock of that turn's server", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const ahead = Timestamp.add(yield* Timestamp.now, 60_000)
      const store = yield* CallStore
      yield* store.addTurn(call.callId, { role: "agent", text: "Hello.", at: ahead })
      const { say } = yield* conversation(host, call)
      yield* say("Hi.")
      assert.deepStrictEqual(
        (yield* store.turns(call.callId)).map(({ at }) => at),
        [ahead, ahead]
      )
    })
  )

  scenario("is sent with the last 20 turns before it, also by a relay that continues the call", (host) =>
    Effect.gen(function* () {
      const first = yield* talk(host)
      for (let turn = 1; turn <= 25; turn += 1) yield* first.say(`turn ${turn}`)
      const soFar = () => host.carrier.agent.asked.at(-1)!.message.transcriptSoFar.map(({ text }) => text)
      const expected = Array.from({ length: 20 }, (_, index) => `turn ${index + 5}`)
      assert.deepStrictEqual(soFar(), expected)
      yield* first.leave
      yield* conversation(host, first.call)
      assert.lengthOf(host.carrier.agent.asked, 26)
      assert.deepStrictEqual(soFar(), expected)
    })
  )

  scenario("does not exist if nothing was said", (host) =>
    Effect.gen(function* () {
      const { call, say } = yield* talk(host)
      yield* say("")
      yield* say(" \n\u0000")
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(host.carrier.agent.asked, 0)
      assert.deepStrictEqual(yield* linesOf(call), [])
    })
  )
})

describe("an answer", () => {
  scenario("is spoken as it arrives, and grows in the transcript", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say, unwritten } = yield* talk(host)
      yield* say("Tell me a story.")
      const { end, say: tell } = asked(1)
      tell("Once")
      yield* settle
      assert.strictEqual(heard(), "Once")
      assert.lengthOf(unwritten, 0)
      tell(" upon a time.")
      tell("The end.")
      yield* settle
      assert.strictEqual(heard(), "Once upon a time. The end.")
      yield* TestClock.adjust("250 millis")
      assert.strictEqual((yield* linesOf(call)).at(-1), "agent: Once upon a time. The end.")
      end()
      yield* settle
      assert.strictEqual(heard(), "Once upon a time. The end.|")
    })
  )

  scenario("is written at most four times a second while it streams, and completely at its end", (host) =>
    Effect.gen(function* () {
      const { asked, call, say } = yield* talk(host)
      yield* say("Count.")
      const { end, say: tell } = asked(1)
      const seen = new Set<string>()
      for (let word = 1; word <= 100; word += 1) {
        tell(`${word} `)
        yield* TestClock.adjust("10 millis")
        seen.add((yield* linesOf(call)).at(-1)!)
      }
      assert.isAtLeast(seen.size, 4)
      assert.isAtMost(seen.size, 5)
      tell("done")
      end()
      yield* settle
      assert.match((yield* linesOf(call)).at(-1)!, /^agent: 1 2 .* 100 done$/)
    })
  )

  scenario("grows in its own turn although another server adds turns to the call meanwhile", (host) =>
    Effect.gen(function* () {
      const { asked, call, say } = yield* talk(host)
      const store = yield* CallStore
      yield* store.addTurn(call.callId, { role: "system", text: "Another server's.", at: call.createdAt })
      yield* say("Count.")
      yield* store.addTurn(call.callId, { role: "system", text: "Another one.", at: call.createdAt })
      asked(1).say("One")
      asked(1).say(" two")
      asked(1).end()
      yield* settle
      const said = ["system: Another server's.", "caller: Count.", "system: Another one.", "agent: One two"]
      assert.deepStrictEqual(yield* linesOf(call), said)
    })
  )

  scenario("without text leaves the caller in silence, and adds no turn", (host) =>
    Effect.gen(function* () {
      const { asked, call, say, spoken } = yield* talk(host)
      yield* say("Hm.")
      asked(1).end()
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(spoken, 0)
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Hm."])
    })
  )

  scenario("is cut at its maximum length, and the agent's stream is closed", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say } = yield* talk(host)
      yield* say("Go on and on.")
      const answer = asked(1)
      for (let part = 0; part < 20; part += 1) answer.say("x".repeat(1_000))
      yield* settle
      assert.isFalse(answer.isHeard)
      assert.strictEqual(heard(), `${"x".repeat(16_384)}|`)
      assert.strictEqual((yield* linesOf(call)).at(-1), `agent: ${"x".repeat(16_384)}`)
    })
  )
})

describe("an agent that presses keys", () => {
  scenario("presses them after its text and before its next one, each a turn of the transcript", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* say("For sales, press one.")
      const answer = asked(1)
      answer.say("One moment.")
      answer.press("1w2#")
      answer.say("Thank you.")
      answer.press("9")
      answer.hangUp()
      yield* settle
      assert.strictEqual(heard(), "One moment.|[keys 1w2#]Thank you.|[keys 9]")
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
      assert.isTrue(heard().endsWith("[keys 9][end]"))
      assert.deepStrictEqual(yield* linesOf(call), [
        "caller: For sales, press one.",
        "agent: One moment.",
        "agent: [pressed 1w2#]",
        "agent: Thank you.",
        "agent: [pressed 9]"
      ])
    })
  )
})

describe("a silent person", () => {
  scenario("is no turn unless the agent asks for it", (host) =>
    Effect.gen(function* () {
      const { asked, say } = yield* talk(host)
      yield* say("Hello?")
      asked(1).say("Yes?")
      asked(1).end()
      yield* TestClock.adjust("4 minutes")
      asked(1)
    })
  )

  scenario("is a turn after the seconds that the agent names, from its last word on; then the call ends", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* say("Hello?")
      for (let count = 1; count <= 4; count++) {
        const question = asked(count)
        assert.strictEqual(question.message.turn.text, count === 1 ? "Hello?" : "[silence]")
        question.say("Yes?")
        question.awaitSpeech(5)
        question.end()
        yield* settle
        // 320 ms of speech, 1 s until it begins, and 5 s of silence.
        yield* TestClock.adjust("6310 millis")
        asked(count)
        yield* TestClock.adjust("10 millis")
        yield* settle
      }
      yield* Fiber.join(fiber)
      assert.isTrue(heard().endsWith("[end]"))
      const said = ["caller: [silence]", "agent: Yes?"]
      assert.deepStrictEqual(yield* linesOf(call), [
        "caller: Hello?",
        "agent: Yes?",
        ...said,
        ...said,
        ...said,
        "system: The person was silent, so the call was ended."
      ])
      const { hangUpReason } = Option.getOrThrow(yield* (yield* CallStore).get(call.callId))
      assert.strictEqual(hangUpReason, "hangup_agent")
    })
  )

  scenario("is no turn once the person speaks or presses a key, and is counted anew then", (host) =>
    Effect.gen(function* () {
      const { asked, say, tell } = yield* talk(host)
      const answer = Effect.fnUntraced(function* (count: number) {
        asked(count).say("Yes?")
        asked(count).awaitSpeech(5)
        asked(count).end()
        yield* settle
      })
      yield* say("Hello?")
      for (const count of [1, 2, 3]) {
        yield* answer(count)
        yield* TestClock.adjust("7 seconds")
        yield* settle
      }
      yield* answer(4)
      yield* TestClock.adjust("4 seconds")
      yield* tell({ _tag: "Pressed", key: "1" })
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(asked(5).message.turn.text, "[pressed 1]")
      yield* answer(5)
      yield* TestClock.adjust("7 seconds")
      assert.strictEqual(asked(6).message.turn.text, "[silence]")
    })
  )
})
