import { describe, expect, it, onTestFinished, vi } from "vitest"
import { call as callShape, error, misfits, page } from "./Shape.ts"
import { ada, type Answer, basePath, bob, connect, type Json, ours, type Rig, startRig } from "./TestCarrier.ts"

const silent = "<Response><Pause length='600'/></Response>"

/** A rig with a number, where a minute of calls takes 60 ms. */
const startFast = async (): Promise<Rig> => {
  const rig = await startRig({ speed: 1_000 })
  await rig.buy()
  return rig
}

const callback = (rig: Rig, events: ReadonlyArray<string> = ["initiated", "ringing", "answered", "completed"]) => ({
  StatusCallback: `${rig.application.url}/status?n=1`,
  StatusCallbackEvent: events
})

/** The statuses that were told, once the last is there. */
const told = async ({ application }: Rig, count: number) => {
  await application.request("/status", count)
  return application.requests("/status").map(({ form }) => form["CallStatus"])
}

describe("an outbound call", () => {
  it("is queued, rings, is answered and completed, and each is told once, in order, and signed", async () => {
    const rig = await startFast()
    const { application, call, control, get, over, post } = rig
    await control("people", { number: ada, behaviour: "answers", seconds: 40, ringSeconds: 2 })
    const made = await post("/Calls.json", { To: ada, From: ours, Twiml: silent, ...callback(rig) })
    expect(made.status).toBe(201)
    expect(misfits(made.body, callShape)).toEqual([])
    expect(made.body).toMatchObject({
      status: "queued",
      direction: "outbound-api",
      from: ours,
      to: ada,
      duration: null
    })
    const sid = made.body["sid"] as string
    expect(made.body["uri"]).toBe(`${basePath}/Calls/${sid}.json`)
    expect(await over(sid)).toMatchObject({ state: "completed", endedBy: "person", seconds: 40 })
    expect(await told(rig, 4)).toEqual(["initiated", "ringing", "in-progress", "completed"])
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
    expect(misfits(after.body, callShape)).toEqual([])
    expect(after.body).toMatchObject({ status: "completed", duration: "40" })
    expect(await call()).not.toBe(sid)
  })

  it.each([
    ["busy", {}, "busy"],
    ["no-answer", { Timeout: "20" }, "no-answer"],
    ["answers", { Timeout: "20" }, "no-answer"]
  ])("to somebody who is %s comes to nothing", async (behaviour, form, status) => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour, ringSeconds: 25 })
    const sid = await rig.call({ ...form, ...callback(rig) })
    expect(await rig.over(sid)).toMatchObject({ state: "rejected", status, seconds: null, heard: [] })
    expect(await told(rig, 3)).toEqual(["initiated", "ringing", status])
    expect((await rig.get(`/Calls/${sid}.json`)).body).toMatchObject({ status, duration: null })
  })

  it("to a number that nobody has fails", async () => {
    const rig = await startFast()
    const sid = await rig.call({ To: "+14165550100", ...callback(rig, ["completed"]) })
    expect(await rig.over(sid)).toMatchObject({ state: "rejected", status: "failed", endedBy: "carrier" })
    expect(await told(rig, 1)).toEqual(["failed"])
  })

  it("reaches people abroad, and people whom nobody told how to behave", async () => {
    const rig = await startFast()
    await rig.control("people", { number: "+447700900123", behaviour: "answers", seconds: 5 })
    expect(await rig.over(await rig.call({ To: "+447700900123", Twiml: silent }))).toMatchObject({ seconds: 5 })
    const unknown = await rig.call({ To: bob, Twiml: "<Response><Say>Hello</Say></Response>" })
    expect(await rig.over(unknown)).toMatchObject({ state: "completed", heard: ["Hello"] })
  })

  it("tells only that it is completed unless more is wanted", async () => {
    const rig = await startFast()
    const { StatusCallback } = callback(rig)
    await rig.over(await rig.call({ StatusCallback }))
    await rig.application.request("/status")
    await rig.over(await rig.call())
    expect(rig.application.requests("/status").map(({ form }) => form["CallStatus"])).toEqual(["completed"])
    expect(rig.application.requests("/status")[0]?.form["SequenceNumber"]).toBe("0")
  })

  it("asks the Url for its document when it is answered, and the fallback when that fails", async () => {
    const rig = await startFast()
    const { application } = rig
    application.replies.set("/voice", { status: 500, body: "" })
    application.replies.set("/fallback", "<Response><Say>Second best</Say></Response>")
    const urls = { Url: `${application.url}/voice?a=b`, FallbackUrl: `${application.url}/fallback` }
    const sid = await rig.call({ Twiml: "", ...urls, MachineDetection: "Enable" })
    expect(await rig.over(sid)).toMatchObject({ state: "completed", heard: ["Second best"] })
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

  it("asks by GET where that is wanted, with the fields in the signed address", async () => {
    const rig = await startFast()
    const sid = await rig.call({ Twiml: "", Url: `${rig.application.url}/voice?a=b`, Method: "GET" })
    await rig.over(sid)
    expect(rig.application.requests("/voice")[0]).toMatchObject({
      isSigned: true,
      method: "GET",
      form: { a: "b", CallSid: sid }
    })
  })

  it.each([
    ["can't be had", { status: 503, body: "" }, "error 11200"],
    ["is no document", "hello", "error 12100"],
    ["asks for a recording", "<Response><Record/></Response>", "error 12200"]
  ])("ends when its document %s", async (_, reply, reason) => {
    const rig = await startFast()
    rig.application.replies.set("/voice", reply)
    const over = await rig.over(await rig.call({ Twiml: "", Url: `${rig.application.url}/voice` }))
    expect(over).toMatchObject({ state: "completed", endedBy: "carrier", reason: expect.stringContaining(reason) })
  })

  it("plays its document to the end, and then hangs up", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 6_000 })
    const paused = await rig.over(await rig.call({ Twiml: "<Response><Say>One</Say><Pause length='30'/></Response>" }))
    expect(paused).toMatchObject({ heard: ["One"], endedBy: "agent", reason: "the document was at its end" })
    expect(paused.seconds).toBeGreaterThanOrEqual(30)
    const hung = await rig.over(await rig.call({ Twiml: "<Response><Hangup/><Say>Never</Say></Response>" }))
    expect(hung).toMatchObject({ heard: [], endedBy: "agent", reason: "the document hung up" })
  })

  it("is retried once where nobody listens, and not where an answer was bad", async () => {
    const rig = await startFast()
    const { application } = rig
    application.replies.set("/status", { status: 500, body: "" })
    await rig.over(await rig.call(callback(rig, ["completed"])))
    await application.request("/status")
    await application.close()
    const sid = await rig.call({ Twiml: "", Url: `${application.url}/voice` })
    expect(await rig.over(sid)).toMatchObject({ endedBy: "carrier", reason: expect.stringContaining("error 11205") })
    const { events } = await rig.log()
    const sent = events.filter(({ event, callSid }) => event === "webhook" && callSid === sid)
    expect(sent.map(({ code }) => code)).toEqual([11_205, 11_205])
    expect(application.requests("/status")).toHaveLength(1)
  })
})

