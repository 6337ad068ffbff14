import { describe, expect, it, onTestFinished, vi } from "vitest"
import { call as callShape, error, mismatches, page } from "./Shape.ts"
import { ada, type Answer, basePath, bob, connect, type Json, ours, type Rig, startRig } from "./TestCarrier.ts"

const silent = "<Response><Pause length='600'/></Response>"

/** Starts a carrier with a number, on which a minute of a call takes 60 ms. */
const startFast = async (): Promise<Rig> => {
  const rig = await startRig({ speed: 1_000 })
  await rig.buy()
  return rig
}

const callback = (rig: Rig, events: ReadonlyArray<string> = ["initiated", "ringing", "answered", "completed"]) => ({
  StatusCallback: `${rig.application.url}/status?n=1`,
  StatusCallbackEvent: events
})

/** Waits for the status callbacks and returns their statuses. */
const statuses = async ({ application }: Rig, count: number) => {
  await application.request("/status", count)
  return application.requests("/status").map(({ form }) => form["CallStatus"])
}

describe("an outbound call", () => {
  it("is queued, rings, is answered and completed, with one signed callback each, in order", async () => {
    const rig = await startFast()
    const { application, call, control, get, post, untilEnded } = rig
    await control("people", { number: ada, behaviour: "answers", seconds: 40, ringSeconds: 2 })
    const made = await post("/Calls.json", { To: ada, From: ours, Twiml: silent, ...callback(rig) })
    expect(made.status).toBe(201)
    expect(mismatches(made.body, callShape)).toEqual([])
    expect(made.body).toMatchObject({
      status: "queued",
      direction: "outbound-api",
      from: ours,
      to: ada,
      duration: null
    })
    const sid = made.body["sid"] as string
    expect(made.body["uri"]).toBe(`${basePath}/Calls/${sid}.json`)
    expect(await untilEnded(sid)).toMatchObject({ state: "completed", endedBy: "person", seconds: 40 })
    expect(await statuses(rig, 4)).toEqual(["initiated", "ringing", "in-progress", "completed"])
    const requests = application.requests("/status")
    expect(requests.map(({ form }) => form["SequenceNumber"])).toEqual(["0", "1", "2", "3"])
    expect(requests.every(({ isSigned, method }) => isSigned && method === "POST")).toBe(true)
    expect(new Set(requests.map(({ idempotencyToken }) => idempotencyToken)).size).toBe(4)
    expect(requests[3]?.form).toMatchObject({
      CallSid: sid,
      AccountSid: made.body["account_sid"],
      From: ours,
      To: ada,
      Direction: "outbound-api",
      CallDuration: "40",
      Duration: "1",
      CallbackSource: "call-progress-events",
      ApiVersion: "2010-04-01"
    })
    expect(requests[3]?.form["Timestamp"]).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/)
    expect(requests[2]?.form["CallDuration"]).toBeUndefined()
    const after = await get(`/Calls/${sid}.json`)
    expect(mismatches(after.body, callShape)).toEqual([])
    expect(after.body).toMatchObject({ status: "completed", duration: "40" })
    expect(await call()).not.toBe(sid)
  })

  it.each([
    ["busy", {}, "busy"],
    ["no-answer", { Timeout: "20" }, "no-answer"],
    ["answers", { Timeout: "20" }, "no-answer"]
  ])("to a person with %s and %j ends with %s", async (behaviour, form, status) => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour, ringSeconds: 25 })
    const sid = await rig.call({ ...form, ...callback(rig) })
    expect(await rig.untilEnded(sid)).toMatchObject({ state: "rejected", status, seconds: null, heard: [] })
    expect(await statuses(rig, 3)).toEqual(["initiated", "ringing", status])
    expect((await rig.get(`/Calls/${sid}.json`)).body).toMatchObject({ status, duration: null })
  })

  it("to an unassigned number fails", async () => {
    const rig = await startFast()
    const sid = await rig.call({ To: "+14165550100", ...callback(rig, ["completed"]) })
    expect(await rig.untilEnded(sid)).toMatchObject({ state: "rejected", status: "failed", endedBy: "carrier" })
    expect(await statuses(rig, 1)).toEqual(["failed"])
  })

  it("reaches people abroad, and people without a configured behavior", async () => {
    const rig = await startFast()
    await rig.control("people", { number: "+447700900123", behaviour: "answers", seconds: 5 })
    expect(await rig.untilEnded(await rig.call({ To: "+447700900123", Twiml: silent }))).toMatchObject({ seconds: 5 })
    const unknown = await rig.call({ To: bob, Twiml: "<Response><Say>Hello</Say></Response>" })
    expect(await rig.untilEnded(unknown)).toMatchObject({ state: "completed", heard: ["Hello"] })
  })

  it("sends only the completed callback by default", async () => {
    const rig = await startFast()
    const { StatusCallback } = callback(rig)
    await rig.untilEnded(await rig.call({ StatusCallback }))
    await rig.application.request("/status")
    await rig.untilEnded(await rig.call())
    expect(rig.application.requests("/status").map(({ form }) => form["CallStatus"])).toEqual(["completed"])
    expect(rig.application.requests("/status")[0]?.form["SequenceNumber"]).toBe("0")
  })

  it("requests its document from the Url after the answer, and from the fallback if that fails", async () => {
    const rig = await startFast()
    const { application } = rig
    application.replies.set("/voice", { status: 500, body: "" })
    application.replies.set("/fallback", "<Response><Say>Second best</Say></Response>")
    const urls = { Url: `${application.url}/voice?a=b`, FallbackUrl: `${application.url}/fallback` }
    const sid = await rig.call({ Twiml: "", ...urls, MachineDetection: "Enable" })
    expect(await rig.untilEnded(sid)).toMatchObject({ state: "completed", heard: ["Second best"] })
    const [asked] = application.requests("/voice")
    expect(asked).toMatchObject({ isSigned: true, method: "POST" })
    expect(asked?.form).toMatchObject({
      CallSid: sid,
      CallStatus: "in-progress",
      From: ours,
      To: ada,
      AnsweredBy: "human"
    })
    expect(application.requests("/fallback")[0]?.form).toMatchObject({ ErrorCode: "11200" })
    expect((await rig.get(`/Calls/${sid}.json`)).body).toMatchObject({ answered_by: "human" })
  })

  it("reports who answered in the background, beside its document, if it is asked to", async () => {
    const rig = await startFast()
    const AsyncAmdStatusCallback = `${rig.application.url}/amd`
    const sid = await rig.call({ MachineDetection: "Enable", AsyncAmd: "true", AsyncAmdStatusCallback })
    await rig.application.request("/amd")
    expect(rig.application.requests("/amd")).toMatchObject([
      { isSigned: true, method: "POST", form: { CallSid: sid, AnsweredBy: "human" } }
    ])
    await rig.untilEnded(sid)
  })

  it("requests by GET with the fields in the signed URL", async () => {
    const rig = await startFast()
    const sid = await rig.call({ Twiml: "", Url: `${rig.application.url}/voice?a=b`, Method: "GET" })
    await rig.untilEnded(sid)
    expect(rig.application.requests("/voice")[0]).toMatchObject({
      isSigned: true,
      method: "GET",
      form: { a: "b", CallSid: sid }
    })
  })

  it.each([
    ["fails", { status: 503, body: "" }, "error 11200"],
    ["is not XML", "hello", "error 12100"],
    ["contains a recording", "<Response><Record/></Response>", "error 12200"]
  ])("ends if its document %s", async (_, reply, reason) => {
    const rig = await startFast()
    rig.application.replies.set("/voice", reply)
    const over = await rig.untilEnded(await rig.call({ Twiml: "", Url: `${rig.application.url}/voice` }))
    expect(over).toMatchObject({ state: "completed", endedBy: "carrier", reason: expect.stringContaining(reason) })
  })

  it("plays its document, and then hangs up", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 6_000 })
    const paused = await rig.untilEnded(
      await rig.call({ Twiml: "<Response><Say>One</Say><Pause length='30'/></Response>" })
    )
    expect(paused).toMatchObject({ heard: ["One"], endedBy: "agent", reason: "the document ended" })
    expect(paused.seconds).toBeGreaterThanOrEqual(30)
    const hung = await rig.untilEnded(await rig.call({ Twiml: "<Response><Hangup/><Say>Never</Say></Response>" }))
    expect(hung).toMatchObject({ heard: [], endedBy: "agent", reason: "the document hung up" })
  })

  it("retries a webhook once after a refused connection, but not after an error response", async () => {
    const rig = await startFast()
    const { application } = rig
    application.replies.set("/status", { status: 500, body: "" })
    await rig.untilEnded(await rig.call(callback(rig, ["completed"])))
    await application.request("/status")
    await application.close()
    const sid = await rig.call({ Twiml: "", Url: `${application.url}/voice` })
    expect(await rig.untilEnded(sid)).toMatchObject({
      endedBy: "carrier",
      reason: expect.stringContaining("error 11205")
    })
    const { events } = await rig.log()
    const sent = events.filter(({ event, callSid }) => event === "webhook" && callSid === sid)
    expect(sent.map(({ code }) => code)).toEqual([11_205, 11_205])
    expect(application.requests("/status")).toHaveLength(1)
  })
})

