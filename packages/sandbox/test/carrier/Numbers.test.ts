import { describe, expect, it } from "vitest"
import { areaCodes } from "../../src/carrier/PhoneNumbers.ts"
import { type Answer, basePath, credentials, type Json, ours, startRig } from "./TestCarrier.ts"
import { availableNumber, error, incomingNumber, mismatches, page } from "./Shape.ts"

const listOf = (answer: Answer, key: string) => answer.body[key] as ReadonlyArray<Json>
const numbersOf = (answer: Answer) =>
  listOf(answer, "available_phone_numbers").map((number) => number["phone_number"] as string)

describe("the inventory", () => {
  it("has 50 numbers of the range for fiction in every listed area code", async () => {
    const { control, get } = await startRig()
    const { US = [], CA = [] } = (await control("area-codes")).body as Record<string, ReadonlyArray<string>>
    expect(US).toEqual(expect.arrayContaining(["212", "415"]))
    expect(CA).toEqual(expect.arrayContaining(["416", "604"]))
    expect(new Set([...US, ...CA]).size).toBe(areaCodes.length)
    const everywhere = numbersOf(await get("/AvailablePhoneNumbers/CA/Local.json?PageSize=1000"))
    expect(everywhere).toHaveLength(Math.min(1_000, CA.length * 50))
    expect(everywhere.slice(0, CA.length).map((number) => number.slice(2, 5))).toEqual(CA)
    const [toronto, francisco] = await Promise.all([
      get("/AvailablePhoneNumbers/CA/Local.json?AreaCode=416&PageSize=100"),
      get("/AvailablePhoneNumbers/US/Local.json?AreaCode=415&PageSize=100")
    ])
    expect(numbersOf(toronto)).toHaveLength(50)
    expect(numbersOf(francisco).toSorted().at(0)).toBe("+14155550100")
    expect(numbersOf(francisco).toSorted().at(-1)).toBe("+14155550149")
  })

  it("has Twilio's shape", async () => {
    const { get } = await startRig()
    const path = "/AvailablePhoneNumbers/US/Local.json"
    const found = await get(`${path}?AreaCode=212&PageSize=2`)
    expect(found.status).toBe(200)
    expect(Object.keys(found.body).toSorted()).toEqual(["available_phone_numbers", "uri"])
    expect(found.body["uri"]).toBe(`${basePath}${path}?AreaCode=212&PageSize=2`)
    const numbers = listOf(found, "available_phone_numbers")
    expect(numbers).toHaveLength(2)
    for (const number of numbers) expect(mismatches(number, availableNumber)).toEqual([])
    expect(numbers[0]).toMatchObject({ friendly_name: "(212) 555-0100", iso_country: "US", region: "NY" })
  })

  it("can be searched by country, area code, region, place, digits and capability", async () => {
    const { get } = await startRig()
    const areas = async (country: string, query: string) => {
      const found = await get(`/AvailablePhoneNumbers/${country}/Local.json?PageSize=1000&${query}`)
      return [...new Set(numbersOf(found).map((number) => number.slice(2, 5)))].toSorted()
    }
    expect(await areas("US", "AreaCode=604")).toEqual([])
    expect(await areas("US", "AreaCode=999")).toEqual([])
    expect(await areas("US", "InRegion=TX")).toEqual(["214", "512", "713"])
    expect(await areas("CA", "InLocality=Toronto")).toEqual(["416", "647"])
    expect(await areas("US", "NearNumber=%2B14155550150")).toEqual(["415", "510", "650"])
    expect(await areas("US", "NearNumber=%2B14155550150&Distance=60")).toEqual(["408", "415", "510", "650"])
    expect(await areas("US", "NearLatLong=25.7,-80.2")).toEqual(["305"])
    expect(await areas("US", "VoiceEnabled=true&AreaCode=415")).toEqual(["415"])
    expect(await areas("US", "VoiceEnabled=false")).toEqual([])
    const contains = await get("/AvailablePhoneNumbers/US/Local.json?Contains=415555014*")
    expect(numbersOf(contains)).toHaveLength(10)
  })

  it.each([
    ["/AvailablePhoneNumbers/GB/Local.json", 404, 20_404],
    ["/AvailablePhoneNumbers/US/Local.json?AreaCode=41", 400, 21_451],
    ["/AvailablePhoneNumbers/US/Local.json?Areacode=415", 400, 20_001],
    ["/AvailablePhoneNumbers/US/Local.json?PageSize=0", 400, 20_001],
    ["/AvailablePhoneNumbers/US/Local.json?PageSize=1&PageSize=2", 400, 20_001],
    ["/AvailablePhoneNumbers/US/Mobile.json", 404, 20_404]
  ])("rejects the search %s", async (path, status, code) => {
    const { get } = await startRig()
    const refused = await get(path)
    expect(refused).toMatchObject({ status, body: { code, status } })
    expect(mismatches(refused.body, error)).toEqual([])
  })
})

