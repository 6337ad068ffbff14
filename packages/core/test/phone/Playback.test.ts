import { assert, describe, it } from "@effect/vitest"
import { continued, heardPart, speechMillis, spokenText } from "../../src/phone/Playback.ts"

describe("a spoken text", () => {
  it("contains no characters that can't be stored or spoken", () => {
    assert.strictEqual(spokenText("a\u0000b\u001b\u007f\tc\n", 100), "ab\tc\n")
    assert.strictEqual(spokenText("\ud83d\ude00", 1), "\ufffd")
  })

  it("separates a sentence from the next one, and leaves all else as it is", () => {
    assert.strictEqual(continued("Hello.", "How are you?"), " How are you?")
    assert.strictEqual(continued("Hello.", " How"), " How")
    assert.strictEqual(continued("It is 3.", "14"), "14")
    assert.strictEqual(continued("Hel", "lo"), "lo")
    assert.strictEqual(continued("Wait", "."), ".")
  })

  it("is heard as far as the relay reports, whatever the white space", () => {
    assert.strictEqual(heardPart("Once upon a time", "Once  upon"), "Once upon")
    assert.strictEqual(heardPart("Once\n upon a time", "Once upon"), "Once\n upon")
    assert.strictEqual(heardPart("Once", ""), "")
    assert.strictEqual(heardPart("Once", "Once."), undefined)
    assert.strictEqual(heardPart("Once", "Twice"), undefined)
    assert.strictEqual(heardPart("😀 ha", "😀h"), "😀 h")
  })

  it("takes longer where a character is a syllable or more", () => {
    assert.strictEqual(speechMillis("Hello."), 480)
    assert.strictEqual(speechMillis("415"), 900)
    assert.strictEqual(speechMillis("こんにちは"), 1_500)
    assert.strictEqual(speechMillis(""), 0)
  })
})
