import { type OwnedNumber, ProviderError, TelephonyProvider, Timestamp } from "@agentos/core"
import { TelephonyProviderTwilio } from "@agentos/provider-twilio"
import { Effect, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { accountSid, ada, authToken, bob, ours, type Rig, startRig, until } from "./TestCarrier.ts"
import { startTwilioSide } from "./TwilioSide.ts"

type Provider = TelephonyProvider["Service"]

const label = "agentos test"
const since = Timestamp.Timestamp.make(0)

/** The adapter at a carrier; a promise of a value or of the error for each thing that is asked. */
const providerAt = (rig: Rig, more: Partial<TelephonyProviderTwilio.TelephonyProviderTwilioConfig> = {}) => {
  const config = {
    accountSid,
    authToken: Redacted.make(authToken),
    apiUrl: rig.carrier.url,
    publicUrl: rig.application.url,
    label,
    timeoutMillis: 2_000,
    ...more
  }
  return <A>(use: (provider: Provider) => Effect.Effect<A, ProviderError>): Promise<A | ProviderError["reason"]> =>
    Effect.flatMap(TelephonyProvider, use).pipe(
      Effect.provide(TelephonyProviderTwilio.layer(config)),
      Effect.catch((error: ProviderError) => Effect.succeed(error.reason)),
      Effect.runPromise
    )
}

const placed =
  (callId: string, to = ada) =>
  (provider: Provider) =>
    provider.place({ callId, from: ours, to, limitSeconds: 60 })
const fault = (rig: Rig, operation: string, mode: string, times = 1) =>
  rig.control("faults", { operation, mode, times })
const posts = async (rig: Rig, ending: string) =>
  (await rig.log()).requests.filter(({ method, path }) => method === "POST" && path.endsWith(ending))

describe("numbers at the carrier", () => {
  it("are searched, bought once, found, listed and given back", async () => {
    const rig = await startRig()
    const ask = providerAt(rig)
    expect(await ask((provider) => provider.search({ country: "US", areaCode: "415", limit: 2 }))).toStrictEqual([
      { number: ours, areaCode: "415" },
      { number: "+14155550101", areaCode: "415" }
    ])
    expect(await ask((provider) => provider.search({ country: "CA", limit: 1 }))).toHaveLength(1)
    expect(await ask((provider) => provider.search({ country: "CA", areaCode: "415", limit: 1 }))).toStrictEqual([])
    expect(await ask((provider) => provider.search({ country: "US", areaCode: "111", limit: 1 }))).toStrictEqual([])

    const bought = await ask((provider) => provider.buy(ours))
    expect(bought).toMatchObject({ number: ours })
    expect(await ask((provider) => provider.buy(ours))).toBe("Rejected")
    const found = (number: string) => ask((provider) => provider.findNumber(number))
    expect(await found(ours)).toMatchObject(Option.some({ ...(bought as OwnedNumber), isOurs: true }))
    await rig.buy("+14155550101", { FriendlyName: "somebody else's" })
    expect(await found("+14155550101")).toMatchObject(Option.some({ number: "+14155550101", isOurs: false }))
    expect(await ask((provider) => provider.listNumbers(undefined))).toStrictEqual({
      items: [bought],
      nextCursor: undefined
    })

    const { providerNumberId } = bought as { providerNumberId: string }
    for (const _ of ["given back", "not there any more"]) {
      expect(await ask((provider) => provider.release(providerNumberId))).toBeUndefined()
    }
    expect(await found(ours)).toStrictEqual(Option.none())
  })

  it("are listed page by page, each once", async () => {
    const rig = await startRig()
    const ask = providerAt(rig)
    const offered = (await rig.get("/AvailablePhoneNumbers/US/Local.json?PageSize=101")).body["available_phone_numbers"]
    const numbers = (offered as ReadonlyArray<{ phone_number: string }>).map(({ phone_number }) => phone_number)
    for (const number of numbers) await rig.buy(number, { FriendlyName: label })
    const listed = await ask((provider) =>
      Effect.gen(function* () {
        const first = yield* provider.listNumbers(undefined)
        const second = yield* provider.listNumbers(first.nextCursor)
        return [first.items.length, second.items.length, second.nextCursor, [...first.items, ...second.items]] as const
      })
    )
    expect(listed).toMatchObject([100, 1, undefined, {}])
    const items = (listed as ReadonlyArray<ReadonlyArray<{ number: string }>>)[3]!
    expect(items.map(({ number }) => number).toSorted()).toStrictEqual(numbers.toSorted())
  })

  it("whose search fails once are searched again; twice, it passes", async () => {
    const rig = await startRig()
    const search = () => providerAt(rig)((provider) => provider.search({ country: "US", limit: 1 }))
    await fault(rig, "search", "before")
    expect(await search()).toHaveLength(1)
    await fault(rig, "search", "after", 2)
    expect(await search()).toBe("Temporary")
    await fault(rig, "search", "reject")
    expect(await search()).toBe("Misconfigured")
  })

  it.each([
    ["before", "Unknown", false],
    ["after", "Unknown", true],
    ["hang", "Unknown", true],
    ["reject", "Rejected", false]
  ])("whose purchase fails %s are asked for once: %s, and there is one then: %s", async (mode, reason, isBought) => {
    const rig = await startRig()
    const ask = providerAt(rig, { timeoutMillis: 500 })
    await fault(rig, "buy", mode)
    expect(await ask((provider) => provider.buy(ours))).toBe(reason)
    expect(await posts(rig, "/IncomingPhoneNumbers.json")).toHaveLength(1)
    const found = await ask((provider) => provider.findNumber(ours))
    expect(Option.isSome(found as Option.Option<unknown>)).toBe(isBought)
  })

  it("whose release gets no answer are given back at the second try", async () => {
    const rig = await startRig()
    const ask = providerAt(rig)
    const sid = await rig.buy()
    await fault(rig, "release", "after")
    expect(await ask((provider) => provider.release(sid))).toBe("Unknown")
    expect(await ask((provider) => provider.release(sid))).toBeUndefined()
  })

  it("are the operator's under a wrong token", async () => {
    const rig = await startRig()
    const ask = providerAt(rig, { authToken: Redacted.make("another") })
    expect(await ask((provider) => provider.buy(ours))).toBe("Misconfigured")
    expect(await ask((provider) => provider.findNumber(ours))).toBe("Misconfigured")
  })
})

describe("calls at the carrier", () => {
  it.each([
    ["before", "Unknown", 0],
    ["after", "Unknown", 1],
    ["hang", "Unknown", 1],
    ["reject", "Rejected", 0]
  ])("that fail %s are dialled once: %s, and %i found then", async (mode, reason, count) => {
    const rig = await startRig()
    const ask = providerAt(rig, { timeoutMillis: 500 })
    await rig.buy()
    await fault(rig, "call", mode)
    expect(await ask(placed("c1"))).toBe(reason)
    expect(await posts(rig, "/Calls.json")).toHaveLength(1)
    expect(await ask((provider) => provider.findCalls(ours, ada, since))).toHaveLength(count)
    expect(await ask((provider) => provider.findCalls(ours, bob, since))).toHaveLength(0)
  })

  it("run from the first ring to the hang-up, with every word of them read", async () => {
    const rig = await startRig()
    const side = await startTwilioSide(authToken, () => true)
    const ask = providerAt(rig, { publicUrl: side.url })
    await ask((provider) => provider.buy(ours))
    await rig.control("people", { number: ada, behaviour: "answers", lines: ["Hello?"], seconds: 300 })
    const sid = (await ask(placed("call-1"))) as string
    expect(sid).toMatch(/^CA/)
    await until(() => side.messages.find(({ type }) => type === "prompt"))

    const now = Option.getOrThrow(
      (await ask((provider) => provider.findCall(sid))) as Option.Option<{ report: object }>
    )
    expect(now).toMatchObject({ providerCallId: sid, report: { _tag: "Answered" } })
    expect(await ask((provider) => provider.changeLimit(sid, 120))).toBeUndefined()
    expect(await rig.play(sid)).toMatchObject({ timeLimitSeconds: 120 })
    await fault(rig, "update", "before")
    expect(await ask((provider) => provider.changeLimit(sid, 180))).toBe("Unknown")

    for (const _ of ["ended", "over"]) expect(await ask((provider) => provider.hangUp(sid))).toBeUndefined()
    expect(await ask((provider) => provider.changeLimit(sid, 180))).toBe("Rejected")
    expect(await rig.over(sid)).toMatchObject({ endedBy: "agent" })
    expect((await rig.play(sid)).heard[0]).toBe("Good day.")
    await until(() => side.news.find(({ report }) => Option.isSome(report) && report.value._tag === "Ended"))
    const found = Option.getOrThrow(
      (await ask((provider) => provider.findCall(sid))) as Option.Option<{ report: object }>
    )
    expect(found.report).toMatchObject({ _tag: "Ended", ending: "completed" })

    expect(side.forged).toStrictEqual([])
    expect(side.answers).toStrictEqual([Option.some({ providerCallId: sid })])
    expect(side.messages[0]).toMatchObject({ type: "setup", callSid: sid, from: ours, to: ada })
    expect(side.news.map(({ callId, report }) => [callId, Option.map(report, ({ _tag }) => _tag)])).toStrictEqual([
      ["call-1", Option.none()],
      ["call-1", Option.some("Ringing")],
      ["call-1", Option.some("Answered")],
      ["call-1", Option.some("Ended")]
    ])
    expect(side.relayEnds).toStrictEqual([Option.some({ providerCallId: sid, outcome: "Over", errorCode: null })])
  })

  it("whose relay breaks are taken up again, and end when the session is ended", async () => {
    const rig = await startRig()
    const side = await startTwilioSide(authToken, () => true)
    const ask = providerAt(rig, { publicUrl: side.url })
    await ask((provider) => provider.buy(ours))
    await rig.control("people", { number: ada, behaviour: "answers", lines: ["Break it.", "End it."], seconds: 300 })
    const sid = (await ask(placed("call-2"))) as string
    await rig.over(sid)
    await until(() => side.relayEnds[1])
    expect(side.relayEnds.map((end) => Option.getOrThrow(end).outcome)).toStrictEqual(["Broken", "Ended"])
    expect(side.forged).toStrictEqual([])
  })

  it.each([
    ["busy", bob, "busy"],
    ["no-answer", bob, "no_answer"],
    ["nobody", "+13125550123", "failed"]
  ])("to somebody who is %s end as that", async (behaviour, to, ending) => {
    const rig = await startRig({ speed: 200 })
    const side = await startTwilioSide(authToken, () => true)
    const ask = providerAt(rig, { publicUrl: side.url })
    await ask((provider) => provider.buy(ours))
    if (behaviour !== "nobody") await rig.control("people", { number: to, behaviour, lines: [] })
    const sid = (await ask(placed("call-3", to))) as string
    await rig.over(sid)
    const last = await until(() =>
      side.news.find(({ report }) => Option.isSome(report) && report.value._tag === "Ended")
    )
    expect(last.report).toMatchObject(Option.some({ ending, seconds: 0 }))
  })

  it("that come in are answered, or declined without an answer", async () => {
    const rig = await startRig()
    const welcome = { current: false }
    const side = await startTwilioSide(authToken, () => welcome.current)
    const ask = providerAt(rig, { publicUrl: side.url })
    await ask((provider) => provider.buy(ours))
    const callIn = async () =>
      (await rig.control("calls", { from: ada, to: ours, lines: ["End it."] })).body["id"] as string

    const declined = await callIn()
    expect(await rig.over(declined)).toMatchObject({ state: "rejected", status: "busy", heard: [] })
    welcome.current = true
    const answered = await callIn()
    expect(await rig.over(answered)).toMatchObject({ state: "completed", heard: ["Good day."] })
    expect(side.arrivals).toStrictEqual(
      [declined, answered].map((providerCallId) => Option.some({ providerCallId, from: ada, to: ours }))
    )
    expect(side.forged).toStrictEqual([])
  })
})
