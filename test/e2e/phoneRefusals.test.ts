import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import type { Reply } from "../support/Agent.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  dataOf,
  EXTEND,
  NUMBERS,
  PHONE,
  type PhoneCustomer,
  type Purchase,
  RELEASE,
  refusalOf,
  RENEW
} from "../support/PhoneCustomer.ts"
import { HIDDEN_ADDRESSES, long, UNCALLABLE, WRONG_PURCHASES } from "../support/PhoneSamples.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()
const UNKNOWN = "01900000-0000-7000-8000-000000000000"

/** A customer with a number. No request of this file may charge it. */
let customer: PhoneCustomer
let bought: Purchase
beforeAll(async () => {
  customer = await host.customer()
  bought = await customer.buy({ areaCode: "415" })
})

/** Expects a refusal that names the field and carries no challenge. */
const expectInvalid = (reply: Reply, field: string) => {
  expect([...refusalOf(reply), reply.body.error?.issues?.[0]?.path]).toEqual([400, "INVALID_REQUEST", field])
  expect(reply.headers.get("payment-required")).toBeNull()
  expect(reply.body.error.retryable).toBe(false)
}

describe("a purchase with an invalid field", () => {
  it.each([BUY_US, BUY_CANADA])("%s is refused with the field's name", async (path) => {
    const stranger = await host.customer()
    for (const [field, change] of WRONG_PURCHASES) {
      expectInvalid(await stranger.agent.send({ path, body: stranger.order(change) }), field)
    }
    for (const body of ["[]", "null", '"text"', "{", "", '{"agentName":"a","agentName":"b"}']) {
      const reply = await stranger.agent.send({ path, body, headers: body === "" ? { "payment-signature": "x" } : {} })
      expect(refusalOf(reply)).toEqual([400, "INVALID_REQUEST"])
    }
    const typed = await stranger.agent.send({ path, body: "agentName=Ada", headers: { "content-type": "text/plain" } })
    expect(refusalOf(typed)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"])
  })

  it("is refused with the names of all invalid fields", async () => {
    const reply = await customer.agent.send({ path: BUY_US, body: { agentName: "", areaCode: "x", extra: 1 } })
    const paths = reply.body.error.issues?.map(({ path }) => path)
    expect(paths?.toSorted()).toEqual(["agentName", "agentWebhookUrl", "areaCode", "extra"])
  })

  it("is refused if its area is sold out, with the areas nearby", async () => {
    const numbers = Array.from({ length: 50 }, (_, line) => `+142555501${String(line).padStart(2, "0")}`)
    for (const number of numbers) await host.account.buy(number, "another account's")
    const reply = await customer.agent.send({ path: BUY_US, body: customer.order({ areaCode: "425" }) })
    expect(refusalOf(reply)).toEqual([409, "CONFLICT"])
    expect(reply.body.error.message).toContain(
      "areaCode 425 has no US number for sale at the moment. Choose a nearby one: 206."
    )
  })

  it("is refused with the reason for an agent without a public address, and accepted for a public one", async () => {
    const send = (agentWebhookUrl: string) =>
      customer.agent.send({ path: BUY_US, body: customer.order({ agentWebhookUrl }) })
    for (const [address, why] of HIDDEN_ADDRESSES) {
      const reply = await send(address)
      expectInvalid(reply, "agentWebhookUrl")
      expect([address, reply.body.error.issues?.[0]?.message]).toEqual([address, expect.stringMatching(why)])
    }
    // An agent that answers over a voice session names a host that never resolves (RFC 2606).
    for (const address of [
      "https://1.1.1.1/voice",
      "https://[2606:4700:4700::1111]/voice?agent=1",
      "https://agent.invalid/"
    ]) {
      expect(refusalOf(await send(address))).toEqual([402, "PAYMENT_REQUIRED"])
    }
  })

  it("is refused for any agent on this machine except the sandbox's own", async () => {
    const own = new URL(host.sandbox.agentWebhookUrl)
    for (const address of [`https://127.0.0.1:${Number(own.port) + 1}/`, `https://127.0.0.2:${own.port}/`]) {
      expectInvalid(
        await customer.agent.send({ path: BUY_US, body: customer.order({ agentWebhookUrl: address }) }),
        "agentWebhookUrl"
      )
    }
  })
})

describe("a request about a number or a call with an invalid field", () => {
  it.each([RENEW, ADD_MINUTES])("%s is refused with the field's name", async (path) => {
    for (const phoneNumberId of [
      undefined,
      null,
      1,
      "",
      "nonsense",
      "01900000-0000-7000-8000-00000000000",
      [UNKNOWN]
    ]) {
      expectInvalid(await customer.agent.send({ path, body: { phoneNumberId } }), "phoneNumberId")
    }
    const { phoneNumberId } = bought
    expectInvalid(await customer.agent.send({ path, body: { phoneNumberId, months: 2 } }), "months")
    expect(refusalOf(await customer.agent.send({ path, method: "POST" }))).toEqual([400, "INVALID_REQUEST"])
  })

  it("is refused if it is an extension, a release or a read", async () => {
    const { agent } = customer
    for (const callId of [undefined, "nonsense"])
      expectInvalid(await agent.send({ path: EXTEND, body: { callId } }), "callId")
    expectInvalid(await agent.send({ path: EXTEND, body: { callId: UNKNOWN, seconds: 120 } }), "seconds")
    expectInvalid(await agent.send({ path: RELEASE, body: { confirmRelease: true } }), "phoneNumberId")
    const both = { phoneNumberId: bought.phoneNumberId, confirmRelease: true, now: true }
    expectInvalid(await agent.send({ path: RELEASE, body: both }), "now")
    for (const end of ["", "/transcript"]) {
      expectInvalid(await agent.send({ path: `${PHONE}/calls/nonsense${end}` }), "callId")
      expect((await agent.send({ path: `${PHONE}/calls/${UNKNOWN}${end}?more=1` })).status).toBe(400)
    }
    expect((await agent.send({ path: `${NUMBERS}?limit=1` })).status).toBe(400)
    const wrongMethod = await agent.send({ path: NUMBERS, body: {} })
    expect([...refusalOf(wrongMethod), wrongMethod.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      expect.stringContaining("GET")
    ])
  })

  it.each([CALL_ONE, CALL_FIVE])("%s is refused for numbers that cannot or may not be called", async (path) => {
    const { number, phoneNumberId } = bought
    const call = (body: object) =>
      customer.agent.send({ path, body: { phoneNumberId, toNumber: "+14155550150", ...body } })
    expectInvalid(await call({ phoneNumberId: undefined }), "phoneNumberId")
    expectInvalid(await call({ initialGreeting: long(1_001) }), "initialGreeting")
    expectInvalid(await call({ initialGreeting: 5 }), "initialGreeting")
    expectInvalid(await call({ record: true }), "record")
    for (const toNumber of [undefined, 14155550150, number, ...UNCALLABLE]) {
      expectInvalid(await call({ toNumber }), "toNumber")
    }
    const { events, requests } = await host.carrier.log()
    expect(requests.filter((request) => request.path.endsWith("/Calls.json"))).toEqual([])
    expect(events).toEqual([])
  })
})

describe("the order of checks", () => {
  const bearer = [
    ["POST", RENEW, "phone.number.us.30d"],
    ["POST", CALL_ONE, "phone.number.us.30d"],
    ["POST", CALL_FIVE, "phone.number.us.30d"],
    ["POST", EXTEND, "phone.number.us.30d"],
    ["POST", ADD_MINUTES, "phone.number.us.30d"],
    ["POST", RELEASE, "phone.number.us.30d"],
    ["GET", NUMBERS, "phone.number.us.30d"],
    ["GET", `${PHONE}/calls/${UNKNOWN}`, "phone.number.us.30d"],
    ["GET", `${PHONE}/calls/${UNKNOWN}/transcript`, "phone.number.us.30d"]
  ] as const

  it.each(bearer)(
    "%s %s requires a token first, and names the operation that returns one",
    async (method, path, serviceId) => {
      const stranger = await host.customer()
      const send = (headers: Record<string, string>) =>
        stranger.agent.send({ method, path, ...(method === "POST" ? { body: "nonsense" } : {}), headers })
      const missing = await send({})
      expect(refusalOf(missing)).toEqual([428, "ONBOARDING_REQUIRED"])
      expect(missing.body.error.onboarding).toMatchObject({
        serviceId,
        method: "POST",
        endpoint: BUY_US,
        price: { amount: "5.00", asset: "USDT" },
        requiredInput: [{ name: "agentName" }, { name: "agentWebhookUrl" }]
      })
      expect(missing.headers.get("payment-required")).toBeNull()
      for (const authorization of ["Basic eDp5", "Bearer", "Bearer at_v1_x", `Bearer ${customer.agent.token}x`]) {
        const reply = await send({ authorization })
        expect(refusalOf(reply)).toEqual([401, "AUTH_REQUIRED"])
        expect(reply.headers.get("www-authenticate")).toContain("Bearer")
      }
      const opened = await customer.agent.send({ path: "/api/v1/events/realtime-token" })
      const { realtime } = dataOf<{ readonly realtime: { readonly token: string } }>(opened)
      expect(refusalOf(await send({ authorization: `Bearer ${realtime.token}` }))).toEqual([401, "INVALID_TOKEN"])
    }
  )

  it("is the body, ids, ownership, and the payment last", async () => {
    const [stranger, { agent }] = [await host.customer(), customer]
    const theirs = await stranger.buy({ areaCode: "212" })
    const person = await host.carrier.person()
    const call = await stranger.callOut(theirs.phoneNumberId, person)
    const of = (phoneNumberId: string, toNumber = "+14155550150") => ({ phoneNumberId, toNumber })
    const paths: ReadonlyArray<readonly [string, (id: string) => object, string]> = [
      [RENEW, (phoneNumberId) => ({ phoneNumberId }), theirs.phoneNumberId],
      [ADD_MINUTES, (phoneNumberId) => ({ phoneNumberId }), theirs.phoneNumberId],
      [CALL_ONE, (id) => of(id), theirs.phoneNumberId],
      [CALL_FIVE, (id) => of(id), theirs.phoneNumberId],
      [EXTEND, (callId) => ({ callId }), call.callId],
      [RELEASE, (phoneNumberId) => ({ phoneNumberId, confirmRelease: true }), theirs.phoneNumberId]
    ]
    // A valid payment for another request of this wallet makes no difference.
    const signature = await agent.payment({ path: RENEW, body: { phoneNumberId: bought.phoneNumberId } })
    const { amount } = await host.chain.charged(customer.address, async () => {
      for (const [path, body, theirId] of paths) {
        for (const headers of [{}, { "payment-signature": signature, "idempotency-key": randomUUID() }]) {
          const send = (id: string, more: object = {}) => agent.send({ path, body: { ...body(id), ...more }, headers })
          expectInvalid(await send(UNKNOWN, { more: 1 }), "more")
          expectInvalid(await send(theirId, { more: 1 }), "more")
          const unknown = await send(UNKNOWN)
          expect(refusalOf(unknown)).toEqual([404, "RESOURCE_NOT_FOUND"])
          const notOwned = await send(theirId)
          expect(refusalOf(notOwned)).toEqual([403, "RESOURCE_NOT_OWNED"])
          for (const { text } of [unknown, notOwned]) expect(text).not.toContain(theirs.number)
        }
      }
    })
    expect(amount).toBe(0n)
    for (const end of ["", "/transcript"]) {
      const read = (id: string) => agent.send({ path: `${PHONE}/calls/${id}${end}` })
      expect(refusalOf(await read(UNKNOWN))).toEqual([404, "RESOURCE_NOT_FOUND"])
      expect(refusalOf(await read(call.callId))).toEqual([403, "RESOURCE_NOT_OWNED"])
    }
    expect(await host.carrier.dialled("+14155550150")).toEqual([])
    expect(await stranger.number(theirs.phoneNumberId)).toMatchObject({ status: "active" })
  })
})

describe("a payment for a phone service", () => {
  it("is requested with the price and terms, also without a body", async () => {
    const stranger = await host.customer()
    for (const path of [BUY_US, BUY_CANADA]) {
      const probe = await stranger.agent.send({ method: "POST", path })
      expect(refusalOf(probe)).toEqual([402, "PAYMENT_REQUIRED"])
      const [terms, ...others] = (await stranger.agent.challenge({ path })).accepts
      expect(others).toEqual([])
      expect(terms).toMatchObject({ scheme: "exact", amount: "5000000", payTo: host.sandbox.chain.payTo })
    }
    const person = await host.carrier.person()
    const { phoneNumberId } = bought
    for (const [path, amount, body] of [
      [RENEW, "5000000", { phoneNumberId }],
      [ADD_MINUTES, "3000000", { phoneNumberId }],
      [CALL_ONE, "300000", { phoneNumberId, toNumber: person }],
      [CALL_FIVE, "1500000", { phoneNumberId, toNumber: person }]
    ] as const) {
      const unpaid = await customer.agent.send({ path, body })
      expect([...refusalOf(unpaid), unpaid.body.error.paymentState]).toEqual([402, "PAYMENT_REQUIRED", "none"])
      expect((await customer.agent.challenge({ path, body })).accepts[0]).toMatchObject({ amount })
    }
  })

  it("is accepted once, for its own request, with a key, from the wallet of the token", async () => {
    const { agent } = customer
    const stranger = await host.customer()
    const { phoneNumberId } = bought
    const renewal = { path: RENEW, body: { phoneNumberId } }
    const minutes = { path: ADD_MINUTES, body: { phoneNumberId } }
    const signature = await agent.payment(renewal)
    const key = randomUUID()
    const { amount } = await host.chain.charged(customer.address, async () => {
      const bare = await agent.send({ ...renewal, headers: { "payment-signature": signature } })
      expect(refusalOf(bare)).toEqual([400, "INVALID_REQUEST"])
      // A payment for another service, and a token of another wallet.
      expect(refusalOf(await agent.replay(minutes, signature, key))).toEqual([402, "PAYMENT_REQUIRED"])
      stranger.agent.token = agent.token
      const theirs = await stranger.agent.pay(renewal)
      expect(refusalOf(theirs)).toEqual([403, "FORBIDDEN"])
    })
    expect(amount).toBe(0n)
    const first = await agent.replay(renewal, signature, key)
    expect(first.status).toBe(200)
    const other = await agent.payment(renewal)
    const repeated = await host.chain.charged(customer.address, async () => [
      await agent.replay(renewal, signature, randomUUID()),
      await agent.replay(renewal, other, key),
      await agent.replay(minutes, signature, key)
    ])
    for (const reply of repeated.result) expect(refusalOf(reply)).toEqual([409, "IDEMPOTENCY_CONFLICT"])
    expect(repeated.amount).toBe(0n)
    expect((await agent.replay(renewal, signature, key)).text).toBe(first.text)
  })
})