describe("a number", () => {
  it("is bought with its settings, and is no longer for sale", async () => {
    const { get, post } = await startRig()
    const settings = {
      FriendlyName: "tenant 7",
      VoiceUrl: "https://app.test/voice?n=1",
      VoiceMethod: "GET",
      VoiceFallbackUrl: "https://app.test/fallback",
      StatusCallback: "https://app.test/status",
      StatusCallbackMethod: "POST"
    }
    const bought = await post("/IncomingPhoneNumbers.json", { PhoneNumber: ours, ...settings })
    expect(bought.status).toBe(201)
    expect(mismatches(bought.body, incomingNumber)).toEqual([])
    expect(bought.body).toMatchObject({
      phone_number: ours,
      friendly_name: "tenant 7",
      voice_url: "https://app.test/voice?n=1",
      voice_method: "GET",
      voice_fallback_url: "https://app.test/fallback",
      status_callback: "https://app.test/status",
      uri: `${basePath}/IncomingPhoneNumbers/${bought.body["sid"] as string}.json`
    })
    expect(await get(`/IncomingPhoneNumbers/${bought.body["sid"] as string}.json`)).toEqual({
      status: 200,
      body: bought.body
    })
    expect(numbersOf(await get("/AvailablePhoneNumbers/US/Local.json?AreaCode=415&PageSize=100"))).not.toContain(ours)
  })

  it("is sold once to concurrent buyers", async () => {
    const { get, post } = await startRig()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post("/IncomingPhoneNumbers.json", { PhoneNumber: ours }))
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { body, status } of answers)
      if (status !== 201) expect(body).toMatchObject({ code: 21_422, status: 400 })
    expect(listOf(await get("/IncomingPhoneNumbers.json"), "incoming_phone_numbers")).toHaveLength(1)
  })

  it.each([
    ["belongs to a person", { PhoneNumber: "+14155550150" }, 21_422],
    ["has an unlisted area code", { PhoneNumber: "+12675550100" }, 21_422],
    ["has another exchange code", { PhoneNumber: "+14155560100" }, 21_422],
    ["is not a valid number", { PhoneNumber: "4155550100" }, 21_421],
    ["is missing", {}, 20_001],
    ["is given by area code only", { AreaCode: "415" }, 20_001],
    ["has an unknown parameter", { PhoneNumber: ours, VoiceURL: "https://app.test/" }, 20_001],
    ["has an invalid URL", { PhoneNumber: ours, VoiceUrl: "app.test" }, 21_402],
    ["has an invalid method", { PhoneNumber: ours, VoiceMethod: "PUT" }, 20_001]
  ])("that %s can't be bought", async (_, form, code) => {
    const { get, post } = await startRig()
    const refused = await post("/IncomingPhoneNumbers.json", form)
    expect(refused).toMatchObject({ status: 400, body: { code } })
    expect(mismatches(refused.body, error)).toEqual([])
    expect(listOf(await get("/IncomingPhoneNumbers.json"), "incoming_phone_numbers")).toEqual([])
  })

  it("is updated, and an empty URL removes the previous one", async () => {
    const { buy, post } = await startRig()
    const sid = await buy(ours, { VoiceUrl: "https://app.test/voice" })
    const path = `/IncomingPhoneNumbers/${sid}.json`
    const changed = await post(path, { FriendlyName: "mine", StatusCallback: "https://app.test/s" })
    expect(changed).toMatchObject({
      status: 200,
      body: { friendly_name: "mine", voice_url: "https://app.test/voice", status_callback: "https://app.test/s" }
    })
    expect(mismatches(changed.body, incomingNumber)).toEqual([])
    expect((await post(path, { VoiceUrl: "" })).body).toMatchObject({ voice_url: null, friendly_name: "mine" })
    expect(await post(path, { PhoneNumber: "+12125550100" })).toMatchObject({ status: 400, body: { code: 20_001 } })
  })

  it("is released, and is for sale again", async () => {
    const { buy, get, post, remove } = await startRig()
    const path = `/IncomingPhoneNumbers/${await buy()}.json`
    expect(await remove(path)).toEqual({ status: 204, body: {} })
    const gone = { status: 404, body: { code: 20_404 } }
    expect(await get(path)).toMatchObject(gone)
    expect(await remove(path)).toMatchObject(gone)
    expect(await post(path, { FriendlyName: "x" })).toMatchObject(gone)
    expect(mismatches((await remove(path)).body, error)).toEqual([])
    await buy()
  })
})

