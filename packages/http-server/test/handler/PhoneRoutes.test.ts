import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { CallStore, Timestamp } from "@agentos/core"
import { Effect, Schema } from "effect"
import { call, callPaid, dataOf, errorOf, payFor, textAt } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import {
  answerCall,
  ask,
  type BoughtNumber,
  CARRIER_TOKEN,
  newNumber,
  placeCall,
  PUBLIC_URL
} from "../ingress/CarrierClient.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer({ carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL })
})
afterAll(() => server.stop())

const US = "/api/v1/phone/purchase-us-number-30-days"
const CANADA = "/api/v1/phone/purchase-canada-number-30-days"
const CALL = "/api/v1/phone/call-1-minute"
const EXTEND = "/api/v1/phone/extend-call-1-minute"
const RELEASE = "/api/v1/phone/release-number"
const agent = { agentName: "Ada", agentWebhookUrl: "https://agent.example/voice" }

const paid = (path: string, { token, wallet }: BoughtNumber, body: unknown) =>
  callPaid(server, path, { body, token }, wallet)
const read = (path: string, { token }: BoughtNumber) => call(server, "GET", path, { token })

const Listed = Schema.Struct({ items: Schema.Array(Schema.Record(Schema.String, Schema.Json)) })
const ListedCalls = Schema.Struct({
  items: Schema.Array(Schema.Struct({ callId: Schema.String })),
  nextCursor: Schema.NullOr(Schema.String)
})
const listed = async (number: BoughtNumber) =>
  Schema.decodeUnknownSync(Listed)(dataOf(await read("/api/v1/phone/numbers", number))).items

const decodePage = Schema.decodeUnknownSync(
  Schema.Struct({
    nextCursor: Schema.NullOr(Schema.String),
    transcript: Schema.Struct({ turns: Schema.Array(Schema.Struct({ text: Schema.String })) })
  })
)