describe("the time limit", () => {
  it("ends a call when it has lasted so long from answer, and says so", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", ringSeconds: 30, seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["completed"]) })
    expect(await rig.over(sid)).toMatchObject({
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

  it("can be set anew, and is the total then", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    const updated = await rig.post(`/Calls/${sid}.json`, { TimeLimit: "120" })
    expect(updated.status).toBe(200)
    expect(misfits(updated.body, callShape)).toEqual([])
    await rig.control("clock", { speed: 2_000 })
    expect(await rig.over(sid)).toMatchObject({ seconds: 120, reason: "the time limit of 120 s was reached" })
  })

  it("that has passed has ended the call, however late its timer is, when another is set", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: silent, TimeLimit: "60", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    const now = performance.now.bind(performance)
    const late = vi.spyOn(performance, "now").mockImplementation(() => now() + 61_000)
    onTestFinished(() => late.mockRestore())
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "120" })
    expect(await rig.over(sid)).toMatchObject({ seconds: 60, reason: "the time limit of 60 s was reached" })
  })

  it("is not kept while a test wants to see who ends the call otherwise", async () => {
    const rig = await startFast()
    expect((await rig.control("limits")).body).toEqual({ kept: true })
    expect((await rig.control("limits", { kept: false })).body).toEqual({ kept: false })
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 300 })
    const ignored = await rig.call({ Twiml: silent, TimeLimit: "60" })
    expect(await rig.over(ignored)).toMatchObject({ endedBy: "person", seconds: 300 })
    await rig.control("limits", { kept: true })
    const kept = await rig.call({ Twiml: silent, TimeLimit: "60" })
    expect(await rig.over(kept)).toMatchObject({ endedBy: "carrier", seconds: 60 })
    expect((await rig.control("limits", { kept: 1 })).status).toBe(400)
  })

  it("ends a call at once that has lasted longer already", async () => {
    const rig = await startFast()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 9_000 })
    const sid = await rig.call({ Twiml: "<Response><Pause length='9000'/></Response>", ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    await expect.poll(async () => (await rig.play(sid)).state).toBe("in-progress")
    await rig.control("clock", { speed: 10_000 })
    await rig.post(`/Calls/${sid}.json`, { TimeLimit: "1" })
    const over = await rig.over(sid)
    expect(over).toMatchObject({ endedBy: "carrier", reason: "the time limit of 1 s was reached" })
    expect(over.seconds).toBeGreaterThan(1)
  })
})