describe("the list of numbers", () => {
  it("is filtered, and paged in Twilio's shape without repeated or missing numbers", async () => {
    const { buy, get, remove } = await startRig()
    const bought: Array<string> = []
    for (let line = 0; line < 7; line += 1)
      bought.push(await buy(`+1415555010${line}`, { FriendlyName: `n${line % 2}` }))
    const seen: Array<unknown> = []
    let path: string | null = "/IncomingPhoneNumbers.json?PageSize=3"
    for (let number = 0; path !== null; number += 1) {
      const answer: Answer = await get(path)
      const { incoming_phone_numbers: numbers, ...rest } = answer.body
      expect(mismatches(rest, page)).toEqual([])
      expect(rest).toMatchObject({ page: number, page_size: 3, start: number * 3 })
      for (const one of numbers as ReadonlyArray<Json>) {
        expect(mismatches(one, incomingNumber)).toEqual([])
        seen.push(one["sid"])
      }
      // A concurrent release does not shift the pages.
      if (number === 0) expect((await remove(`/IncomingPhoneNumbers/${String(seen[0])}.json`)).status).toBe(204)
      path = answer.body["next_page_uri"] as string | null
    }
    expect(seen).toEqual(bought.toReversed())
    const one = await get(`/IncomingPhoneNumbers.json?PhoneNumber=${encodeURIComponent("+14155550103")}`)
    expect(listOf(one, "incoming_phone_numbers").map(({ sid }) => sid)).toEqual([bought[3]])
    const named = await get("/IncomingPhoneNumbers.json?FriendlyName=n1")
    expect(listOf(named, "incoming_phone_numbers")).toHaveLength(3)
    const none = await get("/IncomingPhoneNumbers.json?PhoneNumber=%2B12125550100")
    expect(none.body).toMatchObject({ incoming_phone_numbers: [], end: 0, next_page_uri: null })
  })

  it("rejects an unknown page token", async () => {
    const { get } = await startRig()
    expect((await get("/IncomingPhoneNumbers.json?PageToken=PAnone")).status).toBe(400)
  })
})

describe("the API", () => {
  it("requires the account's credentials, and serves only this account", async () => {
    const { carrier, get } = await startRig()
    const url = `${carrier.url}${basePath}/IncomingPhoneNumbers.json`
    for (const headers of [{}, { Authorization: "Basic eDp5" }]) {
      const refused = await fetch(url, { headers })
      expect(refused.status).toBe(401)
      expect(refused.headers.get("www-authenticate")).toBe('Basic realm="Twilio API"')
      expect(await refused.json()).toMatchObject({ code: 20_003, status: 401 })
    }
    expect((await get(`/2010-04-01/Accounts/AC${"0".repeat(32)}/IncomingPhoneNumbers.json`)).status).toBe(404)
    expect((await get("/Messages.json")).status).toBe(404)
    expect((await get("/IncomingPhoneNumbers/PN1.json")).status).toBe(404)
  })

  it("accepts only forms, and the parameters of a POST only in the body", async () => {
    const { carrier, post } = await startRig()
    const json = await fetch(`${carrier.url}${basePath}/IncomingPhoneNumbers.json`, {
      method: "POST",
      headers: { Authorization: credentials, "Content-Type": "application/json" },
      body: JSON.stringify({ PhoneNumber: ours })
    })
    expect(json.status).toBe(415)
    expect((await post(`/IncomingPhoneNumbers.json?PhoneNumber=x`, { PhoneNumber: ours })).status).toBe(400)
    expect((await post("/AvailablePhoneNumbers/US/Local.json", {})).status).toBe(405)
  })
})
