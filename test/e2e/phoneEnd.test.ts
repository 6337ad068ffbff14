import { encodePaymentSignatureHeader } from "@x402/core/http"
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Reply, Request } from "../support/Agent.ts"
import { MovedServer } from "../support/MovedServer.ts"
import {
  ADD_MINUTES,
  BUY_US,
  CALL_FIVE,
  CALL_ONE,
  type CallFields,
  dataOf,
  EXTEND,
  type NumberFields,
  type PhoneCustomer,
  PRICES,
  type Purchase,
  RELEASE,
  refusalOf,
  RENEW
} from "../support/PhoneCustomer.ts"
import { usePhone } from "../support/usePhone.ts"

let server: MovedServer
const host = usePhone(async () => {
  server = await MovedServer.make()
  return server.options
})
afterAll(() => server.remove())

const DAY = 24 * 3_600_000
const uuid: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/)
const moment: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let aheadMillis = 0

/** Moves the clock of the service to a time after the purchase of a number. */
const after = async ({ phoneNumber }: Purchase, millis: number): Promise<void> => {
  aheadMillis = Date.parse(phoneNumber.entitlement.startedAt) + millis - Date.now()
  await server.restart(host.running, { aheadMillis })
}

/** Pays with a wallet that has the clock of the service. The chain has its own clock, which has not moved. */
const payAhead = async ({ agent }: PhoneCustomer, request: Request): Promise<Reply> => {
  const payload = await agent.sign(await agent.challenge(request))
  const signed = payload.payload as {
    readonly authorization: Record<"from" | "to" | "nonce", `0x${string}`> & Record<"value" | "validAfter", string>
  }
  const { asset, assetName: name, assetVersion: version, network } = host.sandbox.chain
  const validBefore = String(Math.floor((Date.now() + aheadMillis) / 1_000) + 25)
  const { from, nonce, to, validAfter, value } = signed.authorization
  const signature = await agent.account.signTypedData({
    domain: { name, version, chainId: Number(network.slice("eip155:".length)), verifyingContract: asset },
    types: {
      TransferWithAuthorization: [
        { name: "from", type: "address" },
        { name: "to", type: "address" },
        { name: "value", type: "uint256" },
        { name: "validAfter", type: "uint256" },
        { name: "validBefore", type: "uint256" },
        { name: "nonce", type: "bytes32" }
      ]
    },
    primaryType: "TransferWithAuthorization",
    message: { from, to, value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore), nonce }
  })
  const moved = { ...payload, payload: { signature, authorization: { ...signed.authorization, validBefore } } }
  return agent.replay(request, encodePaymentSignatureHeader(moved), randomUUID())
}

const noticesOf = async (customer: PhoneCustomer, { phoneNumberId }: Purchase) =>
  (await customer.events("phone.number.expiring")).filter(({ resourceId }) => resourceId === phoneNumberId)

const daysOf = (events: Awaited<ReturnType<typeof noticesOf>>) =>
  events.map(({ payload }) => Number(payload["daysBefore"])).toSorted((a, b) => b - a)

/** All requests that use a number. */
const uses = ({ phoneNumberId }: Purchase, toNumber: string): ReadonlyArray<Request> => [
  { path: RENEW, body: { phoneNumberId } },
  { path: ADD_MINUTES, body: { phoneNumberId } },
  { path: CALL_ONE, body: { phoneNumberId, toNumber } },
  { path: CALL_FIVE, body: { phoneNumberId, toNumber } },
  { path: RELEASE, body: { phoneNumberId, confirmRelease: true } }
]

/** The tests share these numbers, and time passes from test to test. */
let customer: PhoneCustomer
/** One number that is not renewed, one that is, and one that the carrier loses. */
let left: Purchase
let renewed: Purchase
let lost: Purchase
let person: string
let callId: string

beforeAll(async () => {
  customer = await host.customer()
  left = await customer.buy({ beginMessage: "Hello." })
  renewed = await customer.buy()
  lost = await customer.buy()
  await customer.addMinutes(left.phoneNumberId)
  person = await host.carrier.person({ seconds: 10_000 })
})

