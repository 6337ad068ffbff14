import { describe, expect, it } from "vitest"
import { CALL_INVARIANTS, type CallObservations } from "./CallInvariants.ts"
import { judge } from "./Judge.ts"

const START = 1_000_000
/** A word every 40 ms, from a second of the call on. */
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

const TURNS = [
  ["agent", "Hello."],
  ["caller", "one"],
  ["agent", textOf(first, 38)],
  ["caller", "one"],
  ["agent", textOf(second)],
  ["caller", "two"]
] as const
const transcript = (turns: ReadonlyArray<readonly [role: string, text: string]>) => ({
  transcript: { turns: turns.map(([role, text]) => ({ role, text, at: "" })) }
})
const without = (place: number) => transcript(TURNS.filter((_, index) => index !== place))
const withText = (place: number, text: string) =>
  transcript(TURNS.map(([role, old], index) => [role, index === place ? text : old] as const))

const correct: CallObservations = {
  heard: ["Hello.", textOf(first, 45), textOf(second)],
  said: ["one", "one", "two"],
  endedBy: "agent",
  answeredAt: START,
  endedAt: START + 62_000,
  authorizedSeconds: 60,
  answers: [first, second],
  ...transcript(TURNS),
  // In the first answer, after 45 words.
  breaks: [START + 1_000 + 40 * 45],
  lines: 2
}
const [ENDS, CALLER, AGENT] = Object.keys(CALL_INVARIANTS) as [string, string, string]

describe("the invariants of calls", () => {
  const violated = (change: Partial<CallObservations>) =>
    judge(CALL_INVARIANTS, { ...correct, ...change }).map(({ invariant }) => invariant)

  it("allow a call that ends in time and is recorded", () => {
    expect(violated({})).toEqual([])
  })

  it.each<[string, string, Partial<CallObservations>]>([
    [ENDS, "a late end", { endedAt: START + 65_001 }],
    [ENDS, "an early end", { endedAt: START + 50_000 }],
    [ENDS, "an end by the carrier", { endedBy: "carrier" }],
    [CALLER, "a missing line", without(5)],
    [CALLER, "another order of lines", { said: ["two", "one"] }],
    [AGENT, "a missing answer", without(4)],
    [AGENT, "a missing greeting", without(0)],
    [AGENT, "a partial answer", withText(4, textOf(second, 20))],
    [AGENT, "more than the last words missing", withText(2, textOf(first, 10))],
    [AGENT, "last words missing without an end of a server", { breaks: [] }],
    [
      AGENT,
      "answers that were not heard",
      { ...transcript(["Hello.", "a", "b"].map((text) => ["agent", text] as const)), heard: ["Hello."] }
    ]
  ])("%s: reject %s", (invariant, _what, change) => {
    expect(violated(change)).toContain(invariant)
  })
})
