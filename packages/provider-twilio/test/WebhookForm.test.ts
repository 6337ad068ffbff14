import { Timestamp } from "@agentos/core"
import { Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { Twiml, webhookAddresses, WebhookForm } from "../src/index.ts"
import { WEBHOOK_PATHS } from "../src/WebhookPath.ts"

const sid = `CA${"0f".repeat(16)}`
const now = Timestamp.Timestamp.make(1_800_000_000_000)
/** The fields that Twilio adds when a call is recorded. */
const recording = {
  RecordingUrl: "https://api.twilio.com/recordings/RE1",
  RecordingSid: "RE1",
  RecordingDuration: "12",
  RecordingStatus: "completed"
}
const call = {
  AccountSid: `AC${"a1".repeat(16)}`,
  CallSid: sid,
  From: "+14155550150",
  To: "+14155550100",
  CallStatus: "in-progress",
  Direction: "inbound",
  ...recording
}
const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields)

describe("the report of who answered", () => {
  it.each([
    ["human", "person"],
    ["machine_start", "machine"],
    ["machine_end_beep", "machine"],
    ["machine_end_silence", "machine"],
    ["machine_end_other", "machine"],
    ["fax", "fax"],
    ["unknown", undefined],
    ["another", undefined]
  ])("%s is %s", (text, answeredBy) => {
    const CallSid = `CA${"0".repeat(32)}`
    const read = Option.getOrThrow(WebhookForm.readRecognized(new URLSearchParams({ CallSid, AnsweredBy: text })))
    expect(read.providerCallId).toBe(CallSid)
    expect(Option.getOrUndefined(read.report)).toStrictEqual(
      answeredBy === undefined ? undefined : { _tag: "Recognized", answeredBy }
    )
  })

  it("is invalid without its value", () => {
    expect(WebhookForm.readRecognized(new URLSearchParams({ CallSid: `CA${"0".repeat(32)}` }))).toStrictEqual(
      Option.none()
    )
  })
})

describe("a webhook", () => {
  it("names the caller and the called number, and contains no recording", () => {
    expect(WebhookForm.readVoice(form(call))).toStrictEqual(
      Option.some({ providerCallId: sid, from: "+14155550150", to: "+14155550100" })
    )
    expect(WebhookForm.readAnswer(form(call))).toStrictEqual(Option.some({ providerCallId: sid }))
  })

  it.each([
    ["no call", { From: "+1", To: "+1" }],
    ["another kind of thing", { ...call, CallSid: `RE${"0f".repeat(16)}` }]
  ])("is not decoded with %s", (_, fields) => {
    expect(WebhookForm.readVoice(form(fields as typeof call))).toStrictEqual(Option.none())
  })

  it("may have no caller, or one of any form", () => {
    const { From, ...others } = call
    const from = (fields: Readonly<Record<string, string>>) =>
      Option.getOrThrow(WebhookForm.readVoice(form(fields))).from
    expect(from(call)).toBe(From)
    expect(from(others)).toBe("")
    for (const caller of ["", "anonymous", "sip:alice@pbx.example", "9".repeat(300)])
      expect(from({ ...call, From: caller })).toBe(caller)
  })

  it("of the end says who answered, if Twilio recognized it", () => {
    const fields = { ...call, CallStatus: "completed", CallDuration: "4", AnsweredBy: "machine_end_beep" }
    expect(WebhookForm.readStatus(form(fields), now)).toStrictEqual(
      Option.some({
        providerCallId: sid,
        report: Option.some({ _tag: "Ended", at: now, ending: "completed", seconds: 4, answeredBy: "machine" })
      })
    )
  })

  it("is decoded whatever its unused fields contain", () => {
    const odd = {
      ...call,
      CallStatus: "completed",
      CallDuration: "about a minute, they say, maybe two",
      ErrorCode: "?"
    }
    expect(WebhookForm.readStatus(form(odd), now)).toStrictEqual(
      Option.some({
        providerCallId: sid,
        report: Option.some({ _tag: "Ended", at: now, ending: "completed", seconds: null })
      })
    )
  })

  it.each([
    ["queued", undefined, undefined],
    ["initiated", undefined, undefined],
    ["a word of tomorrow", undefined, undefined],
    ["ringing", undefined, { _tag: "Ringing" }],
    ["in-progress", undefined, { _tag: "Answered", at: now }],
    ["completed", "61", { _tag: "Ended", at: now, ending: "completed", seconds: 61 }],
    ["completed", undefined, { _tag: "Ended", at: now, ending: "completed", seconds: null }],
    ["completed", "-1", { _tag: "Ended", at: now, ending: "completed", seconds: null }],
    ["completed", "999999", { _tag: "Ended", at: now, ending: "completed", seconds: 86_400 }],
    ["busy", "0", { _tag: "Ended", at: now, ending: "busy", seconds: 0 }],
    ["no-answer", "0", { _tag: "Ended", at: now, ending: "no_answer", seconds: 0 }],
    ["canceled", "0", { _tag: "Ended", at: now, ending: "no_answer", seconds: 0 }],
    ["failed", "0", { _tag: "Ended", at: now, ending: "failed", seconds: 0 }]
  ])("with status %s after %s seconds is decoded as a report", (CallStatus, CallDuration, report) => {
    const fields = { ...call, CallStatus, ...(CallDuration === undefined ? {} : { CallDuration }) }
    expect(WebhookForm.readStatus(form(fields), now)).toStrictEqual(
      Option.some({ providerCallId: sid, report: Option.fromUndefinedOr(report) })
    )
  })

  it.each([
    ["in-progress", "failed", "Broken"],
    ["in-progress", undefined, "Broken"],
    ["in-progress", "ended", "Ended"],
    ["in-progress", "completed", "Over"],
    ["completed", "completed", "Over"],
    ["completed", "failed", "Over"]
  ])("reports the end of a relay, with the call %s and the session %s, as %s", (CallStatus, SessionStatus, outcome) => {
    const fields = { ...call, CallStatus, ...(SessionStatus === undefined ? {} : { SessionStatus }) }
    expect(WebhookForm.readRelayEnd(form({ ...fields, ErrorCode: "64102" }))).toStrictEqual(
      Option.some({ providerCallId: sid, outcome, errorCode: "64102" })
    )
  })
})