describe("a number, four and a half days before its expiry", () => {
  /** Bought and released directly at the carrier. */
  const UNRECORDED = "+19075550140"

  beforeAll(async () => {
    await host.account.buy(UNRECORDED, "agentos-sandbox")
    await host.account.release(lost.number)
    await after(left, 25.5 * DAY)
  })

  it("is reported once as expiring, in an event with the data for its renewal", async () => {
    const [notice, ...more] = await host.carrier.until(
      () => noticesOf(customer, left),
      ({ length }) => length > 0
    )
    expect(more).toEqual([])
    expect(await customer.number(left.phoneNumberId)).toMatchObject({ status: "expiring" })
    const { expiresAt } = left.phoneNumber.entitlement
    expect(notice).toMatchObject({ source: "agentos.internal", service: "phone", agentId: left.phoneNumber.agentId })
    expect(notice!.payload).toStrictEqual({
      type: "phone.number.expiring",
      eventId: notice!.eventId,
      phoneNumberId: left.phoneNumberId,
      number: left.number,
      daysBefore: 5,
      expiresAt,
      renewalDeadline: expiresAt,
      price: { amount: "5.00", asset: "USDT" },
      renewalEndpoint: { method: "POST", path: RENEW },
      requestBody: { phoneNumberId: left.phoneNumberId },
      releaseWarning: expect.stringContaining(left.number)
    })
  })

  it("is renewed from its expiry on", async () => {
    const request = { path: RENEW, body: { phoneNumberId: renewed.phoneNumberId } }
    const { amount, result } = await host.chain.charged(customer.address, () => payAhead(customer, request))
    const { phoneNumber } = dataOf<{ readonly phoneNumber: NumberFields }>(result)
    expect([amount, phoneNumber.status]).toEqual([PRICES[RENEW], "active"])
    const end = Date.parse(renewed.phoneNumber.entitlement.expiresAt) + 30 * DAY
    expect(Date.parse(phoneNumber.entitlement.expiresAt)).toBe(end)
  })

  it("is released if the carrier has lost it, and a number without a record is kept at the carrier", async () => {
    const [event] = await host.carrier.until(
      () => customer.events("phone.number.reconciled"),
      ({ length }) => length > 0
    )
    expect(event).toMatchObject({ source: "agentos.internal", resourceId: lost.phoneNumberId })
    const { number, phoneNumberId } = lost
    expect(event!.payload).toMatchObject({ phoneNumberId, number, finding: expect.any(String), releasedAt: moment })
    expect(await customer.number(phoneNumberId)).toMatchObject({ status: "released" })
    expect(await host.account.sidOf(UNRECORDED)).toMatch(/^PN/)
    const log = await readFile(join(host.running.directory, "logs", "server.log"), "utf8")
    expect(log).toContain(`have no record in the database, and are kept: ${UNRECORDED}`)
    expect(await host.account.sidOf(left.number)).toMatch(/^PN/)
  })
})

describe("a number, ninety seconds before its expiry", () => {
  beforeAll(() => after(left, 30 * DAY - 90_000))

  it("is reported at once with the missed event, unless it was renewed", async () => {
    await host.carrier.until(
      () => noticesOf(customer, left),
      ({ length }) => length === 3
    )
    expect(daysOf(await noticesOf(customer, left))).toEqual([5, 3, 1])
    expect(daysOf(await noticesOf(customer, renewed))).toEqual([5])
  })

  it("may be used only for calls that end before it expires", async () => {
    const { agent } = customer
    const { phoneNumberId } = left
    const call = { path: CALL_ONE, body: { phoneNumberId, toNumber: person } }
    const placed = dataOf<{ readonly call: CallFields }>(await payAhead(customer, call))
    callId = placed.call.callId
    await host.carrier.until(
      () => customer.call(callId),
      ({ status }) => status === "in_progress"
    )
    for (const request of [
      { path: CALL_FIVE, body: call.body },
      { path: ADD_MINUTES, body: { phoneNumberId } },
      { path: EXTEND, body: { callId } }
    ]) {
      const reply = await agent.send(request)
      expect(refusalOf(reply)).toEqual([409, "NUMBER_EXPIRING"])
      expect(reply.body.error.next).toEqual({ method: "POST", path: RENEW })
      expect(reply.headers.get("payment-required")).toBeNull()
    }
    expect(refusalOf(await agent.send({ path: RENEW, body: { phoneNumberId } }))).toEqual([402, "PAYMENT_REQUIRED"])
  })
})

describe("a number after its expiry", () => {
  beforeAll(async () => {
    await host.carrier.fault({ operation: "release", mode: "before", times: 1_000, only: left.number })
    await after(left, 30 * DAY + 1_000)
  })

  const expectOver = async () => {
    for (const request of uses(left, person)) {
      const reply = await customer.agent.send(request)
      expect(refusalOf(reply)).toEqual([409, "NUMBER_RELEASED"])
      expect(reply.body.error.next).toEqual({ method: "POST", path: BUY_US })
      expect(reply.headers.get("payment-required")).toBeNull()
    }
    expect((await host.carrier.over(await host.carrier.callIn(left.number))).state).toBe("rejected")
  }

  it("is unusable before the carrier releases it, and its calls end", async () => {
    const [event] = await host.carrier.until(
      () => customer.events("phone.number.suspended"),
      ({ length }) => length > 0
    )
    const { number, phoneNumberId } = left
    const { expiresAt } = left.phoneNumber.entitlement
    expect(event!.payload).toStrictEqual({ type: event!.type, eventId: uuid, phoneNumberId, number, expiresAt })
    expect(await customer.number(phoneNumberId)).toMatchObject({
      status: "suspended",
      entitlement: { expiresAt, secondsRemaining: 0 },
      releasedAt: null
    })
    await expectOver()
    await host.carrier.until(
      () => customer.call(callId),
      ({ status }) => status === "ended"
    )
  })

  it("is released as soon as the carrier accepts it, and a renewed number stays active", async () => {
    await host.carrier.noFaults()
    const [event] = await host.carrier.until(
      () => customer.events("phone.number.released"),
      ({ length }) => length > 0
    )
    const { number, phoneNumberId } = left
    const payload = { phoneNumberId, number, reason: "expired", releasedAt: moment }
    expect(event!.payload).toStrictEqual({ type: event!.type, eventId: uuid, ...payload })
    expect(await customer.number(phoneNumberId)).toMatchObject({ status: "released" })
    await expectOver()
    expect(await host.account.sidOf(number)).toBeUndefined()
    expect(await customer.number(renewed.phoneNumberId)).toMatchObject({ status: "active" })
    expect(await customer.events("phone.number.suspended", "phone.number.released")).toHaveLength(2)
  })
})
