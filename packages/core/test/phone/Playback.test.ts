import { assert, describe, it } from "@effect/vitest"
import { heardPart, probablyHeardPart } from "../../src/phone/HeardText.ts"
import { continued, speechMillis, spokenText } from "../../src/phone/Playback.ts"

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
    assert.strictEqual(heardPart("Once", "Once upon"), undefined)
    assert.strictEqual(heardPart("Once", "Twice"), undefined)
    assert.strictEqual(heardPart("😀 ha", "😀h"), "😀 h")
  })

  it("is heard as far as the relay reports, whatever the case, punctuation and composition", () => {
    assert.strictEqual(heardPart("Once", "Once."), "Once")
    assert.strictEqual(heardPart("“Dr. Müller’s,” she said.", "dr muller"), undefined)
    assert.strictEqual(heardPart("“Dr. Müller’s,” she said.", "dr mu\u0308llers she"), "“Dr. Müller’s,” she")
    assert.strictEqual(heardPart("Dr. Mu\u0308ller is in.", "dr müller is"), "Dr. Mu\u0308ller is")
    assert.strictEqual(heardPart("ＡＢＣ１２３です。はい。", "ABC123です"), "ＡＢＣ１２３です。")
    assert.strictEqual(heardPart("こんにちは、田中です。", "こんにちは 田"), "こんにちは、田")
    assert.strictEqual(heardPart("您好，我是客服。", "您好,我"), "您好，我")
    assert.strictEqual(heardPart("Good\u00a0— really — good", "good really"), "Good\u00a0— really")
  })

  it("is heard up to the number that was read in words", () => {
    const text = "Your code is 4821, and it costs $1,250 until May 3rd. Call again."
    const read = "your code is four eight two one and it costs one thousand two hundred fifty dollars until may third"
    assert.strictEqual(probablyHeardPart(text, "your code is four eight two one and it"), "Your code is 4821, and it")
    assert.strictEqual(probablyHeardPart(text, "your code is four eight"), "Your code is 4821,")
    assert.isTrue(text.startsWith(probablyHeardPart(text, read)))
    assert.strictEqual(probablyHeardPart("会議は3時です。", "会議は三時"), "会議は3時")
    assert.strictEqual(probablyHeardPart("Call 1.", "Call one or two"), "Call 1.")
    assert.strictEqual(probablyHeardPart("", "Call one"), "")
  })

  it("takes longer where a character is a syllable or more", () => {
    assert.strictEqual(speechMillis("Hello."), 480)
    assert.strictEqual(speechMillis("415"), 900)
    assert.strictEqual(speechMillis("An API"), 1_140)
    assert.strictEqual(speechMillis("a@b"), 460)
    assert.strictEqual(speechMillis("こんにちは"), 1_500)
    assert.strictEqual(speechMillis(""), 0)
  })
})
