import { describe, expect, it } from "vitest"
import { judge, type SeenCall } from "./CallJudge.ts"

const START = 1_000_000
const LINES = 2
/** A word every 40 ms, from some second of the call on. */
const answer = (number: number, second: number) => ({
  words: Array.from({ length: 50 }, (_, word) => ({
    text: word === 0 ? `Answer ${number}: ` : `word-${word} `,
    at: START + second * 1_000 + 40 * word
  }))
})
const [first, second] = [answer(1, 1), answer(2, 6)]
const textOf = ({ words }: typeof first, count = 50) =>
  words
    .slice(0, count)
    .map(({ text }) => text)
    .join("")
/** In the middle of the first answer, when 45 words had been given. */
const KILLED = START + 1_000 + 40 * 45

const turns = (...all: ReadonlyArray<readonly [role: string, text: string]>): SeenCall["transcript"] => ({
  callId: "call",
  complete: true,
  turns: all.map(([role, text]) => ({ role, text, at: "" }))
})

const good: SeenCall = {
  name: "Ada",
  heard: ["Hello.", textOf(first, 45), textOf(second)],
  said: ["one", "one", "two"],
  endedBy: "agent",
  answeredAt: START,
  endedAt: START + 62_000,
  authorizedSeconds: 60,
  answers: [first, second],
  transcript: turns(
    ["agent", "Hello."],
    ["caller", "one"],
    ["agent", textOf(first, 38)],
    ["caller", "one"],
    ["agent", textOf(second)],
    ["caller", "two"]
  )
}
const without = (place: number): SeenCall["transcript"] => ({
  ...good.transcript,
  turns: good.transcript.turns.filter((_, index) => index !== place)
})
const withText = (place: number, text: string): SeenCall["transcript"] => ({
  ...good.transcript,
  turns: good.transcript.turns.map((turn, index) => (index === place ? { ...turn, text } : turn))
})

describe("the judge of calls", () => {
  it("finds nothing wrong with a call that was ended in time and is written down", () => {
    expect(judge(good, [KILLED], LINES)).toEqual([])
  })

  it.each<readonly [string, Partial<SeenCall>, string]>([
    ["an end that is late", { endedAt: START + 65_001 }, "ended 5001 ms after its time"],
    ["an end that is early", { endedAt: START + 50_000 }, "ended 10000 ms before its time"],
    ["an end that is another's", { endedBy: "carrier" }, "ended by carrier"],
    ["a line that is not written", { transcript: without(5) }, "is written"],
    ["lines in another order", { said: ["two", "one"] }, "is written"],
    ["an answer that is not written", { transcript: without(4) }, "not written where it belongs"],
    ["a greeting that is not written", { transcript: without(0) }, "not written where it belongs"],
    ["an answer that is written in part", { transcript: withText(4, textOf(second, 20)) }, "of which only"],
    ["more than its last words missing from one", { transcript: withText(2, textOf(first, 10)) }, "of which only"],
    [
      "answers that nobody heard",
      { transcript: turns(...["Hello.", "a", "b"].map((text) => ["agent", text] as const)), heard: ["Hello."] },
      "turns of the agent's are written that she did not hear"
    ]
  ])("finds %s", (_, change, fault) => {
    expect(judge({ ...good, ...change }, [KILLED], LINES).join("\n")).toContain(fault)
  })

  it("lets nothing be missing where no server ended", () => {
    expect(judge(good, [], LINES).join("\n")).toContain("of which only")
  })
})