describe("the time limit", () => {
  it("ends a call after this time from the answer, and reports the reason", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", ringSeconds: 30, seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["completed"]) })
    expect(await rig.untilEnded(sid)).toMatchObject({
      state: "completed",
      endedBy: "carrier",
      reason: "the time limit of 60 s was reached",
      seconds: 60
    })
    expect((await rig.application.request("/status")).form["CallDuration"]).toBe("60")
    const { events } = await rig.log()
    expect(events.find(({ event }) => event === "ended")).toMatchObject({
      callSid: sid,
      reason: "the time limit of 60 s was reached",
      durationSeconds: 60
    })
  })

  it("can be changed, and is the total duration", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    const updated = await rig.post(`/Calls/${sid}.json`, { TimeLimit: "120" })
    expect(updated.status).toBe(200)
    expect(mismatches(updated.body, callShape)).toEqual([])
    await rig.control("clock", { speed: 2_000 })
    expect(await rig.untilEnded(sid)).toMatchObject({ seconds: 120, reason: "the time limit of 120 s was reached" })
  })

  it("that has passed ends the call when another limit is set before its timer fires", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    const now = performance.now.bind(performance)
    const late = vi.spyOn(performance, "now").mockImplementation(() => now() + 61_000)
    onTestFinished(() => late.mockRestore())
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "120" })
    expect(await rig.untilEnded(sid)).toMatchObject({ seconds: 60, reason: "the time limit of 60 s was reached" })
  })

  it("can be disabled for tests", async () => {
    const rig = await startFast()
    expect((await rig.control("limits")).body).toEqual({ kept: true })
    expect((await rig.control("limits", { kept: false })).body).toEqual({ kept: false })
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 300 })
    const ignored = await rig.call({ Twiml: silent, TimeLimit: "60" })
    expect(await rig.untilEnded(ignored)).toMatchObject({ endedBy: "person", seconds: 300 })
    await rig.control("limits", { kept: true })
    const kept = await rig.call({ Twiml: silent, TimeLimit: "60" })
    expect(await rig.untilEnded(kept)).toMatchObject({ endedBy: "carrier", seconds: 60 })
    expect((await rig.control("limits", { kept: 1 })).status).toBe(400)
  })

  it("ends a call at once that has lasted longer", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 9_000 })
    const sid = await rig.call({ Twiml: "<Response><Pause length='9000'/></Response>", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    await expect.poll(async () => (await rig.callState(sid)).state).toBe("in-progress")
    await rig.control("clock", { speed: 10_000 })
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "1" })
    const over = await rig.untilEnded(sid)
    expect(over).toMatchObject({ endedBy: "carrier", reason: "the time limit of 1 s was reached" })
    expect(over.seconds).toBeGreaterThan(1)
  })
})