describe("numbers", () => {
  it("are sold with a token and secret, in the requested country", async () => {
    for (const [path, country, beginning] of [
      [US, "US", "+1415"],
      [CANADA, "CA", "+1604"]
    ] as const) {
      const body = {
        ...agent,
        description: "front desk",
        beginMessage: "Hello",
        voice: "Amy-Neural",
        language: "en-GB"
      }
      const answer = await callPaid(server, path, { body }, `0x${country === "US" ? "a" : "b"}${"0".repeat(39)}`)
      assert.strictEqual(answer.status, 201)
      const data = dataOf(answer)
      assert.sameMembers(Object.keys(data), [
        "phoneNumberId",
        "number",
        "callbackVerificationSecret",
        "phoneNumber",
        "authentication",
        "operationId"
      ])
      assert.isTrue(textAt(data, "number").startsWith(beginning))
      assert.match(textAt(data, "authentication", "accessToken"), /^at_v1/)
      assert.isAtLeast(textAt(data, "callbackVerificationSecret").length, 32)
      const { agentName, ...rest } = body
      assert.deepInclude(data["phoneNumber"], { country, agentName, status: "active", ...rest, releasedAt: null })
    }
  })

  it("are not charged for if none is available or the agent's URL is refused", async () => {
    const none = await call(server, "POST", US, { body: { ...agent, areaCode: "999" } })
    assert.deepStrictEqual([none.status, errorOf(none).code], [409, "CONFLICT"])
    const hidden = await call(server, "POST", US, { body: { ...agent, agentWebhookUrl: "https://private.example" } })
    assert.deepStrictEqual([hidden.status, errorOf(hidden).code], [400, "INVALID_REQUEST"])
    assert.deepInclude(errorOf(hidden).issues?.[0], { path: "agentWebhookUrl" })
    server.carrier.failures.search = ["Temporary"]
    const unavailable = await call(server, "POST", US, { body: agent })
    assert.deepStrictEqual(
      [unavailable.status, errorOf(unavailable).message],
      [502, "The carrier says Temporary. Retry in 5 s. Nothing was charged."]
    )
    const bad = { ...agent, areaCode: "41", language: "-", agentWebhookUrl: "http://agent.example" }
    assert.sameMembers(
      errorOf(await call(server, "POST", US, { body: bad })).issues?.map(
        ({ message, path }) => `${path}: ${message}`
      ) ?? [],
      [
        "areaCode: must be an area code of 3 digits, for example 415",
        "language: must be a language tag, for example en-US",
        "agentWebhookUrl: must be a URL that begins with https://"
      ]
    )
    for (const body of [{}, { ...agent, areaCode: "41" }, { ...agent, agentWebhookUrl: "http://agent.example" }]) {
      assert.strictEqual((await call(server, "POST", US, { body })).status, 400)
    }
  })

  it("are sold only with a voice and a language that the carrier has, which anyone can list", async () => {
    const voices = await call(server, "GET", "/api/v1/phone/voices")
    assert.deepStrictEqual(dataOf(voices), {
      items: [
        { voice: "Amy-Neural", language: "en-GB", vendor: "Amazon" },
        { voice: "en-US-Chirp3-HD-Kore", language: "en-US", vendor: "Google" }
      ]
    })
    const list = "GET /api/v1/phone/voices lists them."
    for (const [given, path, message] of [
      [{ voice: "Amy" }, "voice", `must be a voice that the carrier has. ${list}`],
      [{ language: "de-DE" }, "language", `must be a language that the carrier speaks. ${list}`],
      [{ language: "en-us" }, "language", `must be a language that the carrier speaks. Use en-US; ${list}`],
      [{ language: "en-NZ" }, "language", `must be a language that the carrier speaks. Use en-GB, en-US; ${list}`],
      [
        { voice: "Amy-Neural", language: "en-US" },
        "voice",
        `must speak the language en-US, and Amy-Neural speaks en-GB. ${list}`
      ]
    ] as const) {
      const refused = await call(server, "POST", US, { body: { ...agent, ...given } })
      assert.strictEqual(refused.status, 400)
      assert.deepStrictEqual(errorOf(refused).issues, [{ path, message }])
    }
    for (const given of [{ voice: "Amy-Neural" }, { language: "en-US" }, { voice: "", language: "" }]) {
      assert.strictEqual((await call(server, "POST", US, { body: { ...agent, ...given } })).status, 402)
    }
  })

  it("are renewed, receive inbound minutes and are listed", async () => {
    const number = await newNumber(server)
    const { phoneNumberId } = number
    const renewed = await paid("/api/v1/phone/renew-number-30-days", number, { phoneNumberId })
    assert.strictEqual(renewed.status, 200)
    const filled = await paid("/api/v1/phone/add-inbound-minutes-10", number, { phoneNumberId })
    assert.strictEqual(filled.status, 200)
    const [record, ...others] = await listed(number)
    assert.lengthOf(others, 0)
    assert.deepInclude(record, {
      phoneNumberId,
      inboundAllowance: { purchasedSeconds: 600, usedSeconds: 0, remainingSeconds: 600 }
    })
    const entitlement = Schema.decodeUnknownSync(Schema.Struct({ secondsRemaining: Schema.Number }))(
      record?.["entitlement"]
    )
    assert.closeTo(entitlement.secondsRemaining, 60 * 24 * 3_600, 10)
  })

  it("are released after confirmation, once and permanently", async () => {
    const number = await newNumber(server)
    const { phoneNumberId, token } = number
    for (const body of [{ phoneNumberId }, { phoneNumberId, confirmRelease: false }]) {
      const answer = await call(server, "POST", RELEASE, { body, token })
      assert.deepStrictEqual([answer.status, errorOf(answer).code], [400, "INVALID_REQUEST"])
    }
    server.carrier.failures.release = ["Temporary"]
    const body = { phoneNumberId, confirmRelease: true }
    const unavailable = await call(server, "POST", RELEASE, { body, token })
    assert.deepStrictEqual([unavailable.status, errorOf(unavailable).code], [502, "PROVIDER_TEMPORARY_FAILURE"])
    const released = await call(server, "POST", RELEASE, { body, token })
    assert.strictEqual(released.status, 200)
    assert.deepInclude(dataOf(released)["phoneNumber"], { phoneNumberId, status: "released" })
    const again = await call(server, "POST", RELEASE, { body, token })
    assert.deepStrictEqual([again.status, errorOf(again).code], [409, "NUMBER_RELEASED"])
    const renewal = await call(server, "POST", "/api/v1/phone/renew-number-30-days", { body: { phoneNumberId }, token })
    assert.strictEqual(errorOf(renewal).code, "NUMBER_RELEASED")
  })
})

