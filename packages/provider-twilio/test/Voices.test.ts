import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { relayVoice, VOICES } from "../src/Voices.ts"

/** The values of `<Say voice>` in Twilio's own library, which names each voice with the prefix of its provider. */
const sayVoices = readFileSync(createRequire(import.meta.url).resolve("twilio/lib/twiml/VoiceResponse.d.ts"), "utf8")

describe("the voices", () => {
  it("are all named by Twilio's library", () => {
    const unknown = VOICES.filter(
      ({ vendor, voice }) => !sayVoices.includes(`"${vendor === "Google" ? "Google" : "Polly"}.${voice}"`)
    )
    expect(unknown).toEqual([])
  })

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
    expect(vendorOf("en-US-Chirp3-HD-Kore", "en-US")).toEqual({
      voice: "en-US-Chirp3-HD-Kore",
      language: "en-US",
      vendor: "Google"
    })
    expect(vendorOf("My voice", "en-GB")).toEqual({ voice: "My voice", language: "en-GB", vendor: null })
    expect(vendorOf(null, "fr-FR")).toEqual({ voice: null, language: "fr-FR", vendor: null })
    expect(vendorOf(null, null)).toEqual({ voice: null, language: null, vendor: null })
  })
})
