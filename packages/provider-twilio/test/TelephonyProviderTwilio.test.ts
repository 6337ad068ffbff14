import { ProviderError, TelephonyProvider, Timestamp } from "@agentos/core"
import { Effect, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { TelephonyProviderTwilio } from "../src/index.ts"
import { drop, hang, type Reply, startScriptedTwilio } from "./support/ScriptedTwilio.ts"

type Provider = TelephonyProvider["Service"]

const accountSid = `AC${"a1".repeat(16)}`
const base = `/2010-04-01/Accounts/${accountSid}`
const config: TelephonyProviderTwilio.TelephonyProviderTwilioConfig = {
  accountSid,
  authToken: Redacted.make("very-secret"),
  apiUrl: "http://127.0.0.1:1",
  publicUrl: "https://agents.example",
  label: "agentos test",
  timeoutMillis: 10_000
}
const since = Timestamp.Timestamp.make(0)

type Use = (provider: Provider) => Effect.Effect<unknown, ProviderError>

/** Returns the result of a use: its value, or its error. */
const using = (changed: Partial<typeof config>, use: Use): Promise<unknown> =>
  Effect.flatMap(TelephonyProvider, use).pipe(
    Effect.provide(TelephonyProviderTwilio.layer({ ...config, ...changed })),
    Effect.catch((error: ProviderError) => Effect.succeed(error)),
    Effect.runPromise
  )

const reasonOf = (outcome: unknown) => (outcome instanceof ProviderError ? outcome.reason : outcome)
const place = (provider: Provider) =>
  provider.place({ callId: "c1", from: "+14155550100", to: "+14155550150", limitSeconds: 60 })

const changes = {
  buy: (provider: Provider) => provider.buy("+14155550100"),
  release: (provider: Provider) => provider.release("PN1"),
  place,
  changeLimit: (provider: Provider) => provider.changeLimit("CA1", 60),
  hangUp: (provider: Provider) => provider.hangUp("CA1")
}
const questions = {
  search: (provider: Provider) => provider.search({ country: "US", limit: 1 }),
  findNumber: (provider: Provider) => provider.findNumber("+14155550100"),
  listNumbers: (provider: Provider) => provider.listNumbers(undefined),
  findCalls: (provider: Provider) => provider.findCalls("+14155550100", "+14155550150", since),
  findCall: (provider: Provider) => provider.findCall("CA1")
}
const all: ReadonlyArray<[string, Use]> = Object.entries<Use>({ ...changes, ...questions })

const refused = (status: number, code?: number): Reply => ({
  status,
  body: code === undefined ? "<html>" : { code, message: "very-secret detail of the account", status }
})

describe("a failed request", () => {
  it.each(Object.entries<Use>(changes))("is sent once, and is Unknown, if %s gets no result", async (_, use) => {
    for (const reply of [drop, refused(500, 20_500), refused(503), { status: 302, headers: { location: "/" } }]) {
      const twilio = await startScriptedTwilio(reply)
      expect(reasonOf(await using({ apiUrl: twilio.url }, use))).toBe("Unknown")
      expect(twilio.asked).toHaveLength(1)
    }
  })

  it.each(Object.entries<Use>(questions))("is sent twice, and is Temporary, if %s gets no result", async (_, use) => {
    for (const reply of [drop, refused(500, 20_500), refused(503)]) {
      const twilio = await startScriptedTwilio(reply)
      expect(reasonOf(await using({ apiUrl: twilio.url }, use))).toBe("Temporary")
      expect(twilio.asked).toHaveLength(2)
    }
  })

  it("that is not answered in time is sent once if it is a change, and twice if it is a read", async () => {
    const outcomesOf = (uses: Readonly<Record<string, Use>>) =>
      Promise.all(
        Object.values(uses).map(async (use) => {
          const twilio = await startScriptedTwilio(hang)
          const reason = reasonOf(await using({ apiUrl: twilio.url, timeoutMillis: 1_000 }, use))
          return { reason, times: twilio.asked.length }
        })
      )
    for (const outcome of await outcomesOf(changes)) expect(outcome).toStrictEqual({ reason: "Unknown", times: 1 })
    for (const outcome of await outcomesOf(questions)) expect(outcome).toStrictEqual({ reason: "Temporary", times: 2 })
  })

  it.each(all)("was not sent if %s finds no server", async (_, use) => {
    // No process listens on a port below 1024. The port of a closed server may have been given to another one.
    expect(reasonOf(await using({ apiUrl: "http://127.0.0.1:2" }, use))).toBe("Temporary")
  })

  it.each(all)("is Misconfigured if %s is denied access", async (_, use) => {
    for (const reply of [refused(401, 20_003), refused(403), refused(400, 20_003)]) {
      const twilio = await startScriptedTwilio(reply)
      const outcome = await using({ apiUrl: twilio.url }, use)
      expect(reasonOf(outcome)).toBe("Misconfigured")
      expect(String((outcome as ProviderError).message)).not.toContain("very-secret")
    }
  })

  it.each(all)("is Temporary if %s is rate limited", async (_, use) => {
    const twilio = await startScriptedTwilio(refused(429, 20_429))
    expect(reasonOf(await using({ apiUrl: twilio.url }, use))).toBe("Temporary")
    expect(twilio.asked).toHaveLength(1)
  })

  it.each([
    ["a number that is not for sale", changes.buy, 21_422],
    ["no number", changes.buy, 21_421],
    ["a number that can't be called", changes.place, 21_211],
    ["a number that may not be called", changes.place, 21_216],
    ["a call that has ended", changes.changeLimit, 21_220]
  ])("is Rejected with %s", async (_, use, code) => {
    const twilio = await startScriptedTwilio(refused(400, code))
    expect(reasonOf(await using({ apiUrl: twilio.url }, use))).toBe("Rejected")
  })

  it("is Unknown if the response to a purchase or a call cannot be decoded", async () => {
    for (const use of [changes.buy, changes.place]) {
      for (const body of ["{", "{}", "x".repeat(1_100_000)]) {
        const twilio = await startScriptedTwilio({ status: 201, body })
        expect(reasonOf(await using({ apiUrl: twilio.url }, use))).toBe("Unknown")
      }
    }
  })

  it.each([
    ["accountSid", { accountSid: "AC1" }],
    ["apiUrl", { apiUrl: "ftp://a" }],
    ["publicUrl", { publicUrl: "agents.example" }],
    ["label", { label: "" }]
  ])("fails as Misconfigured at the start if %s is invalid", async (_, wrong) => {
    expect(reasonOf(await using(wrong, questions.search))).toBe("Misconfigured")
  })
})

describe("a response", () => {
  it("is returned from the second attempt of a read", async () => {
    const number = { sid: "PN1", phone_number: "+14155550100", friendly_name: "another deployment" }
    const twilio = await startScriptedTwilio(drop, { status: 200, body: { incoming_phone_numbers: [number] } })
    const found = await using({ apiUrl: twilio.url }, questions.findNumber)
    expect(found).toStrictEqual(Option.some({ providerNumberId: "PN1", number: "+14155550100", isOurs: false }))
  })

  it("that a resource is already gone counts as success", async () => {
    for (const use of [changes.release, changes.hangUp]) {
      const twilio = await startScriptedTwilio(refused(404, 20_404))
      expect(await using({ apiUrl: twilio.url }, use)).toBeUndefined()
    }
    const over = await startScriptedTwilio(refused(400, 21_220))
    expect(await using({ apiUrl: over.url }, changes.hangUp)).toBeUndefined()
    const unknown = await startScriptedTwilio(refused(404, 20_404))
    expect(await using({ apiUrl: unknown.url }, questions.findCall)).toStrictEqual(Option.none())
    expect(reasonOf(await using({ apiUrl: unknown.url }, changes.changeLimit))).toBe("Rejected")
  })

  it("that an area code does not exist gives no numbers for sale", async () => {
    const twilio = await startScriptedTwilio(refused(400, 21_451))
    expect(await using({ apiUrl: twilio.url }, questions.search)).toStrictEqual([])
  })

  it("contains no recording, whatever Twilio reports about one", async () => {
    const recording = {
      recording_url: "https://a",
      recordings: [{ sid: "RE1" }],
      subresource_uris: { recordings: "/R" }
    }
    const call = { sid: "CA1", status: "completed", duration: "9", end_time: "Thu, 01 Jan 1970 00:00:02 +0000" }
    const twilio = await startScriptedTwilio({ status: 200, body: { ...call, ...recording } })
    const report = { _tag: "Ended", at: 2_000, ending: "completed", seconds: 9 }
    expect(await using({ apiUrl: twilio.url }, questions.findCall)).toStrictEqual(
      Option.some({ providerCallId: "CA1", report })
    )
  })

  it("leaves out numbers with another label, and the URL of a page is never followed", async () => {
    const number = (sid: string, friendly_name: string) => ({ sid, phone_number: `+1415555${sid}`, friendly_name })
    const twilio = await startScriptedTwilio(
      {
        status: 200,
        body: {
          incoming_phone_numbers: [number("0100", "agentos test"), number("0101", "agentos test 2")],
          next_page_uri: "https://elsewhere.example/?FriendlyName=*&Page=1&PageToken=PA%26x"
        }
      },
      { status: 200, body: { incoming_phone_numbers: [], next_page_uri: null } }
    )
    const pages = await using({ apiUrl: `${twilio.url}/` }, (provider) =>
      Effect.gen(function* () {
        const first = yield* provider.listNumbers(undefined)
        return [first, yield* provider.listNumbers(first.nextCursor)] as const
      })
    )
    expect(pages).toMatchObject([
      { items: [{ providerNumberId: "0100", number: "+14155550100" }] },
      { items: [], nextCursor: undefined }
    ])
    const queries = twilio.asked.map(({ url }) => Object.fromEntries(new URL(url, twilio.url).searchParams))
    expect(queries).toStrictEqual([
      { FriendlyName: "agentos test", PageSize: "100" },
      { FriendlyName: "agentos test", PageSize: "100", Page: "1", PageToken: "PA&x" }
    ])
  })

  it("leaves out older calls, and keeps those without a time", async () => {
    const made = (sid: string, date_created: string | null) => ({ sid, status: "queued", date_created })
    const calls = [
      made("CA3", null),
      made("CA2", "Thu, 01 Jan 1970 00:01:40 +0000"),
      made("CA1", "Thu, 01 Jan 1970 00:01:20 +0000")
    ]
    const twilio = await startScriptedTwilio({ status: 200, body: { calls } })
    const found = await using({ apiUrl: twilio.url }, (provider) =>
      provider.findCalls("+14155550100", "+14155550150", Timestamp.Timestamp.make(100_500))
    )
    const report = { _tag: "Ringing" }
    expect(found).toStrictEqual([
      { providerCallId: "CA3", report },
      { providerCallId: "CA2", report }
    ])
  })
})

describe("verify", () => {
  it.each([
    [{ status: 200, body: { status: "active" } }, "ok"],
    [{ status: 200, body: { status: "suspended" } }, "Misconfigured"],
    [refused(401, 20_003), "Misconfigured"],
    [refused(503), "Temporary"]
  ] as const)("reads the account: %j is %s", async (reply, expected) => {
    const twilio = await startScriptedTwilio(reply)
    const checked = TelephonyProviderTwilio.verify({ ...config, apiUrl: twilio.url })
    expect(await Effect.runPromise(Effect.match(checked, { onSuccess: () => "ok", onFailure: reasonOf }))).toBe(
      expected
    )
    expect(twilio.asked[0]).toMatchObject({ method: "GET", url: `/2010-04-01/Accounts/${accountSid}.json` })
  })
})

describe("a request", () => {
  it("asks for no recording, and carries the account's credentials", async () => {
    const twilio = await startScriptedTwilio({
      status: 201,
      body: { sid: "X1", status: "queued", phone_number: "+14155550100", friendly_name: null }
    })
    for (const use of Object.values<Use>(changes)) await using({ apiUrl: twilio.url }, use)
    expect(twilio.asked.map(({ method, url }) => `${method} ${url}`)).toStrictEqual([
      `POST ${base}/IncomingPhoneNumbers.json`,
      `DELETE ${base}/IncomingPhoneNumbers/PN1.json`,
      `POST ${base}/Calls.json`,
      `POST ${base}/Calls/CA1.json`,
      `POST ${base}/Calls/CA1.json`
    ])
    const basic = `Basic ${Buffer.from(`${accountSid}:very-secret`).toString("base64")}`
    expect(new Set(twilio.asked.map(({ authorization }) => authorization))).toStrictEqual(new Set([basic]))
    const names = twilio.asked.flatMap(({ form }) => [...form.keys()])
    expect(names.filter((name) => /record/i.test(name))).toStrictEqual([])
    expect([...twilio.asked[2]!.form]).toStrictEqual([
      ["From", "+14155550100"],
      ["To", "+14155550150"],
      ["Url", "https://agents.example/webhooks/twilio/answer/c1"],
      ["Method", "POST"],
      ["StatusCallback", "https://agents.example/webhooks/twilio/status/c1"],
      ["StatusCallbackMethod", "POST"],
      ["StatusCallbackEvent", "initiated"],
      ["StatusCallbackEvent", "ringing"],
      ["StatusCallbackEvent", "answered"],
      ["StatusCallbackEvent", "completed"],
      ["TimeLimit", "60"],
      ["Timeout", "60"]
    ])
  })

  it("asks who answers in the background if it is configured so, and otherwise not", async () => {
    const twilio = await startScriptedTwilio({ status: 201, body: { sid: "X1", status: "queued" } })
    for (const detectsMachines of [false, true]) await using({ apiUrl: twilio.url, detectsMachines }, place)
    const [without, asked] = twilio.asked.map(({ form }) => [...form])
    expect(asked!.slice(without!.length)).toStrictEqual([
      ["MachineDetection", "Enable"],
      ["AsyncAmd", "true"],
      ["AsyncAmdStatusCallback", "https://agents.example/webhooks/twilio/recognized/c1"],
      ["AsyncAmdStatusCallbackMethod", "POST"]
    ])
    expect(without!.at(-1)).toStrictEqual(["Timeout", "60"])
  })
})
