import { Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { linesOf, settle, talk } from "../support/Conversation.ts"
import { scenario } from "../support/Purchase.ts"
import * as VoiceSession from "../../src/phone/VoiceSession.ts"

const interrupted = (spoken: string) => ({ _tag: "Interrupted", spoken }) as const

describe("a caller who interrupts", () => {
  scenario("cancels the answer, and cuts its turn to the part that was heard", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say, tell } = yield* talk(host)
      yield* say("Tell me a story.")
      const answer = asked(1)
      answer.say("Once upon a time there was")
      yield* settle
      yield* tell(interrupted("Once upon  a"))
      assert.isFalse(answer.isHeard)
      answer.say(" a king.")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(heard(), "Once upon a time there was|")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Tell me a story.", "agent: Once upon a"])
      yield* say("Another one!")
      assert.deepStrictEqual(
        asked(2).message.transcriptSoFar.map(({ text }) => text),
        ["Tell me a story.", "Once upon a"]
      )
    })
  )

  scenario("cuts a text that was handed over completely and is still being spoken", (host) =>
    Effect.gen(function* () {
      const { call, tell } = yield* talk(host, "Good morning, this is the agent.")
      yield* tell(interrupted("Good morning,"))
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Good morning,"])
      yield* tell(interrupted("Good"))
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Good morning,"])
    })
  )

  scenario("before a word was heard leaves an empty turn", (host) =>
    Effect.gen(function* () {
      const { call, tell } = yield* talk(host, "Good morning.")
      yield* tell(interrupted(""))
      assert.deepStrictEqual(yield* linesOf(call), ["agent: "])
    })
  )

  scenario("cuts the turn to the number of words that the relay reports, but never beyond the spoken text", (host) =>
    Effect.gen(function* () {
      const { call, tell } = yield* talk(host, "Call 1.")
      yield* tell(interrupted("Call one or two"))
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Call 1."])
    })
  )

  scenario("changes nothing when nothing is being spoken", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say, tell } = yield* talk(host, "Hello.")
      yield* say("Who are you?")
      // 6 characters take 480 ms at most.
      yield* TestClock.adjust("1 second")
      const answer = asked(1)
      yield* tell(interrupted("Hel"))
      assert.isTrue(answer.isHeard)
      answer.say("Ada's agent.")
      answer.end()
      yield* settle
      assert.strictEqual(heard(), "Hello.|Ada's agent.|")
      assert.deepStrictEqual(yield* linesOf(call), ["agent: Hello.", "caller: Who are you?", "agent: Ada's agent."])
    })
  )

  scenario("cuts an earlier answer that is still being spoken while the agent prepares the next one", (host) =>
    Effect.gen(function* () {
      const { asked, call, say, tell } = yield* talk(host, "A greeting that takes quite some time to be spoken.")
      yield* say("Who are you?")
      yield* tell(interrupted("A greeting that"))
      assert.isTrue(asked(1).isHeard)
      assert.deepStrictEqual(yield* linesOf(call), ["agent: A greeting that", "caller: Who are you?"])
    })
  )

  scenario("has not heard the second of two answers if the first one was cut", (host) =>
    Effect.gen(function* () {
      const { asked, call, say, tell } = yield* talk(host, "A greeting that takes quite some time to be spoken.")
      yield* say("Who are you?")
      asked(1).say("Ada's agent.")
      yield* settle
      yield* tell(interrupted("A greeting that"))
      assert.isFalse(asked(1).isHeard)
      assert.deepStrictEqual(yield* linesOf(call), ["agent: A greeting that", "caller: Who are you?", "agent: "])
    })
  )
})

/** A turn in the parts at which a caller interrupts. With how a voice reads a part, where it reads other words. */
type Parts = ReadonlyArray<string | readonly [sent: string, read: string]>
const sentOf = (part: Parts[number]): string => (typeof part === "string" ? part : part[0])
const readOf = (part: Parts[number]): string => (typeof part === "string" ? part : part[1])

const TURNS: ReadonlyArray<readonly [language: string, parts: Parts]> = [
  ["English", ["Good ", "morning, ", "you’re ", "speaking ", "with ", "“Ada’s” ", "agent — ", "how ", "are ", "you?"]],
  ["English with repeated words", ["no ", "no ", "no, ", "no ", "no!"]],
  [
    "English with numbers",
    ["Your ", "code ", "is ", ["4821", "four eight two one"], ". ", "It ", "costs ", ["12", "twelve"], " dollars."]
  ],
  ["German", ["Grüß ", "Gott, ", "Frau ", "Müller, ", "schöne ", "Straße!"]],
  ["Chinese", [..."您好,我是张伟的助手。请问有什么可以帮您?"]],
  ["Japanese", [..."お電話ありがとうございます。田中です。"]],
  ["Korean", ["안녕하세요, ", "무엇을 ", "도와드릴까요?"]],
  ["Hindi", ["नमस्ते, ", "मैं ", "आपकी ", "क्या ", "मदद ", "करूँ?"]],
  ["text like markup", ["Use ", "<b>bold</b> ", "&amp; ", "*stars* ", "[links](a) ", "1 < 2 ", "{x}."]],
  ["symbols", ["Hi ", "😀 ", "at ", "ada@x.example ", "👩‍👩‍👧 ", "ok."]]
]

