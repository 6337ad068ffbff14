import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { readRelayMessage, RELAY_MESSAGE_BYTES_MAX, writeRelayMessage } from "../src/index.ts"

const read = (message: unknown) => readRelayMessage(JSON.stringify(message))

describe("a message of the relay", () => {
  it.each([
    { type: "setup", callSid: "CA1" },
    { type: "prompt", voicePrompt: "Hello?", last: true },
    { type: "interrupt", utteranceUntilInterrupt: "Good mor" },
    { type: "dtmf", digit: "#" },
    { type: "error", description: "no such thing" }
  ])("of type $type is decoded without undeclared fields", (message) => {
    const more = { recordingUrl: "https://api.twilio.com/RE1", recordingSid: "RE1", anything: { at: "all" } }
    expect(read({ ...message, ...more })).toStrictEqual(Option.some(message))
  })

  it.each([
    [
      { type: "setup", callSid: "CA1" },
      { sessionId: 7, from: null, to: ["+1"], direction: 0, customParameters: "x" }
    ],
    [
      { type: "prompt", voicePrompt: "Hello?" },
      { lang: 7, tokens: "x" }
    ],
    [
      { type: "interrupt", utteranceUntilInterrupt: "Good mor" },
      { durationUntilInterruptMs: "460", utterance: 1 }
    ],
    [{ type: "interrupt" }, { durationUntilInterruptMs: null }],
    [
      { type: "dtmf", digit: "5" },
      { digits: [5], timestamp: "now" }
    ],
    [{ type: "error", description: "no such thing" }, { code: "64107" }]
  ])("%j is decoded whatever its unused fields contain", (message, unused) => {
    expect(read({ ...message, ...unused })).toStrictEqual(Option.some(message))
  })

  it.each([
    ["no JSON", "{"],
    ["of an unknown type", JSON.stringify({ type: "recording", url: "https://a" })],
    ["incomplete", JSON.stringify({ type: "prompt" })],
    ["of a key that no telephone has", JSON.stringify({ type: "dtmf", digit: "12" })],
    ["too large", JSON.stringify({ type: "prompt", voicePrompt: "é".repeat(RELAY_MESSAGE_BYTES_MAX / 2) })]
  ])("that is %s is ignored", (_, frame) => {
    expect(readRelayMessage(frame)).toStrictEqual(Option.none())
  })

  it("is written as JSON", () => {
    expect(writeRelayMessage({ type: "text", token: 'a "b"', last: false })).toBe(
      '{"type":"text","token":"a \\"b\\"","last":false}'
    )
    expect(writeRelayMessage({ type: "sendDigits", digits: "1w#" })).toBe('{"type":"sendDigits","digits":"1w#"}')
    expect(writeRelayMessage({ type: "end" })).toBe('{"type":"end"}')
  })
})
