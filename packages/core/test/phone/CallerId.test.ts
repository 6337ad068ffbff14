import { describe, expect, it } from "vitest"
import { isPlaceholderNumber, readCallerId, storedCaller } from "../../src/phone/CallerId.ts"

describe("the caller of a call", () => {
  it.each([
    ["+266696687", "anonymous"],
    ["266696687", "anonymous"],
    ["+1266696687", "anonymous"],
    ["anonymous", "anonymous"],
    ["Anonymous", "anonymous"],
    ["+anonymous", "anonymous"],
    ['"Anonymous"', "anonymous"],
    ["sip:anonymous@anonymous.invalid", "anonymous"],
    ["sip:anonymous@192.0.2.1;transport=udp", "anonymous"],
    ["sip:+266696687@pbx.example", "anonymous"],
    ["client:Anonymous", "anonymous"],
    ["+7378742833", "restricted"],
    ["+17378742833", "restricted"],
    ["+7378742883", "restricted"],
    ["Restricted", "restricted"],
    ["RESTRICTED", "restricted"],
    ["+2562533", "restricted"],
    ["+12562533", "restricted"],
    ["Blocked", "restricted"],
    ["Private Number", "restricted"],
    ["+7748283", "restricted"],
    ["Withheld", "restricted"],
    ["+86282452253", "unavailable"],
    ["+186282452253", "unavailable"],
    ["unavailable", "unavailable"],
    ["sip:unavailable@unknown.invalid", "unavailable"],
    ["Not Available", "unavailable"],
    ["+8656696", "unknown"],
    ["+8566696", "unknown"],
    ["unknown", "unknown"],
    ["Unknown Caller", "unknown"],
    ["+464", "unknown"],
    ["", "unknown"],
    ["   ", "unknown"],
    ["+", "unknown"],
    ["+0000000000", "unknown"],
    ["+10000000000", "unknown"],
    ["\u0000", "unknown"]
  ])("that a carrier sends as %j is withheld: %s", (sent, reason) => {
    expect(readCallerId(sent)).toEqual({ from: null, withheld: reason })
    expect(storedCaller(sent)).toBe(reason)
    // The stored text reads the same.
    expect(readCallerId(storedCaller(sent))).toEqual({ from: null, withheld: reason })
  })

  it.each([
    "+14155550150",
    "4155550123",
    "+12666966870",
    "+442079460958",
    "sip:alice@pbx.outside.example",
    "sip:+14155550150@pbx.outside.example",
    "sip:1001@pbx.outside.example",
    "client:alice",
    "client:anonymous2",
    "911",
    "multiple"
  ])("that is sent as %j is shown so", (sent) => {
    expect(readCallerId(sent)).toEqual({ from: sent, withheld: null })
  })

  it("is bounded, without control characters", () => {
    expect(readCallerId(`sip:${"a".repeat(1_000)}`).from).toHaveLength(256)
    expect(readCallerId("sip:a\u0000\nb@pbx.example").from).toBe("sip:ab@pbx.example")
    expect(readCallerId("sip:\ud800@pbx.example").from).toBe("sip:\ufffd@pbx.example")
  })

  it("is never a placeholder that can be called", () => {
    for (const number of ["+266696687", "+2562533", "+12562533", "+7378742833", "+86282452253", "+8656696"])
      expect(isPlaceholderNumber(number)).toBe(true)
    for (const number of ["+14155550150", "+12562533000", "+442079460958"])
      expect(isPlaceholderNumber(number)).toBe(false)
  })
})
