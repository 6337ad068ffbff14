import { randomUUID } from "node:crypto"
import { afterAll, describe, expect, it } from "vitest"
import { type Reply, type Request, untilNotPending } from "../support/Agent.ts"
import { MovedServer } from "../support/MovedServer.ts"
import {
  ADD_MINUTES,
  BUY_CANADA,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  type CallFields,
  dataOf,
  EXTEND,
  NUMBERS,
  PHONE,
  type PhoneCustomer,
  PRICES,
  RELEASE,
  refusalOf,
  RENEW
} from "../support/PhoneCustomer.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { usePhone } from "../support/usePhone.ts"

let server: MovedServer
const host = usePhone(async () => {
  server = await MovedServer.make()
  return server.options
})
afterAll(() => server.remove())

/** Prepares a paid request that can be repeated byte for byte. */
const prepared = async ({ agent }: PhoneCustomer, request: Request): Promise<() => Promise<Reply>> => {
  const [signature, key] = [await agent.payment(request), randomUUID()]
  return () => agent.replay(request, signature, key)
}

/** Returns the payments and refunds of a wallet on the chain. */
const movedOf = async ({ address }: PhoneCustomer) => {
  const { chain } = host.sandbox
  const movements = await new TokenLog(chain).read()
  const [wallet, payTo, refunds] = [address, chain.payTo, chain.refundWallet].map((one) => one.toLowerCase())
  const values = (from: string | undefined, to: string | undefined) =>
    movements.filter((one) => one.from === from && one.to === to).map(({ value }) => value)
  return { paid: values(wallet, payTo), returned: values(refunds, wallet) }
}

/** Expects a request that is settled, rejected by the carrier and refunded once, however often it is repeated. */
const expectReturned = async (customer: PhoneCustomer, attempt: () => Promise<Reply>, price: bigint) => {
  const before = await movedOf(customer)
  const refused = await attempt()
  expect(refusalOf(refused)).toEqual([502, "PROVIDER_REJECTED"])
  expect(refused.headers.get("payment-required")).toBeNull()
  const after = await host.carrier.until(
    () => movedOf(customer),
    ({ returned }) => returned.length > before.returned.length
  )
  expect(after).toEqual({ paid: [...before.paid, price], returned: [...before.returned, price] })
  const again = await host.carrier.until(attempt, ({ body }) => body.error.paymentState === "refunded")
  expect(refusalOf(again)).toEqual([502, "PROVIDER_REJECTED"])
  expect(await movedOf(customer)).toEqual(after)
  const failed = await customer.events("payment.failed")
  expect(failed.at(-1)).toMatchObject({
    payload: { payer: customer.address.toLowerCase(), baseUnits: price.toString() }
  })
}

describe("the catalog of a server with a carrier", () => {
  it("lists all eleven operations and the extensions, with their paths in OpenAPI and their callbacks in the guide", async () => {
    const read = async (path: string) => (await fetch(host.sandbox.baseUrl + path)).text()
    const services = dataOfText(await read("/api/v1/services"))["items"] as ReadonlyArray<Record<string, unknown>>
    const phones = services.filter(({ serviceId }) => String(serviceId).startsWith("phone."))
    expect(
      phones.map(({ path, price, startHere }) => [
        path,
        (price as { amount: string } | null)?.amount ?? null,
        startHere
      ])
    ).toEqual([
      [BUY_US, "5.00", true],
      [BUY_CANADA, "5.00", true],
      [RENEW, "5.00", false],
      [CALL_ONE, "0.30", false],
      [CALL_FIVE, "1.50", false],
      [EXTEND, "0.30", false],
      [ADD_MINUTES, "3.00", false],
      [RELEASE, null, false],
      [NUMBERS, null, false],
      [`${PHONE}/calls/{callId}`, null, false],
      [`${PHONE}/calls/{callId}/transcript`, null, false],
      [`${PHONE}/calls`, null, false],
      [`${PHONE}/voices`, null, false]
    ])
    for (const service of phones) {
      expect(service).toMatchObject({ available: true, marketplaceListing: service["price"] !== null })
    }
    const described = dataOfText(await read("/api/v1"))
    expect(described["environment"]).toBe("sandbox")
    const openApi = JSON.parse(await read("/openapi.json")) as { readonly paths: Record<string, unknown> }
    for (const { path } of phones) expect(openApi.paths).toHaveProperty([String(path)])
    const guide = await read("/llms-full.txt")
    for (const word of ["X-Service-Timestamp", "X-Service-Signature", "agent.message", "hangup"])
      expect(guide).toContain(word)
  })
})

