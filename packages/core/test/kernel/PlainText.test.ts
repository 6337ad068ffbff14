import { CreateMailboxInput, PurchaseNumberInput, UpdateMailboxInput } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const ID = "01900000-0000-7000-8000-000000000001"
/** Every input field that holds a name, with a decoder for it. */
const FIELDS = [
  ["displayName", (name: string) => decode(CreateMailboxInput, { localPart: "ada", displayName: name })],
  ["displayName", (name: string) => decode(UpdateMailboxInput, { mailboxId: ID, displayName: name })],
  [
    "agentName",
    (name: string) => decode(PurchaseNumberInput, { agentName: name, agentWebhookUrl: "https://agent.example/" })
  ]
] as const

/** Returns the problem of an input; undefined if it is valid. */
const decode = <S extends Schema.ConstraintDecoder<unknown, never>>(schema: S, input: unknown): string | undefined => {
  const result = Schema.decodeUnknownResult(schema)(input)
  return result._tag === "Failure" ? String(result.failure) : undefined
}

describe("a display name", () => {
  it.each([
    ["a right-to-left override", "Ada\u202eecalevoL", "U+202E"],
    ["a left-to-right embedding", "\u202aAda", "U+202A"],
    ["an isolate", "Ada \u2067evil\u2069", "U+2067"],
    ["a right-to-left mark", "Ada\u200f", "U+200F"],
    ["an Arabic letter mark", "Ada\u061c", "U+061C"],
    ["a zero-width space", "Pay\u200bPal", "U+200B"],
    ["a word joiner", "Pay\u2060Pal", "U+2060"],
    ["a byte order mark", "\ufeffAda", "U+FEFF"],
    ["a soft hyphen", "Pay\u00adPal", "U+00AD"],
    ["a joiner between Latin letters", "Pay\u200dPal", "U+200D"],
    ["a non-joiner at its end", "Ada\u200c", "U+200C"],
    ["a joiner after an emoji, before a letter", "👩\u200dAda", "U+200D"],
    ["a Hangul filler, which is a letter", "\u3164", "U+3164"],
    ["a combining grapheme joiner", "A\u034fda", "U+034F"],
    ["a variation selector on a letter", "Ada\ufe0f", "U+FE0F"],
    ["text in tag characters", "Ada\u{e0068}\u{e0069}", "U+E0068"],
    ["text in the tags of a flag", "\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}", "U+E0068"],
    ["a variation selector on a digit", "Ada 1\ufe0f", "U+FE0F"],
    ["two variation selectors in a row", "❤\ufe0f\ufe0f", "U+FE0F"],
    ["a variation selector that spells data", "😀\u{e0112}", "U+E0112"],
    ["a flag that never ends", "\u{1f3f4}\u{e0067}\u{e0062}", "U+E0067"],
    ["a line break", "Ada\nBob", "U+000A"],
    ["a tab", "Ada\tBob", "U+0009"],
    ["a line separator", "Ada\u2028Bob", "U+2028"],
    ["an escape", "\u001b[2J", "U+001B"],
    ["a C1 control", "\u009b2J", "U+009B"],
    ["the NUL character", "Ada\u0000", "NUL"],
    ["an interlinear annotation", "Ada\ufff9x\ufffb", "U+FFF9"]
  ])("has no %s", (_what, name, problem) => {
    for (const [field, decoded] of FIELDS) {
      const message = decoded(name)
      assert.include(message, field)
      assert.include(message, problem)
    }
  })

  it.each([
    "Ada Lovelace",
    "O'Brien & Söhne №1",
    "株式会社アダ",
    "عدا لوفليس",
    "می‌خواهم",
    "ක්‍ෂ",
    "क्‍ष",
    "👩‍💻 Ada",
    "👩🏽‍🚀",
    "❤️",
    "🏳️‍🌈",
    "1️⃣",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿 Ada",
    "Zoë",
    "e\u0301"
  ])("may be %s", (name) => {
    for (const [, decoded] of FIELDS) assert.isUndefined(decoded(name))
  })

  it("has a maximum length", () => {
    for (const [field, decoded] of FIELDS) {
      assert.isUndefined(decoded("x".repeat(128)))
      assert.include(decoded("x".repeat(129)), field)
    }
  })
})