/** The changes that a relay may make to the words before it reports them. */
const REPORTS: Readonly<Record<string, (heard: string) => string>> = {
  "as they were sent": (heard) => heard,
  trimmed: (heard) => heard.trim(),
  "with other white space": (heard) => `  ${heard.replaceAll(/\s+/gu, "\n\u00a0 ")}`,
  decomposed: (heard) => heard.normalize("NFD"),
  "in lower case": (heard) => heard.toLowerCase(),
  "with straight quotation marks": (heard) => heard.replaceAll(/[“”]/gu, '"').replaceAll("’", "'"),
  "without punctuation": (heard) => heard.replaceAll(/[^\p{L}\p{M}\p{N}\s]/gu, "")
}

describe("a transcript after an interruption at each word", () => {
  const at = Timestamp.Timestamp.make(1_000_000)
  const letters = (text: string) => text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "")

  /** The turn of the agent that was sent in pieces and interrupted after `heard`. */
  const recorded = (pieces: ReadonlyArray<string>, heard: string): string => {
    let session = VoiceSession.open(null, [], at)[0]
    const tell = (event: VoiceSession.SessionEvent): void => {
      const [next, commands] = VoiceSession.step(session, { ...event, at })
      session = next
      for (const command of commands) if (command._tag === "Say") tell({ _tag: "Sent", text: command.text })
    }
    tell({ _tag: "Said", text: "Hello?" })
    for (const text of pieces) {
      tell({ _tag: "Answer", question: session.question, output: { _tag: "Say", text } })
    }
    tell({ _tag: "Interrupted", spoken: heard })
    return session.turns.at(-1)!.text
  }

  for (const [how, report] of Object.entries(REPORTS)) {
    it.each(TURNS)(`contains exactly the words that the caller heard: %s, reported ${how}`, (_language, parts) => {
      const pieces = parts.map(sentOf)
      const text = pieces.join("")
      for (let count = 0; count <= parts.length; count++) {
        const sent = pieces.slice(0, count).join("")
        const heard = report(parts.slice(0, count).map(readOf).join(""))
        for (const sentAs of [pieces, [text]]) {
          const turn = recorded(sentAs, heard)
          assert.isTrue(text.startsWith(turn), turn)
          assert.strictEqual(letters(turn), letters(sent))
        }
      }
    })
  }
})

describe("a caller who continues to speak", () => {
  scenario("while the agent prepares an answer makes it answer with all turns so far", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say } = yield* talk(host)
      yield* say("What is")
      const first = asked(1)
      yield* say("the time?")
      assert.isFalse(first.isHeard)
      first.say("What is what?")
      const { end, message, say: answer } = asked(2)
      assert.strictEqual(message.turn.text, "the time?")
      assert.deepStrictEqual(
        message.transcriptSoFar.map(({ text }) => text),
        ["What is"]
      )
      answer("Noon.")
      end()
      yield* settle
      assert.strictEqual(heard(), "Noon.|")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: What is", "caller: the time?", "agent: Noon."])
    })
  )

  scenario("while the agent speaks cuts the answer, but keeps the spoken part", (host) =>
    Effect.gen(function* () {
      const { asked, call, heard, say } = yield* talk(host)
      yield* say("Tell me a story.")
      const story = asked(1)
      story.say("Once")
      story.say(" upon")
      yield* settle
      yield* say("A short one.")
      assert.isFalse(story.isHeard)
      story.say(" a time")
      asked(2).say("The end.")
      yield* settle
      assert.strictEqual(heard(), "Once upon|The end.")
      const said = ["caller: Tell me a story.", "agent: Once upon", "caller: A short one.", "agent: The end."]
      assert.deepStrictEqual(yield* linesOf(call), said)
      assert.deepStrictEqual(
        asked(2).message.transcriptSoFar.map(({ text }) => text),
        ["Tell me a story.", "Once upon"]
      )
    })
  )
})

describe("a caller who hangs up", () => {
  scenario("in the middle of an answer ends the exchange, and the spoken part stays", (host) =>
    Effect.gen(function* () {
      const { asked, call, leave, say } = yield* talk(host)
      yield* say("Tell me a story.")
      const story = asked(1)
      story.say("Once")
      story.say(" upon")
      yield* settle
      yield* leave
      assert.isFalse(story.isHeard)
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Tell me a story.", "agent: Once upon"])
    })
  )

  scenario("leaves the keys pressed just before in the transcript", (host) =>
    Effect.gen(function* () {
      const { call, leave, tell } = yield* talk(host)
      yield* tell({ _tag: "Pressed", key: "7" })
      yield* leave
      assert.lengthOf(host.carrier.agent.asked, 0)
      assert.deepStrictEqual(yield* linesOf(call), ["caller: [pressed 7]"])
    })
  )
})

describe("a server that stops", () => {
  scenario("in the middle of an answer leaves nothing running, and a complete transcript", (host) =>
    Effect.gen(function* () {
      const { asked, call, fiber, heard, say } = yield* talk(host)
      yield* say("Tell me a story.")
      const story = asked(1)
      story.say("Once")
      story.say(" upon")
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.isFalse(story.isHeard)
      story.say(" a time")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(heard(), "Once upon")
      assert.deepStrictEqual(yield* linesOf(call), ["caller: Tell me a story.", "agent: Once upon"])
    })
  )
})