describe("a carrier that fails", () => {
  it("at a search: no charge, and a later retry succeeds", async () => {
    const { carrier, chain } = host
    const customer = await host.customer()
    const attempt = await prepared(customer, { path: BUY_US, body: customer.order() })
    await carrier.fault({ operation: "search", mode: "before", times: 2 })
    const { amount, result } = await chain.charged(customer.address, attempt)
    expect([...refusalOf(result), result.body.error.paymentState, amount]).toEqual([
      502,
      "PROVIDER_TEMPORARY_FAILURE",
      "none",
      0n
    ])
    expect([result.body.error.retryable, Number(result.headers.get("retry-after"))]).toEqual([true, 5])
    await carrier.noFaults()
    expect((await attempt()).status).toBe(201)
  })

  it("at a purchase, temporarily: a retry with the same payment buys once", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const attempt = await prepared(customer, { path: BUY_CANADA, body: customer.order() })
    await carrier.fault({ operation: "buy", mode: "before" })
    const failed = await attempt()
    expect([...refusalOf(failed), failed.body.error.paymentState]).toEqual([
      502,
      "PROVIDER_TEMPORARY_FAILURE",
      "settled"
    ])
    expect(Number(failed.headers.get("retry-after"))).toBeGreaterThan(0)
    const sold = await carrier.until(attempt, ({ status }) => status === 201)
    expect(await carrier.sales(dataOf<{ readonly number: string }>(sold).number)).toBe(1)
    expect((await movedOf(customer)).paid).toEqual([PRICES[BUY_CANADA]])
  })

  it("by rejecting every purchase: refunded", async () => {
    const { carrier } = host
    const customer = await host.customer()
    await customer.buy()
    const attempt = await prepared(customer, { path: BUY_US, body: customer.order() })
    await carrier.fault({ operation: "buy", mode: "reject", times: 5 })
    await expectReturned(customer, attempt, PRICES[BUY_US])
    expect(await customer.numbers()).toHaveLength(1)
  })

  it("by rejecting a call: refunded, and the call never rings", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const toNumber = await carrier.person()
    const attempt = await prepared(customer, { path: CALL_FIVE, body: { phoneNumberId, toNumber } })
    await carrier.fault({ operation: "call", mode: "reject", only: toNumber })
    await expectReturned(customer, attempt, PRICES[CALL_FIVE])
    await expect(carrier.playTo(toNumber)).rejects.toThrow("called 0 times")
    expect(await customer.events("phone.call.started")).toEqual([])
  })

  it("by losing its response to a call: dialled and charged once", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const toNumber = await carrier.person({ seconds: 30 })
    const attempt = await prepared(customer, { path: CALL_ONE, body: { phoneNumberId, toNumber } })
    await carrier.fault({ operation: "call", mode: "after", only: toNumber })
    const reply = await carrier.until(attempt, ({ status }) => status === 201)
    const { callId } = dataOf<{ readonly call: CallFields }>(reply).call
    expect(await carrier.dialled(toNumber)).toHaveLength(1)
    expect((await movedOf(customer)).paid).toEqual([PRICES[BUY_US], PRICES[CALL_ONE]])
    await carrier.until(
      () => customer.call(callId),
      ({ status }) => status === "in_progress"
    )
  })

  it("at an extension: a retry adds 60 seconds once, and a rejection is refunded", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const toNumber = await carrier.person({ seconds: 50 })
    const { callId } = await customer.callOut(phoneNumberId, toNumber)
    await carrier.until(
      () => customer.call(callId),
      ({ status }) => status === "in_progress"
    )
    const { id } = await carrier.playTo(toNumber)
    const request = { path: EXTEND, body: { callId } }
    const attempt = await prepared(customer, request)
    await carrier.fault({ operation: "update", mode: "before", only: id })
    const failed = await attempt()
    expect([...refusalOf(failed), failed.body.error.paymentState]).toEqual([
      502,
      "PROVIDER_TEMPORARY_FAILURE",
      "settled"
    ])
    const extended = await carrier.until(attempt, ({ status }) => status === 200)
    expect(dataOf(extended)).toMatchObject({ call: { authorizedSeconds: 120 } })
    const refused = await prepared(customer, request)
    await carrier.fault({ operation: "update", mode: "reject", only: id })
    await expectReturned(customer, refused, PRICES[EXTEND])
    expect(await customer.call(callId)).toMatchObject({ status: "in_progress", authorizedSeconds: 120 })
    expect(await carrier.play(id)).toMatchObject({ timeLimitSeconds: 120 })
  })
})

