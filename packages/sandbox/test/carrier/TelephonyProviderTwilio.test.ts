import { type OwnedNumber, ProviderError, TelephonyProvider, Timestamp } from "@agentos/core"
import { TelephonyProviderTwilio } from "@agentos/provider-twilio"
import { Effect, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { accountSid, ada, authToken, bob, ours, type Rig, startRig, until } from "./TestCarrier.ts"
import { startWebhookServer } from "./WebhookServer.ts"

type Provider = TelephonyProvider["Service"]

const label = "agentos test"
const since = Timestamp.Timestamp.make(0)

/** Runs the adapter against a carrier. Resolves with the result, or with the reason of the error. */
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
  it("are searched, bought once, found, listed and released", async () => {
    const rig = await startRig()
    const run = providerAt(rig)
    expect(await run((provider) => provider.search({ country: "US", areaCode: "415", limit: 2 }))).toStrictEqual([
      { number: ours, areaCode: "415" },
      { number: "+14155550101", areaCode: "415" }
    ])
    expect(await run((provider) => provider.search({ country: "CA", limit: 1 }))).toHaveLength(1)
    expect(await run((provider) => provider.search({ country: "CA", areaCode: "415", limit: 1 }))).toStrictEqual([])
    expect(await run((provider) => provider.search({ country: "US", areaCode: "111", limit: 1 }))).toStrictEqual([])

    const bought = await run((provider) => provider.buy(ours))
    expect(bought).toMatchObject({ number: ours })
    expect(await run((provider) => provider.buy(ours))).toBe("Rejected")
    const found = (number: string) => run((provider) => provider.findNumber(number))
    expect(await found(ours)).toMatchObject(Option.some({ ...(bought as OwnedNumber), isOurs: true }))
    await rig.buy("+14155550101", { FriendlyName: "other" })
    expect(await found("+14155550101")).toMatchObject(Option.some({ number: "+14155550101", isOurs: false }))
    expect(await run((provider) => provider.listNumbers(undefined))).toStrictEqual({
      items: [bought],
      nextCursor: undefined
    })

    const { providerNumberId } = bought as { providerNumberId: string }
    for (const _ of ["released", "already released"]) {
      expect(await run((provider) => provider.release(providerNumberId))).toBeUndefined()
    }
    expect(await found(ours)).toStrictEqual(Option.none())
  })

  it("are listed page by page, each once", async () => {
    const rig = await startRig()
    const run = providerAt(rig)
    const offered = (await rig.get("/AvailablePhoneNumbers/US/Local.json?PageSize=101")).body["available_phone_numbers"]
    const numbers = (offered as ReadonlyArray<{ phone_number: string }>).map(({ phone_number }) => phone_number)
    for (const number of numbers) await rig.buy(number, { FriendlyName: label })
    const listed = await run((provider) =>
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

  it("whose search fails once are searched again, but not twice", async () => {
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
  ])("whose purchase fails with `%s` are requested once: %s, bought: %s", async (mode, reason, isBought) => {
    const rig = await startRig()
    const run = providerAt(rig, { timeoutMillis: 500 })
    await fault(rig, "buy", mode)
    expect(await run((provider) => provider.buy(ours))).toBe(reason)
    expect(await posts(rig, "/IncomingPhoneNumbers.json")).toHaveLength(1)
    const found = await run((provider) => provider.findNumber(ours))
    expect(Option.isSome(found as Option.Option<unknown>)).toBe(isBought)
  })

  it("whose release gets no response are released by the second attempt", async () => {
    const rig = await startRig()
    const run = providerAt(rig)
    const sid = await rig.buy()
    await fault(rig, "release", "after")
    expect(await run((provider) => provider.release(sid))).toBe("Unknown")
    expect(await run((provider) => provider.release(sid))).toBeUndefined()
  })

  it("are reported as misconfigured with a wrong token", async () => {
    const rig = await startRig()
    const run = providerAt(rig, { authToken: Redacted.make("another") })
    expect(await run((provider) => provider.buy(ours))).toBe("Misconfigured")
    expect(await run((provider) => provider.findNumber(ours))).toBe("Misconfigured")
  })
})

describe("calls at the carrier", () => {
  it.each([
    ["before", "Unknown", 0],
    ["after", "Unknown", 1],
    ["hang", "Unknown", 1],
    ["reject", "Rejected", 0]
  ])("that fail with `%s` are placed once: %s, found: %i", async (mode, reason, count) => {
    const rig = await startRig()
    const run = providerAt(rig, { timeoutMillis: 500 })
    await rig.buy()
    await fault(rig, "call", mode)
    expect(await run(placed("c1"))).toBe(reason)
    expect(await posts(rig, "/Calls.json")).toHaveLength(1)
    expect(await run((provider) => provider.findCalls(ours, ada, since))).toHaveLength(count)
    expect(await run((provider) => provider.findCalls(ours, bob, since))).toHaveLength(0)
  })

  it("are reported from the first ring to the hangup", async () => {
    const rig = await startRig()
    const server = await startWebhookServer(authToken, () => true)
    const run = providerAt(rig, { publicUrl: server.url })
    await run((provider) => provider.buy(ours))
    await rig.control("people", { number: ada, behaviour: "answers", lines: ["Hello?"], seconds: 300 })
    const sid = (await run(placed("call-1"))) as string
    expect(sid).toMatch(/^CA/)
    await until(() => server.messages.find(({ type }) => type === "prompt"))

    const now = Option.getOrThrow(
      (await run((provider) => provider.findCall(sid))) as Option.Option<{ report: object }>
    )
    expect(now).toMatchObject({ providerCallId: sid, report: { _tag: "Answered" } })
    expect(await run((provider) => provider.changeLimit(sid, 120))).toBeUndefined()
    expect(await rig.callState(sid)).toMatchObject({ timeLimitSeconds: 120 })
    await fault(rig, "update", "before")
    expect(await run((provider) => provider.changeLimit(sid, 180))).toBe("Unknown")

    for (const _ of ["ended", "already ended"]) expect(await run((provider) => provider.hangUp(sid))).toBeUndefined()
    expect(await run((provider) => provider.changeLimit(sid, 180))).toBe("Rejected")
    expect(await rig.untilEnded(sid)).toMatchObject({ endedBy: "agent" })
    expect((await rig.callState(sid)).heard[0]).toBe("Good day.")
    await until(() => server.statusReports.find(({ report }) => Option.isSome(report) && report.value._tag === "Ended"))
    const found = Option.getOrThrow(
      (await run((provider) => provider.findCall(sid))) as Option.Option<{ report: object }>
    )
    expect(found.report).toMatchObject({ _tag: "Ended", ending: "completed" })

    expect(server.forged).toStrictEqual([])
    expect(server.answers).toStrictEqual([Option.some({ providerCallId: sid })])
    expect(server.messages[0]).toMatchObject({ type: "setup", callSid: sid })
    expect(
      server.statusReports.map(({ callId, report }) => [callId, Option.map(report, ({ _tag }) => _tag)])
    ).toStrictEqual([
      ["call-1", Option.none()],
      ["call-1", Option.some("Ringing")],
      ["call-1", Option.some("Answered")],
      ["call-1", Option.some("Ended")]
    ])
    expect(server.relayEnds).toStrictEqual([Option.some({ providerCallId: sid, outcome: "Over", errorCode: null })])
  })

  it("whose relay breaks are reconnected, and end with the session", async () => {
    const rig = await startRig()
    const server = await startWebhookServer(authToken, () => true)
    const run = providerAt(rig, { publicUrl: server.url })
    await run((provider) => provider.buy(ours))
    await rig.control("people", { number: ada, behaviour: "answers", lines: ["Break it.", "End it."], seconds: 300 })
    const sid = (await run(placed("call-2"))) as string
    await rig.untilEnded(sid)
    await until(() => server.relayEnds[1])
    expect(server.relayEnds.map((end) => Option.getOrThrow(end).outcome)).toStrictEqual(["Broken", "Ended"])
    expect(server.forged).toStrictEqual([])
  })

  it.each([
    ["busy", bob, "busy"],
    ["no-answer", bob, "no_answer"],
    ["unassigned", "+13125550123", "failed"]
  ])("to a person with %s at %s end with %s", async (behaviour, to, ending) => {
    const rig = await startRig({ speed: 200 })
    const server = await startWebhookServer(authToken, () => true)
    const run = providerAt(rig, { publicUrl: server.url })
    await run((provider) => provider.buy(ours))
    if (behaviour !== "unassigned") await rig.control("people", { number: to, behaviour, lines: [] })
    const sid = (await run(placed("call-3", to))) as string
    await rig.untilEnded(sid)
    const last = await until(() =>
      server.statusReports.find(({ report }) => Option.isSome(report) && report.value._tag === "Ended")
    )
    expect(last.report).toMatchObject(Option.some({ ending, seconds: 0 }))
  })

  it("from a person are answered, or declined without an answer", async () => {
    const rig = await startRig()
    const accepts = { current: false }
    const server = await startWebhookServer(authToken, () => accepts.current)
    const run = providerAt(rig, { publicUrl: server.url })
    await run((provider) => provider.buy(ours))
    const callIn = async () =>
      (await rig.control("calls", { from: ada, to: ours, lines: ["End it."] })).body["id"] as string

    const declined = await callIn()
    expect(await rig.untilEnded(declined)).toMatchObject({ state: "rejected", status: "busy", heard: [] })
    accepts.current = true
    const answered = await callIn()
    expect(await rig.untilEnded(answered)).toMatchObject({ state: "completed", heard: ["Good day."] })
    expect(server.inboundCalls).toStrictEqual(
      [declined, answered].map((providerCallId) => Option.some({ providerCallId, from: ada, to: ours }))
    )
    expect(server.forged).toStrictEqual([])
  })
})
