import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { startCarrier } from "../../src/carrier/Carrier.ts"
import { startStandIn } from "../shared/ChildProcesses.ts"
import {
  accountSid,
  ada,
  authToken,
  basePath,
  bob,
  clientOf,
  connect,
  type Json,
  ours,
  startRig
} from "./TestCarrier.ts"

describe("the log", () => {
  it("contains every request to the API in order, with its parameters and status", async () => {
    const rig = await startRig()
    await rig.get("/AvailablePhoneNumbers/US/Local.json?AreaCode=415")
    const sid = await rig.buy(ours, { FriendlyName: "a b" })
    await rig.post("/Calls.json", {
      To: ada,
      From: bob,
      Twiml: "<Response/>",
      StatusCallbackEvent: ["ringing", "answered"]
    })
    await rig.remove(`/IncomingPhoneNumbers/${sid}.json`)
    await fetch(`${rig.carrier.url}${basePath}/Calls.json`)
    await rig.control("people")
    const { requests } = await rig.log()
    expect(requests).toMatchObject([
      {
        method: "GET",
        path: `${basePath}/AvailablePhoneNumbers/US/Local.json`,
        query: { AreaCode: "415" },
        status: 200
      },
      {
        method: "POST",
        path: `${basePath}/IncomingPhoneNumbers.json`,
        form: { PhoneNumber: ours, FriendlyName: "a b" },
        status: 201,
        delivered: true
      },
      { path: `${basePath}/Calls.json`, form: { StatusCallbackEvent: ["ringing", "answered"] }, status: 400 },
      { method: "DELETE", path: `${basePath}/IncomingPhoneNumbers/${sid}.json`, form: {}, status: 204 },
      { method: "GET", path: `${basePath}/Calls.json`, status: 401 }
    ])
    for (const request of requests) expect(request).toHaveProperty("at", expect.stringMatching(/^\d{4}-.*Z$/))
  })

  it("contains no credentials", async () => {
    const rig = await startRig()
    await rig.buy()
    expect(JSON.stringify(await rig.log())).not.toContain(authToken)
  })
})

describe("status callbacks", () => {
  const events = ["initiated", "ringing", "answered", "completed"]

  it("can be reordered and repeated", async () => {
    const rig = await startRig({ speed: 1_000 })
    await rig.buy()
    await rig.control("callbacks", { order: "reversed", copies: 2 })
    const StatusCallback = `${rig.application.url}/status`
    await rig.untilEnded(await rig.call({ StatusCallback, StatusCallbackEvent: events }))
    await rig.application.request("/status", 8)
    const sequence = rig.application.requests("/status").map(({ form }) => form["SequenceNumber"])
    expect(sequence).toEqual(["3", "3", "2", "2", "1", "1", "0", "0"])
  })

  it("can be dropped, until the default is restored", async () => {
    const rig = await startRig({ speed: 1_000 })
    await rig.buy()
    await rig.control("callbacks", { copies: 0 })
    const StatusCallback = `${rig.application.url}/status`
    await rig.untilEnded(await rig.call({ StatusCallback }))
    await fetch(`${rig.carrier.url}/sandbox/callbacks`, { method: "DELETE" })
    expect((await rig.control("callbacks")).body).toEqual({ copies: 1, order: "usual" })
    const sid = await rig.call({ StatusCallback })
    await rig.untilEnded(sid)
    await rig.application.request("/status")
    expect(rig.application.requests("/status").map(({ form }) => form["CallSid"])).toEqual([sid])
  })
})

describe("the controls", () => {
  it.each([
    ["people", { behaviour: "busy" }],
    ["people", { number: ours, behaviour: "busy" }],
    ["people", { number: ada, behaviour: "rude" }],
    ["people", { number: ada, behaviour: "answers", seconds: "5" }],
    ["people", null],
    ["people", []],
    ["clock", { speed: 0 }],
    ["clock", { speed: 10_001 }],
    ["clock", {}],
    ["callbacks", { copies: 6 }],
    ["callbacks", { order: "random" }]
  ])("reject an invalid body of %s: %j", async (path, body) => {
    const rig = await startRig()
    expect(await rig.control(path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) } })
  })

  it("name unknown, missing and invalid properties", async () => {
    const { control } = await startRig()
    expect((await control("people", { behaviour: "busy", answers: 1 })).body).toEqual({
      error: "unknown property `answers`; missing property `number`"
    })
    expect((await control("people", { number: ada, seconds: -1 })).body).toEqual({
      error: "`seconds`: Expected a value between 0 and 86400"
    })
  })

  it("return 404 for unknown paths, and 405 for unknown methods", async () => {
    const rig = await startRig()
    expect((await rig.control("nothing")).status).toBe(404)
    expect((await rig.control(`calls/CA${"0".repeat(32)}`)).status).toBe(404)
    expect((await fetch(`${rig.carrier.url}/`)).status).toBe(404)
    expect((await fetch(`${rig.carrier.url}/sandbox/log`, { method: "DELETE" })).status).toBe(405)
    expect((await rig.control("clock")).body).toEqual({ speed: 1 })
    const person = { number: ada, behaviour: "answers", lines: ["a", { dtmf: "1" }], seconds: 3 }
    expect(await rig.control("people", person)).toEqual({ status: 200, body: person })
    expect((await rig.control("people")).body).toEqual({ people: [person] })
  })
})

