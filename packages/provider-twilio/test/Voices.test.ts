import { describe, expect, it } from "vitest"
import { relayVoice, VOICES } from "../src/Voices.ts"

describe("the voices", () => {
  it("have unique names, and languages as BCP 47 tags", () => {
    expect(new Set(VOICES.map(({ voice }) => voice)).size).toBe(VOICES.length)
    for (const { language, voice } of VOICES) {
      expect(language).toMatch(/^[a-z]{2,3}-[A-Z]{2}$/)
      expect(voice).toMatch(/^[\w-]+$/)
      expect(Intl.getCanonicalLocales(language === "cmn-CN" ? "zh-CN" : language)).toHaveLength(1)
    }
  })

  it("are sent with their vendor and language, and unknown ones of older numbers as they are", () => {
    const vendorOf = (voice: string | null, language: string | null) => relayVoice({ voice, language })
    expect(vendorOf("Joanna-Neural", null)).toEqual({ voice: "Joanna-Neural", language: "en-US", vendor: "Amazon" })
    expect(vendorOf("en-US-Journey-O", "en-US")).toEqual({
      voice: "en-US-Journey-O",
      language: "en-US",
      vendor: "Google"
    })
    expect(vendorOf("My voice", "en-GB")).toEqual({ voice: "My voice", language: "en-GB", vendor: null })
    expect(vendorOf(null, "fr-FR")).toEqual({ voice: null, language: "fr-FR", vendor: null })
    expect(vendorOf(null, null)).toEqual({ voice: null, language: null, vendor: null })
  })
})