describe("an update", () => {
  it("ends a call that is answered, and cancels one that rings", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    await rig.control("people", { number: bob, behaviour: "no-answer" })
    const answered = await rig.call({ Twiml: silent, ...callback(rig, ["answered"]) })
    await rig.application.request("/status")
    // What only cancels leaves a call alone that is answered.
    expect((await rig.post(`/Calls/${answered}.json`, { Status: "canceled" })).body).toMatchObject({
      status: "in-progress"
    })
    const ended = await rig.post(`/Calls/${answered}.json`, { Status: "completed" })
    expect(ended).toMatchObject({ status: 200, body: { status: "completed" } })
    expect(await rig.over(answered)).toMatchObject({ state: "completed", endedBy: "agent" })
    for (const status of ["completed", "canceled"]) {
      const ringing = await rig.call({ To: bob })
      await expect.poll(async () => (await rig.play(ringing)).status).toBe("ringing")
      await rig.post(`/Calls/${ringing}.json`, { Status: status })
      expect(await rig.over(ringing)).toMatchObject({ state: "rejected", status: "canceled", endedBy: "agent" })
    }
  })

  it("sends a call to another document", async () => {
    const rig = await startRig()
    const { application } = rig
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const sid = await rig.call({ Twiml: connect(application) })
    const relay = await application.relay()
    await relay.message("setup")
    application.replies.set("/other", "<Response><Say>Elsewhere</Say><Hangup/></Response>")
    expect((await rig.post(`/Calls/${sid}.json`, { Url: `${application.url}/other` })).status).toBe(200)
    expect(await rig.over(sid)).toMatchObject({ heard: ["Elsewhere"], endedBy: "agent" })
    expect(await relay.closed()).toBe(1_000)
    expect(application.requests("/action")).toEqual([])
  })

  it.each([
    ["a call that is over", { Status: "completed" }, 400, 21_220],
    ["the time of a call that is over", { TimeLimit: "5" }, 400, 21_220],
    ["a status that is none", { Status: "busy" }, 400, 20_001],
    ["a time that is none", { TimeLimit: "0" }, 400, 20_001],
    ["two documents", { Twiml: "<Response/>", Url: "https://a.test/" }, 400, 20_001],
    ["a recording", { Record: "true" }, 400, 20_001]
  ])("refuses %s", async (_, form, status, code) => {
    const rig = await startFast()
    const sid = await rig.call()
    await rig.over(sid)
    const refused = await rig.post(`/Calls/${sid}.json`, form)
    expect(refused).toMatchObject({ status, body: { code } })
    expect(misfits(refused.body, error)).toEqual([])
  })
})

describe("making a call", () => {
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
    ["TimeLimits", "60", 20_001],
    ["Record", "true", 20_001],
    ["Record", "false", 20_001],
    ["RecordingChannels", "dual", 20_001],
    ["RecordingStatusCallback", "https://a.test/", 20_001],
    ["RecordingTrack", "both", 20_001],
    ["Trim", "do-not-trim", 20_001]
  ])("with %s=%s is refused, and nobody's telephone rings", async (name, value, code) => {
    const rig = await startFast()
    const refused = await rig.post("/Calls.json", { To: ada, From: ours, Twiml: "<Response/>", [name]: value })
    expect(refused).toMatchObject({ status: 400, body: { code } })
    expect(misfits(refused.body, error)).toEqual([])
    expect((await rig.get("/Calls.json")).body["calls"]).toEqual([])
  })

  it("wants a document", async () => {
    const rig = await startFast()
    expect(await rig.post("/Calls.json", { To: ada, From: ours })).toMatchObject({ body: { code: 21_205 } })
  })

  it("says in its own words that it records nothing", async () => {
    const rig = await startFast()
    const sid = await rig.call()
    for (const [path, form] of [
      ["/Calls.json", { To: ada, From: ours, Twiml: "<Response/>", Record: "true" }],
      [`/Calls/${sid}/Recordings.json`, {}]
    ] as const) {
      const refused = await rig.post(path, form)
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining("records no call") } })
    }
  })
})

describe("the list of calls", () => {
  it("is filtered and paged in the vendor's shape", async () => {
    const rig = await startFast()
    await rig.control("people", { number: bob, behaviour: "busy" })
    const sids: Array<string> = []
    for (const To of [ada, bob, ada, ada]) {
      const sid = await rig.call({ To })
      await rig.over(sid)
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
    // The sign of the comparison belongs to the name.
    expect(await list(`StartTime>=${today}`)).toHaveLength(4)
    expect(await list(`StartTime>=${tomorrow}`)).toEqual([])
    expect(await list(`StartTime<=${today}`)).toEqual([])
    expect(await list(`StartTime=${today}`)).toHaveLength(4)
    expect(await list(`StartTime%3E=${encodeURIComponent(new Date(Date.now() - 60_000).toISOString())}`)).toHaveLength(
      4
    )
    const paged: Answer = await rig.get("/Calls.json?PageSize=3")
    const { calls, ...rest } = paged.body
    expect(misfits(rest, page)).toEqual([])
    for (const one of calls as ReadonlyArray<Json>) expect(misfits(one, callShape)).toEqual([])
    const second = await rig.get(rest["next_page_uri"] as string)
    expect((second.body["calls"] as ReadonlyArray<Json>).map((call) => call["sid"])).toEqual([sids[0]])
    expect(second.body).toMatchObject({ page: 1, next_page_uri: null })
    for (const query of ["Status=over", "StartTime=yesterday", "starttime=x"]) {
      expect((await rig.get(`/Calls.json?${query}`)).status).toBe(400)
    }
  })
})