describe("a restarted carrier", () => {
  it("has written each change before its response", async () => {
    const rig = await startRig()
    const stored = async () => {
      const state = JSON.parse(await readFile(`${rig.dataDir}/carrier.json`, "utf8")) as Record<
        string,
        ReadonlyArray<Json>
      >
      return { numbers: state["numbers"] ?? [], calls: state["calls"] ?? [], people: state["people"] ?? [] }
    }
    const sid = await rig.buy()
    expect((await stored()).numbers).toMatchObject([{ sid, phoneNumber: ours }])
    const path = `/IncomingPhoneNumbers/${sid}.json`
    await rig.post(path, { FriendlyName: "mine" })
    expect((await stored()).numbers).toMatchObject([{ friendlyName: "mine" }])
    await rig.control("people", { number: ada, behaviour: "no-answer" })
    expect((await stored()).people).toMatchObject([{ number: ada }])
    const call = await rig.call({ TimeLimit: "60" })
    expect((await stored()).calls).toMatchObject([{ sid: call, timeLimitSeconds: 60 }])
    await rig.post(`/Calls/${call}.json`, { TimeLimit: "120" })
    expect((await stored()).calls).toMatchObject([{ timeLimitSeconds: 120 }])
    await rig.remove(path)
    expect((await stored()).numbers).toEqual([])
  })

  it("keeps its numbers and people, and has ended its calls", async () => {
    const rig = await startRig()
    const sid = await rig.buy(ours, { VoiceUrl: `${rig.application.url}/voice` })
    const gone = await rig.buy("+14155550101")
    await rig.remove(`/IncomingPhoneNumbers/${gone}.json`)
    await rig.control("people", { number: ada, behaviour: "answers", lines: ["Hello"], seconds: 900 })
    const call = await rig.call({ Twiml: connect(rig.application) })
    const relay = await rig.application.relay()
    relay.speak("Good day")
    await relay.message("prompt")
    await rig.carrier.close()
    const received = rig.application.received.length

    const again = await startCarrier({ dataDir: rig.dataDir, accountSid, authToken })
    onTestFinished(again.close)
    const { control, get, post } = clientOf(() => again.url)
    expect((await get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]).toMatchObject([
      { sid, phone_number: ours, voice_url: `${rig.application.url}/voice` }
    ])
    expect((await post("/IncomingPhoneNumbers.json", { PhoneNumber: ours })).body).toMatchObject({ code: 21_422 })
    expect((await control(`calls/${call}`)).body).toMatchObject({
      state: "completed",
      heard: ["Good day"],
      said: ["Hello"],
      endedBy: "carrier"
    })
    expect((await get(`/Calls/${call}.json`)).body).toMatchObject({ status: "completed" })
    expect((await control("people")).body["people"]).toMatchObject([{ number: ada, lines: ["Hello"] }])
    // No webhook was sent.
    expect(rig.application.received).toHaveLength(received)
  })

  it("keeps its state after a kill, in its own process", async () => {
    const rig = await startRig()
    await rig.carrier.close()
    const start = () =>
      startStandIn<{ ready: string; pid: number; port: number; url: string }>("carrier", {
        dataDir: rig.dataDir,
        accountSid,
        authToken,
        port: 0
      })
    const first = await start()
    expect(first.ready).toMatchObject({ ready: "carrier", pid: first.process.pid })
    const one = clientOf(() => first.ready.url)
    expect((await one.post("/IncomingPhoneNumbers.json", { PhoneNumber: ours })).status).toBe(201)
    await one.control("people", { number: ada, behaviour: "answers", seconds: 900 })
    const form = { To: ada, From: ours, Twiml: "<Response><Pause length='900'/></Response>" }
    const sid = (await one.post("/Calls.json", form)).body["sid"] as string
    first.process.kill("SIGKILL")
    await first.exitCode()

    const second = await start()
    const other = clientOf(() => second.ready.url)
    expect((await other.get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]).toHaveLength(1)
    expect((await other.control(`calls/${sid}`)).body).toMatchObject({ endedBy: "carrier" })
    second.process.stdin?.end()
    expect(await second.exitCode()).toBe(0)
  })

  it("does not start with an invalid account sid or state file", async () => {
    const rig = await startRig()
    await expect(startCarrier({ dataDir: rig.dataDir, accountSid: "AC1", authToken })).rejects.toThrow("account sid")
    await rig.carrier.close()
    await rm(rig.dataDir, { recursive: true })
    await mkdir(rig.dataDir)
    await writeFile(`${rig.dataDir}/carrier.json`, '{"numbers":{}}')
    await expect(startCarrier({ dataDir: rig.dataDir, accountSid, authToken })).rejects.toThrow()
  })
})
