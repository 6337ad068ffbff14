import { describe, expect, it } from "vitest"
import { accountSid, ada, connect, ours, type Rig, startRig } from "./TestCarrier.ts"
import { call as callShape, mismatches } from "./Shape.ts"

/** Starts a carrier with a number whose calls go to the application. */
const startWithNumber = async (voice: string): Promise<Rig & { readonly numberSid: string }> => {
  const rig = await startRig()
  rig.application.replies.set("/voice", voice)
  const { url } = rig.application
  const numberSid = await rig.buy(ours, { VoiceUrl: `${url}/voice?n=1`, StatusCallback: `${url}/status` })
  return { ...rig, numberSid }
}

const callIn = async (rig: Rig, caller: object = {}): Promise<string> => {
  const made = await rig.control("calls", { from: ada, to: ours, lines: [], patienceSeconds: 600, ...caller })
  expect(made).toMatchObject({ status: 200, body: { id: expect.stringMatching(/^CA[0-9a-f]{32}$/) } })
  return made.body["id"] as string
}

describe("an inbound call", () => {
  it("requests the VoiceUrl, is answered, and carries a conversation", async () => {
    const rig = await startWithNumber("")
    rig.application.replies.set("/voice", connect(rig.application, 'welcomeGreeting="Hello"'))
    const sid = await callIn(rig, { lines: ["Is this the agent?"] })
    const relay = await rig.application.relay()
    expect(await relay.message("setup")).toMatchObject({
      callSid: sid,
      from: ada,
      to: ours,
      direction: "inbound",
      callStatus: "RINGING"
    })
    const [asked] = rig.application.requests("/voice")
    expect(asked).toMatchObject({ isSigned: true, method: "POST" })
    expect(asked?.form).toMatchObject({
      CallSid: sid,
      AccountSid: accountSid,
      From: ada,
      To: ours,
      CallStatus: "ringing",
      Direction: "inbound",
      ApiVersion: "2010-04-01"
    })
    expect(await relay.message("prompt")).toMatchObject({ voicePrompt: "Is this the agent?" })
    expect(await rig.callState(sid)).toMatchObject({ id: sid, state: "in-progress", endedBy: null })
    relay.speak("It is")
    expect(await rig.untilEnded(sid)).toMatchObject({
      id: sid,
      state: "completed",
      heard: ["Hello", "It is"],
      endedBy: "person"
    })
    const told = await rig.application.request("/status")
    expect(told).toMatchObject({ isSigned: true })
    expect(told.form).toMatchObject({ CallSid: sid, CallStatus: "completed", Direction: "inbound" })
    expect(told.form["CallDuration"]).toMatch(/^\d+$/)
    const shown = await rig.get(`/Calls/${sid}.json`)
    expect(mismatches(shown.body, callShape)).toEqual([])
    expect(shown.body).toMatchObject({ direction: "inbound", phone_number_sid: rig.numberSid, status: "completed" })
  })

  it("is visible to the account while it rings, and accepts a limit before the answer", async () => {
    const rig = await startWithNumber("")
    rig.application.replies.set("/voice", () => undefined)
    const sid = await callIn(rig, { seconds: 900 })
    await rig.application.request("/voice")
    expect((await rig.get(`/Calls/${sid}.json`)).body).toMatchObject({ status: "ringing", direction: "inbound" })
    expect(await rig.callState(sid)).toMatchObject({ state: "ringing" })
    expect((await rig.post(`/Calls/${sid}.json`, { TimeLimit: "10" })).status).toBe(200)
    expect((await rig.post(`/Calls/${sid}.json`, { Twiml: "<Response/>" })).body).toMatchObject({ code: 21_220 })
    expect((await rig.post(`/Calls/${sid}.json`, { Status: "completed" })).body).toMatchObject({ status: "canceled" })
    expect(await rig.untilEnded(sid)).toMatchObject({ state: "rejected", endedBy: "agent" })
  })

  it("ends at the limit that the account has set", async () => {
    const rig = await startWithNumber("<Response><Pause length='900'/></Response>")
    const sid = await callIn(rig, { seconds: 900 })
    await expect.poll(async () => (await rig.callState(sid)).state).toBe("in-progress")
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "30" })
    await rig.control("clock", { speed: 1_000 })
    expect(await rig.untilEnded(sid)).toMatchObject({ seconds: 30, endedBy: "carrier" })
  })

  it.each([
    ["<Response><Reject/></Response>", "no-answer"],
    ['<Response><Reject reason="busy"/><Say>Never</Say></Response>', "busy"]
  ])("is rejected without an answer by %s", async (voice, status) => {
    const rig = await startWithNumber(voice)
    const sid = await callIn(rig)
    expect(await rig.untilEnded(sid)).toMatchObject({
      state: "rejected",
      status,
      heard: [],
      seconds: null,
      endedBy: "agent"
    })
    expect((await rig.application.request("/status")).form).toMatchObject({ CallStatus: status, CallDuration: "0" })
  })

  it("ends on a Reject after an answer", async () => {
    const rig = await startWithNumber("<Response><Say>Hello</Say><Reject/></Response>")
    expect(await rig.untilEnded(await callIn(rig))).toMatchObject({
      state: "completed",
      heard: ["Hello"],
      endedBy: "agent"
    })
  })

  it("fails if the VoiceUrl fails or is missing", async () => {
    const rig = await startWithNumber("")
    rig.application.replies.set("/voice", { status: 502, body: "" })
    const failed = await rig.untilEnded(await callIn(rig))
    expect(failed).toMatchObject({ state: "rejected", status: "failed", endedBy: "carrier" })
    expect(failed.reason).toContain("error 11200")
    await rig.post(`/IncomingPhoneNumbers/${rig.numberSid}.json`, { VoiceUrl: "" })
    expect(await rig.untilEnded(await callIn(rig))).toMatchObject({ state: "rejected", endedBy: "carrier" })
  })

  it("fails if the relay is unavailable and there is no action", async () => {
    const rig = await startWithNumber("")
    rig.application.replies.set("/voice", connect(rig.application, "", "", false))
    rig.application.accepts.current = false
    expect(await rig.untilEnded(await callIn(rig))).toMatchObject({ state: "rejected", status: "failed" })
  })

  it("fails for a number that is not sold, without any webhook", async () => {
    const rig = await startWithNumber("<Response/>")
    expect((await rig.remove(`/IncomingPhoneNumbers/${rig.numberSid}.json`)).status).toBe(204)
    const sid = await callIn(rig)
    expect(await rig.untilEnded(sid)).toMatchObject({ state: "rejected", heard: [], endedBy: "carrier" })
    expect((await rig.get("/Calls.json")).body["calls"]).toEqual([])
    expect((await rig.get(`/Calls/${sid}.json`)).status).toBe(404)
    expect(rig.application.received).toEqual([])
  })

  it("can be one of many concurrent calls", async () => {
    const rig = await startWithNumber("")
    rig.application.replies.set("/voice", connect(rig.application))
    const people = Array.from({ length: 40 }, (_, index) => `+1${200 + index}5550160`)
    const sids = await Promise.all(people.map((from) => callIn(rig, { from, lines: [`I am ${from}`] })))
    await rig.application.relay(40)
    for (const relay of rig.application.relays) {
      const { callSid } = await relay.message("setup")
      relay.speak(`Hello ${String(callSid)}`)
      await relay.message("prompt")
      relay.speak("Bye")
    }
    const states = await Promise.all(sids.map((sid) => rig.untilEnded(sid)))
    expect(states.map(({ heard }) => heard)).toEqual(sids.map((sid) => [`Hello ${sid}`, "Bye"]))
    expect(states.map(({ said }) => said)).toEqual(people.map((from) => [`I am ${from}`]))
  })

  it.each([
    [{ from: "+14155550100" }],
    [{ from: "+15005550006" }],
    [{ lines: "hello" }],
    [{ lines: [{ shout: "x" }] }],
    [{ lines: [{ dtmf: "x" }] }],
    [{ lines: [""] }],
    [{ lines: Array.from({ length: 101 }, () => "x") }],
    [{ seconds: -1 }],
    [{ mood: "good" }]
  ])("is rejected if invalid: %j", async (caller) => {
    const rig = await startRig()
    expect((await rig.control("calls", { from: ada, to: ours, lines: [], ...caller })).status).toBe(400)
    expect((await rig.control("calls")).body).toEqual({ calls: [] })
  })
})