describe("an update", () => {
  it("ends an answered call, and cancels a ringing one", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    await rig.control("people", { number: bob, behaviour: "no-answer" })
    const answered = await rig.call({ Twiml: silent, ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    // `canceled` does not end an answered call.
    expect((await rig.post(`/Calls/${answered}.json`, { Status: "canceled" })).body).toMatchObject({
      status: "in-progress"
    })
    const ended = await rig.post(`/Calls/${answered}.json`, { Status: "completed" })
    expect(ended).toMatchObject({ status: 200, body: { status: "completed" } })
    expect(await rig.untilEnded(answered)).toMatchObject({ state: "completed", endedBy: "agent" })
    for (const status of ["completed", "canceled"]) {
      const ringing = await rig.call({ To: bob })
      await expect.poll(async () => (await rig.callState(ringing)).status).toBe("ringing")
      await rig.post(`/Calls/${ringing}.json`, { Status: status })
      expect(await rig.untilEnded(ringing)).toMatchObject({ state: "rejected", status: "canceled", endedBy: "agent" })
    }
  })

  it("redirects a call to another document", async () => {
    const rig = await startRig()
    const { application } = rig
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: connect(application) })
    const relay = await application.relay()
    await relay.message("setup")
    application.replies.set("/other", "<Response><Say>Elsewhere</Say><Hangup/></Response>")
    expect((await rig.post(`/Calls/${sid}.json`, { Url: `${application.url}/other` })).status).toBe(200)
    expect(await rig.untilEnded(sid)).toMatchObject({ heard: ["Elsewhere"], endedBy: "agent" })
    expect(await relay.closed()).toBe(1_000)
    expect(application.requests("/action")).toEqual([])
  })

  it.each([
    ["an ended call", { Status: "completed" }, 400, 21_220],
    ["the time limit of an ended call", { TimeLimit: "5" }, 400, 21_220],
    ["an invalid status", { Status: "busy" }, 400, 20_001],
    ["an invalid time limit", { TimeLimit: "0" }, 400, 20_001],
    ["two documents", { Twiml: "<Response/>", Url: "https://a.test/" }, 400, 20_001],
    ["a recording", { Record: "true" }, 400, 20_001]
  ])("rejects %s", async (_, form, status, code) => {
    const rig = await startFast()
    const sid = await rig.call()
    await rig.untilEnded(sid)
    const refused = await rig.post(`/Calls/${sid}.json`, form)
    expect(refused).toMatchObject({ status, body: { code } })
    expect(mismatches(refused.body, error)).toEqual([])
  })
})

