import { describe, expect, it } from "vitest"
import { accountSid, ada, authToken, basePath, type Json, ours, startRig } from "./TestCarrier.ts"

describe("faults", () => {
  const search = "/AvailablePhoneNumbers/US/Local.json?AreaCode=415"

  it("before: returns 500 without any effect, as often as planned", async () => {
    const rig = await startRig()
    await rig.control("faults", { operation: "buy", mode: "before", times: 2 })
    const buy = () => rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: ours })
    expect(await buy()).toMatchObject({ status: 500, body: { code: 20_500 } })
    expect(await buy()).toMatchObject({ status: 500 })
    expect((await rig.get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]).toEqual([])
    expect((await buy()).status).toBe(201)
  })

  it("after: takes effect, and closes the connection", async () => {
    const rig = await startRig()
    const sid = await rig.buy()
    for (const operation of ["buy", "call", "update", "release", "search"]) {
      await rig.control("faults", { operation, mode: "after" })
    }
    await expect(rig.get(search)).rejects.toThrow("fetch failed")
    await expect(rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: "+14155550101" })).rejects.toThrow(
      "fetch failed"
    )
    await rig.control("people", { number: ada, behaviour: "no-answer" })
    await expect(rig.call()).rejects.toThrow("fetch failed")
    const [call] = (await rig.get("/Calls.json")).body["calls"] as ReadonlyArray<Json>
    const path = `/Calls/${call?.["sid"] as string}.json`
    await expect(rig.post(path, { Status: "completed" })).rejects.toThrow("fetch failed")
    expect((await rig.get(path)).body).toMatchObject({ status: "canceled" })
    await expect(rig.remove(`/IncomingPhoneNumbers/${sid}.json`)).rejects.toThrow("fetch failed")
    const numbers = (await rig.get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]
    expect(numbers).toMatchObject([{ phone_number: "+14155550101" }])
    const { requests } = await rig.log()
    const lost = requests.filter(({ delivered }) => !delivered)
    expect(lost.map(({ status }) => status)).toEqual([200, 201, 201, 200, 204])
  })

  it("reject: returns a permanent error in Twilio's shape without any effect", async () => {
    const rig = await startRig()
    const sid = await rig.buy()
    await rig.control("people", { number: ada, behaviour: "no-answer" })
    const call = await rig.call()
    for (const operation of ["buy", "call", "update", "release", "search"]) {
      await rig.control("faults", { operation, mode: "reject" })
    }
    expect(await rig.get(search)).toMatchObject({ status: 403, body: { code: 20_403 } })
    expect(await rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: "+14155550101" })).toMatchObject({
      status: 400,
      body: { code: 21_422 }
    })
    expect(await rig.post("/Calls.json", { To: ada, From: ours, Twiml: "<Response/>" })).toMatchObject({
      status: 400,
      body: { code: 21_216 }
    })
    expect(await rig.post(`/Calls/${call}.json`, { Status: "completed" })).toMatchObject({ body: { code: 21_220 } })
    expect(await rig.remove(`/IncomingPhoneNumbers/${sid}.json`)).toMatchObject({ status: 403 })
    expect((await rig.get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]).toHaveLength(1)
    expect((await rig.get("/Calls.json")).body["calls"]).toHaveLength(1)
    expect((await rig.callState(call)).state).toBe("ringing")
  })

  it("hang: takes effect, and sends no response", async () => {
    const rig = await startRig()
    await rig.control("faults", { operation: "buy", mode: "hang" })
    const hanging = fetch(`${rig.carrier.url}${basePath}/IncomingPhoneNumbers.json`, {
      method: "POST",
      headers: {
        Authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`,
        "Content-Type": "application/x-www-form-urlencoded"
      },
      body: new URLSearchParams({ PhoneNumber: ours }).toString(),
      signal: AbortSignal.timeout(300)
    })
    await expect(hanging).rejects.toThrow(/timeout/)
    expect((await rig.get("/IncomingPhoneNumbers.json")).body["incoming_phone_numbers"]).toHaveLength(1)
  })

  it("can apply to one area code only, for each of its numbers", async () => {
    const rig = await startRig()
    await rig.control("faults", { operation: "buy", mode: "reject", only: "212" })
    await rig.buy()
    const buy = () => rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: "+12125550107" })
    expect((await buy()).status).toBe(400)
    expect((await buy()).status).toBe(201)
    expect((await rig.control("numbers")).body).toEqual({ numbers: [ours, "+12125550107"] })
  })

  it("can apply to one time limit of a call only", async () => {
    const rig = await startRig()
    await rig.buy()
    await rig.control("people", { number: ada, behaviour: "no-answer" })
    const path = `/Calls/${await rig.call()}.json`
    await rig.control("faults", { operation: "update", mode: "reject", only: `${ada} 360` })
    expect((await rig.post(path, { TimeLimit: "300" })).status).toBe(200)
    expect((await rig.post(path, { TimeLimit: "360" })).status).toBe(400)
    expect((await rig.post(path, { TimeLimit: "360" })).status).toBe(200)
  })

  it("can apply to one number only, and can be cleared, and are rejected if invalid", async () => {
    const rig = await startRig()
    await rig.control("faults", { operation: "buy", mode: "reject", only: "+14155550101" })
    await rig.buy()
    expect((await rig.post("/IncomingPhoneNumbers.json", { PhoneNumber: "+14155550101" })).status).toBe(400)
    await rig.control("faults", { operation: "call", mode: "hang", times: 3 })
    expect((await rig.control("faults")).body).toEqual({ faults: [{ operation: "call", mode: "hang", times: 3 }] })
    const url = `${rig.carrier.url}/sandbox/faults`
    expect(await (await fetch(url, { method: "DELETE" })).json()).toEqual({ faults: [] })
    expect((await rig.control("faults", { operation: "hangup", mode: "after" })).status).toBe(400)
  })
})