describe("the addresses", () => {
  it("consist of the public URL and the routes", () => {
    const addresses = webhookAddresses("https://agents.example/")
    const filled = (route: string) => `https://agents.example${route.replace(/\{\w+\}/, "a%2Fb")}`
    expect(addresses.voice).toBe(filled(WEBHOOK_PATHS.voice))
    expect(addresses.inboundStatus).toBe(filled(WEBHOOK_PATHS.inboundStatus))
    expect(addresses.answer("a/b")).toBe(filled(WEBHOOK_PATHS.answer))
    expect(addresses.status("a/b")).toBe(filled(WEBHOOK_PATHS.status))
    expect(addresses.resume("a/b")).toBe(filled(WEBHOOK_PATHS.resume))
    expect(addresses.relay(Redacted.make("t-1"))).toBe("wss://agents.example/webhooks/twilio/relay/t-1")
  })
})

describe("TwiML", () => {
  it("connects a call to its relay", () => {
    const document = Twiml.connect({
      relayUrl: "wss://agents.example/relay/t",
      actionUrl: "https://agents.example/resume/c",
      language: "en-US",
      voice: null
    })
    expect(document).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response>' +
        '<Connect action="https://agents.example/resume/c" method="POST">' +
        '<ConversationRelay url="wss://agents.example/relay/t" language="en-US" dtmfDetection="true"/>' +
        "</Connect></Response>"
    )
  })

  it("connects a call later if the relay is not ready yet", () => {
    const connection = { relayUrl: "wss://a/b", actionUrl: "https://a", language: null, voice: null }
    expect(Twiml.connect({ ...connection, waitSeconds: 6 })).toContain('<Response><Pause length="6"/><Connect ')
    expect(Twiml.connect({ ...connection, waitSeconds: 0 })).toBe(Twiml.connect(connection))
  })

  it("escapes values in attributes", () => {
    const voice = `"/><Hangup/>&'\n\u0000\ud800`
    const document = Twiml.connect({ relayUrl: "wss://a/b?c&d", actionUrl: "https://a", language: null, voice })
    expect(document).toContain('url="wss://a/b?c&amp;d"')
    expect(document).toContain('voice="&quot;/&gt;&lt;Hangup/&gt;&amp;&apos;&#10;\ufffd"')
    expect(document).not.toContain("language")
  })
})
