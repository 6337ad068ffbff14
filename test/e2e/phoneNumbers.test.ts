import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import type { Reply } from "../support/Agent.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_ONE,
  dataOf,
  NUMBERS,
  type NumberFields,
  PRICES,
  type Purchase,
  RELEASE,
  refusalOf,
  RENEW
} from "../support/PhoneCustomer.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()

const THIRTY_DAYS = 30 * 24 * 3_600_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuid: unknown = expect.stringMatching(UUID)
const moment: unknown = expect.stringMatching(ISO)

/** All fields of a number. */
const recordOf = (fields: object): object => ({
  phoneNumberId: uuid,
  agentId: uuid,
  number: expect.stringMatching(/^\+1\d{10}$/),
  country: "US",
  agentName: "Ada",
  agentWebhookUrl: host.sandbox.agentWebhookUrl,
  description: null,
  beginMessage: null,
  voice: null,
  language: null,
  status: "active",
  entitlement: { startedAt: moment, expiresAt: moment, secondsRemaining: expect.any(Number) },
  inboundAllowance: { purchasedSeconds: 0, usedSeconds: 0, remainingSeconds: 0 },
  createdAt: moment,
  releasedAt: null,
  ...fields
})

/** Checks the envelope, headers and receipt of a paid success. */
const expectPaid = (reply: Reply, status: 200 | 201, payer: string, guide: string) => {
  expect(reply.status).toBe(status)
  expect(Object.keys(reply.body).toSorted()).toEqual(["data", "guide", "requestId"])
  expect(reply.body).toMatchObject({ requestId: uuid, guide, data: { operationId: uuid } })
  expect(reply.headers.get("content-type")).toMatch(/^application\/json/)
  expect(reply.headers.get("x-request-id")).toBe(reply.body.requestId)
  expect(reply.headers.get("cache-control")).toBe("no-store")
  expect(reply.headers.get("payment-required")).toBeNull()
  const receipt = JSON.parse(Buffer.from(reply.headers.get("payment-response")!, "base64").toString()) as object
  expect(receipt).toMatchObject({ success: true, network: host.sandbox.chain.network, payer: payer.toLowerCase() })
  expect(receipt).toHaveProperty("transaction", expect.stringMatching(/^0x[0-9a-f]{64}$/))
}

describe("buying a number", () => {
  it.each([
    [
      BUY_US,
      "US",
      "415",
      { description: "desk", beginMessage: "Hi", voice: "en-US-Chirp3-HD-Charon", language: "en-US" }
    ],
    [BUY_CANADA, "CA", "604", {}]
  ] as const)(
    "%s returns a number, token and secret for its price, and a retry is free",
    async (path, country, areaCode, more) => {
      const customer = await host.customer()
      const { address, agent } = customer
      const request = { path, body: customer.order({ areaCode, ...more }) }
      const key = randomUUID()
      const signature = await agent.payment(request)
      const before = Date.now()
      const { amount, result } = await host.chain.charged(address, () => agent.replay(request, signature, key))
      expect(amount).toBe(PRICES[path])
      expectPaid(result, 201, address, "/docs#numbers")
      const data = dataOf<Purchase>(result)
      expect(data).toStrictEqual({
        phoneNumberId: uuid,
        number: expect.stringMatching(new RegExp(`^\\+1${areaCode}55501[0-4]\\d$`)),
        callbackVerificationSecret: expect.stringMatching(/^\S{32,}$/),
        phoneNumber: recordOf({ phoneNumberId: data.phoneNumberId, number: data.number, country, ...more }),
        authentication: { accessToken: expect.stringMatching(/^at_v1_[0-9A-Za-z]+$/) },
        operationId: uuid
      })
      const { createdAt, entitlement } = data.phoneNumber as NumberFields & { readonly createdAt: string }
      expect(Date.parse(entitlement.expiresAt) - Date.parse(entitlement.startedAt)).toBe(THIRTY_DAYS)
      expect(createdAt).toBe(entitlement.startedAt)
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before)
      expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now())
      expect(await host.carrier.sales(data.number)).toBe(1)

      const again = await host.chain.charged(address, () => agent.replay(request, signature, key))
      expect([again.amount, again.result.text]).toEqual([0n, result.text])
      expect(again.result.headers.get("payment-response")).toBe(result.headers.get("payment-response"))
      expect(again.result.headers.get("x-request-id")).toBe(result.headers.get("x-request-id"))
      expect(await host.carrier.sales(data.number)).toBe(1)

      agent.token = data.authentication.accessToken
      const listed = await agent.send({ path: NUMBERS })
      expect(dataOf(listed)).toStrictEqual({
        items: [{ ...data.phoneNumber, entitlement: { ...entitlement, secondsRemaining: expect.any(Number) } }]
      })
      // The token that came with a number is valid for mail too.
      expect(dataOf(await agent.send({ path: "/api/v1/email/mailboxes/query" }))).toStrictEqual({ items: [] })
      const told = await customer.events("payment.completed")
      expect(told).toMatchObject([
        { service: "payment", payload: { operationId: data.operationId, payer: address.toLowerCase() } }
      ])
      // Only the response to the purchase contains the secret.
      for (const text of [listed.text, JSON.stringify(told)])
        expect(text).not.toContain(data.callbackVerificationSecret)
    }
  )

  it("is refused with the token of another wallet", async () => {
    const [customer, stranger] = await Promise.all([host.customer(), host.customer()])
    const first = await customer.buy()
    const second = await customer.buy()
    expect(second.authentication).toEqual(first.authentication)
    expect(second.callbackVerificationSecret).not.toBe(first.callbackVerificationSecret)
    expect(await customer.numbers()).toHaveLength(2)
    stranger.agent.token = first.authentication.accessToken
    const { amount, result } = await host.chain.charged(stranger.address, () =>
      stranger.agent.pay({ path: BUY_US, body: stranger.order() })
    )
    expect([...refusalOf(result), amount]).toEqual([403, "FORBIDDEN", 0n])
    stranger.agent.token = "at_v1_nobody"
    expect(refusalOf(await stranger.agent.send({ path: BUY_US, body: stranger.order() }))).toEqual([
      401,
      "AUTH_REQUIRED"
    ])
  })

  it("is free in an area without numbers, and names areas with some", async () => {
    const customer = await host.customer()
    for (const [path, areaCode, elsewhere] of [
      [BUY_US, "999", /\b999\b.* Choose another one: (?:\d{3}, ){7}\d{3}\./],
      // A Canadian area code.
      [BUY_US, "604", /\b604\b.*Choose another one: /],
      [BUY_CANADA, "415", /\b415\b.*Choose another one: /]
    ] as const) {
      const reply = await customer.agent.send({ path, body: customer.order({ areaCode }) })
      expect(refusalOf(reply)).toEqual([409, "CONFLICT"])
      expect(reply.body.error.message).toMatch(elsewhere)
      expect(reply.headers.get("payment-required")).toBeNull()
    }
  })
})

