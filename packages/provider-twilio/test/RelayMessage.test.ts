import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { readRelayMessage, RELAY_MESSAGE_BYTES_MAX, writeRelayMessage } from "../src/index.ts"

const read = (message: unknown) => readRelayMessage(JSON.stringify(message))

describe("a message of the relay", () => {
  it.each([
    { type: "setup", sessionId: "VX1", callSid: "CA1", from: "+14155550150", to: "+14155550100", direction: "inbound" },
    { type: "prompt", voicePrompt: "Hello?", lang: "en-US", last: true },
    { type: "interrupt", utteranceUntilInterrupt: "Good mor", durationUntilInterruptMs: 460 },
    { type: "dtmf", digit: "#" },
    { type: "error", description: "no such thing" }
  ])("of type $type is decoded without undeclared fields", (message) => {
    const more = { recordingUrl: "https://api.twilio.com/RE1", recordingSid: "RE1", anything: { at: "all" } }
    expect(read({ ...message, ...more })).toStrictEqual(Option.some(message))
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
    expect(writeRelayMessage({ type: "end" })).toBe('{"type":"end"}')
  })
})
