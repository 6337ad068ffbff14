import { CallStore, type RelayEvent, Keyring, PhoneNumberStore, Uuid, VoiceConversations } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { APOLOGY } from "../../src/phone/VoiceSession.ts"
import { TURNS_MAX } from "../../src/phone/Transcript.ts"
import { answeredCall, conversation, linesOf, settle, talk } from "../support/Conversation.ts"
import { scenario } from "../support/Purchase.ts"
import { messageOf } from "../support/SimulatedAgent.ts"

describe("an agent that can't be reached", () => {
  for (const reason of ["connection", "timeout", "status", "answer"] as const) {
    scenario(
      `is asked once more after ${reason}; then the caller hears an apology, and the conversation continues`,
      (host) =>
        Effect.gen(function* () {
          const { asked, call, heard, say } = yield* talk(host)
          yield* say("Hello?")
          const { message } = asked(1)
          asked(1).fail(reason)
          yield* settle
          assert.strictEqual(heard(), "")
          assert.deepStrictEqual(asked(2).message, message)
          asked(2).fail(reason)
          yield* settle
          assert.strictEqual(heard(), `${APOLOGY}|`)
          const failed = `system: ${messageOf(reason)} The caller heard an apology.`
          assert.deepStrictEqual(yield* linesOf(call), ["caller: Hello?", failed])
          yield* say("Hello!")
          asked(3).say("Here I am.")
          yield* settle
          assert.strictEqual(heard(), `${APOLOGY}|Here I am.`)
        })
    )
  }

  scenario("at first, but answers the retry, causes no apology", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say } = yield* talk(host)
      yield* say("Hello?")
      asked(1).fail("connection")
      yield* settle
      asked(2).say("Here I am.")
      asked(2).end()
      yield* settle
      assert.strictEqual(heard(), "Here I am.|")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Hello?", "agent: Here I am."])
    })
  )

  scenario("at an address that can't be used is not asked again", (host) =>
    Effect.gen(function* () {
      const { asked, heard, say } = yield* talk(host)
      yield* say("Hello?")
      asked(1).fail("address")
      yield* settle
      asked(1)
      assert.strictEqual(heard(), `${APOLOGY}|`)
    })
  )

  scenario("after it has begun to answer is not asked again", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say, tell } = yield* talk(host)
      yield* say("Hello?")
      asked(1).say("Here I")
      asked(1).fail("connection")
      yield* settle
      asked(1)
      assert.strictEqual(heard(), `Here I|${APOLOGY}|`)
      const failed = `system: ${messageOf("connection")} The caller heard an apology.`
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Hello?", "agent: Here I", failed])
      // The interruption cuts the apology, and no turn of the agent.
      yield* tell({ _tag: "Interrupted", spoken: "Sorry, I can't" })
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Hello?", "agent: Here I", failed])
    })
  )
})

describe("the agents of a tenant", () => {
  scenario("are asked 256 questions at a time by one server, and more after an answer", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const another = Effect.gen(function* () {
        const callId = yield* Uuid.next
        const other = { ...call, callId, providerCallId: callId }
        yield* (yield* CallStore).create(other)
        return { call: other, ...(yield* conversation(host, other)) }
      })
      const talks = yield* Effect.replicateEffect(another, 257)
      for (const { say } of talks) yield* say("Hello?")
      const last = talks.at(-1)!
      const [first] = host.carrier.agent.asked
      last.asked(256)
      assert.strictEqual(last.heard(), `${APOLOGY}|`)
      assert.match((yield* linesOf(last.call)).at(-1)!, /^system: The agent was not asked: 256 requests/)
      first!.end()
      yield* last.say("Hello!")
      last.asked(257)
    })
  )
})

describe("an agent callback with a defect", () => {
  scenario("does not end the conversation", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say } = yield* talk(host)
      yield* say("Hello?")
      asked(1).die()
      yield* settle
      assert.strictEqual(heard(), `${APOLOGY}|`)
      assert.match(
        (yield* linesOf(call)).at(-1)!,
        /^system: The agent could not be asked because of an internal error of this service\./
      )
      yield* say("Hello!")
      asked(2).say("Here I am.")
      yield* settle
      assert.strictEqual(heard(), `${APOLOGY}|Here I am.`)
    })
  )
})