describe("a payment whose outcome is unknown", () => {
  it("is reported as pending, not charged again, and ends in one call", async () => {
    const { carrier, sandbox } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const toNumber = await carrier.person()
    const attempt = await prepared(customer, { path: CALL_ONE, body: { phoneNumberId, toNumber } })
    await fetch(`${sandbox.facilitatorUrl}/sandbox/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operation: "settle", mode: "before", times: 1 })
    })
    const pending = await attempt()
    expect(refusalOf(pending)).toEqual([409, "PAYMENT_PENDING"])
    expect(Number(pending.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await untilNotPending(attempt)).status).toBe(201)
    expect(await carrier.dialled(toNumber)).toHaveLength(1)
    expect((await movedOf(customer)).paid).toEqual([PRICES[BUY_US], PRICES[CALL_ONE]])
  })
})

describe("a server whose carrier was removed", () => {
  it("offers no phone service and sends no challenge for one, but replays earlier purchases", async () => {
    const customer = await host.customer()
    const attempt = await prepared(customer, { path: BUY_US, body: customer.order() })
    const bought = await attempt()
    const { authentication, phoneNumberId } = dataOf<{
      readonly phoneNumberId: string
      readonly authentication: { readonly accessToken: string }
    }>(bought)
    await server.restart(host.running, { hasCarrier: false })
    const again = await attempt()
    expect([again.status, again.text]).toEqual([201, bought.text])
    const services = dataOfText(await (await fetch(`${host.sandbox.baseUrl}/api/v1/services`)).text())
    const phones = (
      services["items"] as ReadonlyArray<{ readonly serviceId: string; readonly available: boolean }>
    ).filter(({ serviceId }) => serviceId.startsWith("phone."))
    expect(phones.map(({ available }) => available)).toEqual(Array.from({ length: 13 }, () => false))
    const { agent } = customer
    for (const token of [undefined, "nonsense", authentication.accessToken]) {
      agent.token = token
      for (const request of [
        { method: "POST", path: BUY_US },
        { path: BUY_CANADA, body: customer.order() },
        { path: RENEW, body: { phoneNumberId } },
        { path: CALL_ONE, body: "nonsense" },
        { path: CALL_FIVE, body: {} },
        { path: EXTEND, body: {} },
        { path: ADD_MINUTES, body: { phoneNumberId } },
        { path: RELEASE, body: { phoneNumberId, confirmRelease: true } },
        { path: NUMBERS },
        { path: `${PHONE}/calls/${phoneNumberId}` },
        { path: `${PHONE}/calls/${phoneNumberId}/transcript` }
      ]) {
        const reply = await agent.send(request)
        expect([...refusalOf(reply), reply.headers.get("payment-required")]).toEqual([503, "SERVICE_UNAVAILABLE", null])
      }
    }
  })
})

const dataOfText = (text: string): Record<string, unknown> =>
  (JSON.parse(text) as { readonly data: Record<string, unknown> }).data