describe("a number", () => {
  it("is renewed by exactly 30 days each time, from its expiry on", async () => {
    const customer = await host.customer()
    const { phoneNumber, phoneNumberId } = await customer.buy()
    const ends = [phoneNumber.entitlement.expiresAt]
    for (const times of [1, 2]) {
      const { amount, result } = await host.chain.charged(customer.address, () =>
        customer.agent.pay({ path: RENEW, body: { phoneNumberId } })
      )
      expect(amount).toBe(PRICES[RENEW])
      expectPaid(result, 200, customer.address, "/docs#numbers")
      const data = dataOf<{ readonly phoneNumber: NumberFields; readonly operationId: string }>(result)
      expect(data).toStrictEqual({ phoneNumber: recordOf({ phoneNumberId }), operationId: uuid })
      ends.push(data.phoneNumber.entitlement.expiresAt)
      expect(Date.parse(ends[times]!) - Date.parse(ends[times - 1]!)).toBe(THIRTY_DAYS)
      expect(data.phoneNumber.entitlement.startedAt).toBe(phoneNumber.entitlement.startedAt)
    }
    const events = await customer.events("phone.number.renewed")
    expect(events.map(({ payload }) => payload["expiresAt"])).toEqual(expect.arrayContaining(ends.slice(1)))
    expect(events).toHaveLength(2)
    expect(events[0]).toMatchObject({ source: "agentos.internal", service: "phone", resourceId: phoneNumberId })
    expect(Object.keys(events[0]!.payload).toSorted()).toEqual([
      "eventId",
      "expiresAt",
      "number",
      "operationId",
      "phoneNumberId",
      "type"
    ])
  })

  it("gains 600 inbound seconds per purchase", async () => {
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    for (const seconds of [600, 1_200]) {
      const { amount, result } = await host.chain.charged(customer.address, () =>
        customer.agent.pay({ path: ADD_MINUTES, body: { phoneNumberId } })
      )
      expect(amount).toBe(PRICES[ADD_MINUTES])
      expectPaid(result, 200, customer.address, "/docs#inbound-minutes")
      const inboundAllowance = { purchasedSeconds: seconds, usedSeconds: 0, remainingSeconds: seconds }
      expect(dataOf(result)).toStrictEqual({
        phoneNumber: recordOf({ phoneNumberId, inboundAllowance }),
        operationId: uuid
      })
    }
  })

  it("is released permanently if that is confirmed, after its calls have ended", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { agent } = customer
    const { number, phoneNumberId } = await customer.buy()
    const sent = { path: CALL_ONE, body: { phoneNumberId, toNumber: await carrier.person() } }
    const [signature, renewal] = [
      await agent.payment(sent),
      await agent.payment({ path: RENEW, body: { phoneNumberId } })
    ]
    const listener = await carrier.person({ seconds: 50 })
    const call = await customer.callOut(phoneNumberId, listener)
    await carrier.until(
      () => customer.call(call.callId),
      ({ status }) => status === "in_progress"
    )

    for (const body of [
      { phoneNumberId },
      { phoneNumberId, confirmRelease: false },
      { phoneNumberId, confirmRelease: "true" }
    ]) {
      const refused = await agent.send({ path: RELEASE, body })
      expect([...refusalOf(refused), refused.body.error.issues?.[0]?.path]).toEqual([
        400,
        "INVALID_REQUEST",
        "confirmRelease"
      ])
    }
    const released = await agent.send({ path: RELEASE, body: { phoneNumberId, confirmRelease: true } })
    expect([released.status, released.headers.get("payment-response")]).toEqual([200, null])
    expect(dataOf(released)).toStrictEqual({
      phoneNumber: recordOf({
        phoneNumberId,
        status: "released",
        entitlement: { startedAt: moment, expiresAt: moment, secondsRemaining: 0 },
        releasedAt: moment
      })
    })
    const { events, requests } = await carrier.log()
    const played = await carrier.playTo(listener)
    expect(played).toMatchObject({ state: "completed", endedBy: "agent" })
    const hungUp = requests.findIndex(
      ({ form, path }) => path.endsWith(`${played.id}.json`) && form["Status"] === "completed"
    )
    const gone = requests.findLastIndex(({ method }) => method === "DELETE")
    expect(hungUp).toBeGreaterThan(0)
    expect(gone).toBeGreaterThan(hungUp)
    expect(events.filter(({ callSid, event }) => callSid === played.id && event === "ended")).toHaveLength(1)
    const ended = await carrier.until(
      () => customer.call(call.callId),
      ({ status }) => status === "ended"
    )
    expect(ended.endReason).toBe("hangup_agent")

    // Every later request for it is refused without a charge, with or without a payment.
    const { amount, result } = await host.chain.charged(customer.address, async () => [
      await agent.replay(sent, signature, randomUUID()),
      await agent.replay({ path: RENEW, body: { phoneNumberId } }, renewal, randomUUID()),
      await agent.send({ path: RENEW, body: { phoneNumberId } }),
      await agent.send({ path: ADD_MINUTES, body: { phoneNumberId } }),
      await agent.send({ path: CALL_ONE, body: { phoneNumberId, toNumber: listener } }),
      await agent.send({ path: RELEASE, body: { phoneNumberId, confirmRelease: true } })
    ])
    for (const reply of result) {
      expect(refusalOf(reply)).toEqual([409, "NUMBER_RELEASED"])
      expect(reply.body.error.next).toEqual({ method: "POST", path: BUY_US })
      expect(reply.headers.get("payment-required")).toBeNull()
    }
    expect(amount).toBe(0n)
    const callIn = await carrier.over(await carrier.callIn(number))
    expect(callIn.state).toBe("rejected")
    const [event, ...more] = await customer.events("phone.number.released")
    expect(more).toEqual([])
    expect(event).toMatchObject({ source: "agentos.internal", service: "phone", resourceId: phoneNumberId })
    expect(event!.payload).toStrictEqual({
      type: event!.type,
      eventId: event!.eventId,
      phoneNumberId,
      number,
      reason: "release_requested",
      releasedAt: moment
    })
    expect(await customer.number(phoneNumberId)).toMatchObject({
      status: "released",
      releasedAt: event!.payload["releasedAt"]
    })
  })

  it("is unusable at once if the carrier fails to release it, and is released later", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { number, phoneNumberId } = await customer.buy()
    await carrier.fault({ operation: "release", mode: "before", only: number })
    const release = { path: RELEASE, body: { phoneNumberId, confirmRelease: true } }
    const failed = await customer.agent.send(release)
    expect(refusalOf(failed)).toEqual([502, "PROVIDER_TEMPORARY_FAILURE"])
    expect([failed.body.error.retryable, Number(failed.headers.get("retry-after"))]).toEqual([true, 5])
    expect(refusalOf(await customer.agent.send({ path: RENEW, body: { phoneNumberId } }))).toEqual([
      409,
      "NUMBER_RELEASED"
    ])
    expect(dataOf(await customer.agent.send(release))).toMatchObject({ phoneNumber: { status: "released" } })
  })
})