describe("calls", () => {
  it("are placed for one minute or five, from the tenant's number, to permitted destinations", async () => {
    const number = await newNumber(server)
    const { phoneNumberId, token } = number
    const toNumber = "+12025550151"
    const answer = await paid("/api/v1/phone/call-5-minutes", number, {
      phoneNumberId,
      toNumber,
      initialGreeting: "Hi"
    })
    assert.strictEqual(answer.status, 201)
    const record = { fromNumber: number.number, toNumber, direction: "outbound", authorizedSeconds: 300 }
    assert.deepInclude(dataOf(answer)["call"], record)
    const { callId } = await placeCall(server, number)
    assert.deepInclude(dataOf(await read(`/api/v1/phone/calls/${callId}`, number))["call"], { authorizedSeconds: 60 })
    const local = await call(server, "POST", CALL, { body: { phoneNumberId, toNumber: "2025550151" }, token })
    assert.deepStrictEqual(errorOf(local).issues, [
      { path: "toNumber", message: "must be a phone number in E.164 format, for example +14155550150" }
    ])
    const premium = await call(server, "POST", CALL, { body: { phoneNumberId, toNumber: "+19005550100" }, token })
    assert.deepStrictEqual([premium.status, errorOf(premium).code], [400, "INVALID_REQUEST"])
  })

  it("are extended while they are in progress, and not before or after", async () => {
    const number = await newNumber(server)
    const placed = await placeCall(server, number)
    const { callId, providerCallId } = placed
    const early = await call(server, "POST", EXTEND, { body: { callId }, token: number.token })
    assert.deepStrictEqual([early.status, errorOf(early).code], [409, "CONFLICT"])
    await answerCall(server, placed)
    const extended = await paid(EXTEND, number, { callId })
    assert.strictEqual(extended.status, 200)
    assert.deepInclude(dataOf(extended)["call"], { callId, authorizedSeconds: 120 })
    await ask(server, `/webhooks/twilio/status/${callId}`, { CallSid: providerCallId, CallStatus: "completed" })
    const late = await call(server, "POST", EXTEND, { body: { callId }, token: number.token })
    assert.strictEqual(late.status, 409)
  })

  it("are listed newest first, in pages, by number, direction and time, and errors name the list", async () => {
    const number = await newNumber(server)
    const first = await placeCall(server, number)
    const second = await placeCall(server, number)
    const other = await newNumber(server)
    const list = async (query: string, by = number) => {
      const answer = await read(`/api/v1/phone/calls${query}`, by)
      assert.strictEqual(answer.status, 200, answer.text)
      return Schema.decodeUnknownSync(ListedCalls)(dataOf(answer))
    }
    const ids = ({ items }: { readonly items: ReadonlyArray<{ readonly callId: string }> }) =>
      items.map(({ callId }) => callId)
    const all = [second.callId, first.callId]
    assert.deepStrictEqual(ids(await list("")), all)
    const page = await list("?limit=1&direction=outbound")
    assert.deepStrictEqual(ids(page), [second.callId])
    const rest = await list(`?limit=5&direction=outbound&cursor=${page.nextCursor}`)
    assert.deepStrictEqual([ids(rest), rest.nextCursor], [[first.callId], null])
    assert.deepStrictEqual(ids(await list("?direction=inbound")), [])
    assert.deepStrictEqual(ids(await list(`?phoneNumberId=${number.phoneNumberId}&after=2020-01-01T00:00:00Z`)), all)
    assert.deepStrictEqual(ids(await list("?before=2020-01-01T00:00:00Z")), [])
    assert.deepStrictEqual(ids(await list("", other)), [])
    const refused = async (query: string) => {
      const answer = await read(`/api/v1/phone/calls?${query}`, other)
      return [answer.status, errorOf(answer).code]
    }
    assert.deepStrictEqual(await refused(`phoneNumberId=${number.phoneNumberId}`), [403, "RESOURCE_NOT_OWNED"])
    const contradictory = "after=2026-02-01T00:00:00Z&before=2026-01-01T00:00:00Z"
    for (const query of [contradictory, "direction=both", "limit=0", "limit=101", `cursor=${page.nextCursor}`]) {
      assert.deepStrictEqual(await refused(query), [400, "INVALID_REQUEST"], query)
    }
    const early = await call(server, "POST", EXTEND, { body: { callId: first.callId }, token: number.token })
    assert.deepInclude(errorOf(early), { next: { method: "GET", path: `/api/v1/phone/calls/${first.callId}` } })
    const unknown = await call(server, "POST", EXTEND, { body: { callId: number.phoneNumberId }, token: number.token })
    assert.deepInclude(errorOf(unknown), {
      code: "RESOURCE_NOT_FOUND",
      next: { method: "GET", path: "/api/v1/phone/calls" }
    })
  })

  it("have a transcript that can be read in pages", async () => {
    const number = await newNumber(server)
    const [first, second] = [await placeCall(server, number), await placeCall(server, number)]
    const said = ["one", "two", "three", "four", "five"]
    const add = (text: string) =>
      Effect.flatMap(CallStore, (store) =>
        store.addTurn(first.callId, { role: "caller", text, at: Timestamp.Timestamp.make(0) })
      )
    for (const text of said) await server.run(add(text))
    const pageOf = async ({ callId }: { readonly callId: string }, query: string) => {
      const answer = await read(`/api/v1/phone/calls/${callId}/transcript${query}`, number)
      if (answer.status !== 200) return errorOf(answer).code
      const { nextCursor, transcript } = decodePage(dataOf(answer))
      return { nextCursor, texts: transcript.turns.map(({ text }) => text) }
    }
    assert.deepStrictEqual(await pageOf(first, ""), { nextCursor: null, texts: said })
    const texts: Array<string> = []
    let query = "?limit=2"
    for (;;) {
      const page = await pageOf(first, query)
      if (typeof page === "string") return assert.fail(page)
      texts.push(...page.texts)
      if (page.nextCursor === null) break
      query = `?limit=2&cursor=${page.nextCursor}`
    }
    assert.deepStrictEqual(texts, said)
    for (const wrong of ["?limit=0", "?limit=1001", "?cursor=x"]) {
      assert.strictEqual(await pageOf(first, wrong), "INVALID_REQUEST", wrong)
    }
    assert.strictEqual(await pageOf(second, query), "INVALID_REQUEST", "a cursor of another call")
  })

  it("belong to their tenant alone", async () => {
    const number = await newNumber(server)
    const { callId } = await placeCall(server, number)
    const other = await newNumber(server)
    for (const path of [`/api/v1/phone/calls/${callId}`, `/api/v1/phone/calls/${callId}/transcript`]) {
      assert.strictEqual((await read(path, number)).status, 200)
      const foreign = await read(path, other)
      assert.deepStrictEqual([foreign.status, errorOf(foreign).code], [403, "RESOURCE_NOT_OWNED"])
      assert.strictEqual((await call(server, "GET", path)).status, 428)
      const missing = await read(path.replace(callId, "01890000-0000-7000-8000-000000000000"), number)
      assert.deepStrictEqual([missing.status, errorOf(missing).code], [404, "RESOURCE_NOT_FOUND"])
    }
    const body = { phoneNumberId: number.phoneNumberId, toNumber: "+12025550150" }
    const borrowed = await call(server, "POST", CALL, { body, token: other.token })
    assert.deepStrictEqual([borrowed.status, errorOf(borrowed).code], [403, "RESOURCE_NOT_OWNED"])
  })

  it("return the stored response on every repetition, and are dialed once", async () => {
    const number = await newNumber(server)
    const body = { phoneNumberId: number.phoneNumberId, toNumber: "+12025550152" }
    const headers = await payFor(server, CALL, { body, token: number.token }, number.wallet)
    const answers = [
      await call(server, "POST", CALL, { body, token: number.token, headers }),
      await call(server, "POST", CALL, { body, token: number.token, headers })
    ]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [201, 201]
    )
    assert.strictEqual(answers[0]?.text, answers[1]?.text)
    assert.lengthOf(
      server.carrier.calls.filter(({ to }) => to === "+12025550152"),
      1
    )
  })
})