describe("a number whose callback secret can't be derived any more", () => {
  scenario("has an agent that can't be called", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const numbers = yield* PhoneNumberStore
      const number = yield* numbers.find(call.tenantId, call.phoneNumberId)
      assert.strictEqual(number._tag, "Owned")
      if (number._tag === "Owned") yield* numbers.update({ ...number.value, callbackKeyId: 200 })
      assert.isUndefined((yield* Keyring).mac(200, "callback-secret", new Uint8Array()))
      const { heard, say } = yield* conversation(host, call)
      yield* say("Hello?")
      assert.lengthOf(host.carrier.agent.asked, 0)
      assert.strictEqual(heard(), `${APOLOGY}|`)
      assert.match((yield* linesOf(call)).at(-1)!, /^system: The agent can't be called\. .* not configured\./)
    })
  )
})

describe("a relay that fails to carry out an instruction", () => {
  scenario("or has a defect lets the handler of its socket see the defect", () =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall("Hello.")
      const { run } = yield* VoiceConversations
      const broken = Stream.concat(
        Stream.succeed<RelayEvent>({ _tag: "Said", text: "Hm." }),
        Stream.die("the socket failed")
      )
      const exit = yield* Effect.exit(run(call, broken, () => Effect.void))
      assert.deepStrictEqual(exit, Exit.die("the socket failed"))
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Hello.", "caller: Hm."])
    })
  )

  scenario("adds a turn to the transcript", (host) =>
    Effect.gen(function* () {
      const { call, tell } = yield* talk(host)
      yield* tell({ _tag: "Failed", why: "no such voice" })
      assert.deepStrictEqual(yield* linesOf(call), ["system: The relay reported: no such voice"])
    })
  )
})

const pressed = (keys: string): ReadonlyArray<RelayEvent> => [...keys].map((key) => ({ _tag: "Pressed", key }))

describe("keys", () => {
  scenario("are one turn, after a pause", (host) =>
    Effect.gen(function* () {
      const { asked, call, tell } = yield* talk(host)
      yield* tell(...pressed("1"))
      yield* TestClock.adjust("1400 millis")
      yield* tell(...pressed("2*"))
      yield* TestClock.adjust("1400 millis")
      assert.lengthOf(host.carrier.agent.asked, 0)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(asked(1).message.turn.text, "[pressed 12*]")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: [pressed 12*]"])
    })
  )

  scenario("are a turn immediately after #, and at the maximum number of keys", (host) =>
    Effect.gen(function* () {
      const { asked, tell } = yield* talk(host)
      yield* tell(...pressed("12#"))
      assert.strictEqual(asked(1).message.turn.text, "[pressed 12#]")
      yield* tell(...pressed("5".repeat(63)))
      asked(1)
      yield* tell(...pressed("5"))
      assert.strictEqual(asked(2).message.turn.text, `[pressed ${"5".repeat(64)}]`)
      yield* TestClock.adjust("10 seconds")
      asked(2)
    })
  )

  scenario("come before the words that are said after them", (host) =>
    Effect.gen(function* () {
      const { asked, call, say, tell } = yield* talk(host)
      yield* tell(...pressed("9"), { _tag: "Pressed", key: "no key" })
      yield* say("Nine.")
      assert.strictEqual(asked(1).message.turn.text, "Nine.")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: [pressed 9]", "caller: Nine."])
      yield* TestClock.adjust("10 seconds")
      asked(1)
    })
  )
})

describe("the limits of a conversation", () => {
  scenario("cut a long turn of the caller", (host) =>
    Effect.gen(function* () {
      const { asked, say } = yield* talk(host)
      yield* say("a".repeat(5_000))
      assert.lengthOf(asked(1).message.turn.text, 4_096)
    })
  )

  scenario("keep the maximum number of turns, the last of which says so, and then do not ask the agent", (host) =>
    Effect.gen(function* () {
      const { call } = yield* answeredCall()
      const store = yield* CallStore
      yield* Effect.repeat(store.addTurn(call.callId, { role: "agent", text: "and", at: call.createdAt }), {
        times: TURNS_MAX - 3
      })
      const { asked, heard, leave, say } = yield* conversation(host, call)
      yield* say("the last")
      asked(1).say("too much")
      yield* settle
      yield* say("more")
      yield* leave
      asked(1)
      assert.strictEqual(heard(), "")
      const turns = yield* store.turns(call.callId)
      assert.lengthOf(turns, TURNS_MAX)
      assert.deepStrictEqual(
        turns.slice(-2).map(({ role }) => role),
        ["caller", "system"]
      )
      const again = yield* conversation(host, call)
      yield* again.say("more")
      asked(1)
      assert.lengthOf(yield* store.turns(call.callId), TURNS_MAX)
    })
  )
})