describe("placing a call", () => {
  it.each([
    ["To", "", 21_201],
    ["From", "", 21_213],
    ["To", "911", 21_211],
    ["From", "4155550100", 21_212],
    ["From", "+14155550149", 21_210],
    ["Twiml", "x".repeat(4_001), 20_001],
    ["Url", "app.test/voice", 21_205],
    ["StatusCallback", "app.test/status", 21_609],
    ["StatusCallbackEvent", "hungup", 20_001],
    ["TimeLimit", "14401", 20_001],
    ["TimeLimit", "1.5", 20_001],
    ["Timeout", "601", 20_001],
    ["MachineDetection", "Maybe", 20_001],
    ["AsyncAmd", "yes", 20_001],
    ["AsyncAmdStatusCallback", "app.test/amd", 21_609],
    ["TimeLimits", "60", 20_001],
    ["Record", "true", 20_001],
    ["Record", "false", 20_001],
    ["RecordingChannels", "dual", 20_001],
    ["RecordingStatusCallback", "https://a.test/", 20_001],
    ["RecordingTrack", "both", 20_001],
    ["Trim", "do-not-trim", 20_001]
  ])("with %s=%s is rejected, and no call starts", async (name, value, code) => {
    const rig = await startFast()
    const refused = await rig.post("/Calls.json", { To: ada, From: ours, Twiml: "<Response/>", [name]: value })
    expect(refused).toMatchObject({ status: 400, body: { code } })
    expect(mismatches(refused.body, error)).toEqual([])
    expect((await rig.get("/Calls.json")).body["calls"]).toEqual([])
  })

  it("requires a document", async () => {
    const rig = await startFast()
    expect(await rig.post("/Calls.json", { To: ada, From: ours })).toMatchObject({ body: { code: 21_205 } })
  })

  it("reports that recording is not supported", async () => {
    const rig = await startFast()
    const sid = await rig.call()
    for (const [path, form] of [
      ["/Calls.json", { To: ada, From: ours, Twiml: "<Response/>", Record: "true" }],
      [`/Calls/${sid}/Recordings.json`, {}]
    ] as const) {
      const refused = await rig.post(path, form)
      expect(refused).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("recording is not supported") }
      })
    }
  })
})

describe("the list of calls", () => {
  it("is filtered and paged in Twilio's shape", async () => {
    const rig = await startFast()
    await rig.control("people", { number: bob, behaviour: "busy" })
    const sids: Array<string> = []
    for (const To of [ada, bob, ada, ada]) {
      const sid = await rig.call({ To })
      await rig.untilEnded(sid)
      sids.push(sid)
    }
    const list = async (query: string) => {
      const answer = await rig.get(`/Calls.json?${query}`)
      expect(answer.status).toBe(200)
      return (answer.body["calls"] as ReadonlyArray<Json>).map((call) => call["sid"])
    }
    const today = new Date().toISOString().slice(0, 10)
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    expect(await list("")).toEqual(sids.toReversed())
    expect(await list(`To=${encodeURIComponent(bob)}`)).toEqual([sids[1]])
    expect(await list(`From=${encodeURIComponent(bob)}`)).toEqual([])
    expect(await list("Status=completed")).toHaveLength(3)
    // The comparison operator is part of the parameter name.
    expect(await list(`StartTime>=${today}`)).toHaveLength(4)
    expect(await list(`StartTime>=${tomorrow}`)).toEqual([])
    expect(await list(`StartTime<=${today}`)).toEqual([])
    expect(await list(`StartTime=${today}`)).toHaveLength(4)
    expect(await list(`StartTime%3E=${encodeURIComponent(new Date(Date.now() - 60_000).toISOString())}`)).toHaveLength(
      4
    )
    const paged: Answer = await rig.get("/Calls.json?PageSize=3")
    const { calls, ...rest } = paged.body
    expect(mismatches(rest, page)).toEqual([])
    for (const one of calls as ReadonlyArray<Json>) expect(mismatches(one, callShape)).toEqual([])
    const second = await rig.get(rest["next_page_uri"] as string)
    expect((second.body["calls"] as ReadonlyArray<Json>).map((call) => call["sid"])).toEqual([sids[0]])
    expect(second.body).toMatchObject({ page: 1, next_page_uri: null })
    for (const query of ["Status=over", "StartTime=yesterday", "starttime=x"]) {
      expect((await rig.get(`/Calls.json?${query}`)).status).toBe(400)
    }
  })
})
