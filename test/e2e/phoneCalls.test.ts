import { createHmac, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import {
  CALL_FIVE,
  CALL_ONE,
  type CallFields,
  dataOf,
  EXTEND,
  PHONE,
  type PhoneCustomer,
  PRICES,
  refusalOf
} from "../support/PhoneCustomer.ts"
import { Realtime } from "../support/Realtime.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()
afterEach(() => host.carrier.speed(1))

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const uuid: unknown = expect.stringMatching(UUID)
const moment: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const GREETING = "Good morning, this is Ada."

const until = (customer: PhoneCustomer, callId: string, status: CallFields["status"]): Promise<CallFields> =>
  host.carrier.until(
    () => customer.call(callId),
    (call) => call.status === status
  )

const extend = (callId: string) => ({ path: EXTEND, body: { callId } })

describe("a call", () => {
  it.each([
    [CALL_ONE, 60],
    [CALL_FIVE, 300]
  ] as const)(
    "%s is placed once from the number for its price, with a complete transcript and events",
    async (path, seconds) => {
      const { carrier, chain } = host
      const customer = await host.customer()
      const { address, agent } = customer
      const { number, phoneNumber, phoneNumberId } = await customer.buy({ beginMessage: "Not this." })
      const socket = await Realtime.open(agent)
      const toNumber = await carrier.person({ lines: ["Who's there?", "Good to know."] })
      const request = { path, body: { phoneNumberId, toNumber, initialGreeting: GREETING } }
      const [key, signature] = [randomUUID(), await agent.payment(request)]
      const { amount, result } = await chain.charged(address, () => agent.replay(request, signature, key))
      expect([result.status, amount]).toEqual([201, PRICES[path]])
      expect(result.body).toMatchObject({ guide: "/docs#calls", requestId: result.headers.get("x-request-id") })
      expect(result.headers.get("payment-response")).not.toBeNull()
      const { call } = dataOf<{ readonly call: CallFields }>(result)
      const { callId } = call
      const always = { callId, phoneNumberId, direction: "outbound", fromNumber: number, fromWithheld: null, toNumber }
      const unanswered = { endReason: null, answeredBy: null, connectedSeconds: 0, answeredAt: null, endedAt: null }
      expect(dataOf(result)).toStrictEqual({
        call: {
          ...always,
          ...unanswered,
          callId: uuid,
          status: expect.stringMatching(/^(queued|ringing)$/),
          authorizedSeconds: seconds,
          createdAt: moment
        },
        operationId: uuid
      })

      const ended = await until(customer, callId, "ended")
      const played = await carrier.playTo(toNumber)
      expect(ended).toStrictEqual({
        ...always,
        status: "ended",
        endReason: "completed",
        answeredBy: "person",
        authorizedSeconds: seconds,
        connectedSeconds: played.seconds,
        createdAt: call.createdAt,
        answeredAt: moment,
        endedAt: moment
      })
      expect(played.heard).toEqual([GREETING, "You said: Who's there?", "You said: Good to know."])
      const transcript = await carrier.until(
        () => customer.transcript(callId),
        ({ complete, turns }) => complete && turns.length === 5
      )
      const said = (role: string, text: string) => ({ role, text, at: moment })
      expect(transcript).toStrictEqual({
        callId,
        complete: true,
        turns: [
          said("agent", GREETING),
          said("caller", "Who's there?"),
          said("agent", "You said: Who's there?"),
          said("caller", "Good to know."),
          said("agent", "You said: Good to know.")
        ]
      })
      const times = [ended.createdAt, ended.answeredAt!, ...transcript.turns.map(({ at }) => at), ended.endedAt!]
      expect(times.map(Date.parse)).toEqual(times.map(Date.parse).toSorted((a, b) => a - b))

      // A retry receives the same response. The carrier dialled once, with the limit and without recording.
      const again = await chain.charged(address, () => agent.replay(request, signature, key))
      expect([again.amount, again.result.text]).toEqual([0n, result.text])
      const [form, ...more] = await carrier.dialled(toNumber)
      expect(more).toEqual([])
      expect(form).toMatchObject({ From: number, To: toNumber, TimeLimit: String(seconds) })
      expect(Object.keys(form!).filter((name) => /record/i.test(name))).toEqual([])

      const payload = { ...always, answeredAt: ended.answeredAt }
      const told = {
        started: payload,
        ended: {
          ...payload,
          endReason: "completed",
          answeredBy: "person",
          connectedSeconds: played.seconds,
          endedAt: ended.endedAt
        }
      }
      for (const kind of ["started", "ended"] as const) {
        const type = `phone.call.${kind}`
        const events = await customer.events(type)
        expect(events).toMatchObject([
          { source: "twilio", service: "phone", resourceId: callId, agentId: phoneNumber.agentId }
        ])
        expect(events[0]!.payload).toStrictEqual({ type, eventId: events[0]!.eventId, ...told[kind] })
        const heard = await nextOf(socket, type)
        expect(heard).toMatchObject({ eventId: events[0]!.eventId, resourceId: callId })
      }
      socket.close()
    }
  )

  it.each([
    ["machine_start", "machine"],
    ["fax", "fax"],
    ["unknown", null]
  ] as const)("that the carrier reports as answered by %s is answered by %s", async (reported, answeredBy) => {
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const toNumber = await host.carrier.person({ lines: ["Leave a message.", "Beep."], answeredBy: reported })
    const { callId } = await customer.callOut(phoneNumberId, toNumber, GREETING)
    await until(customer, callId, "ended")
    expect(await customer.call(callId)).toMatchObject({ answeredBy })
    const [ended] = await customer.events("phone.call.ended")
    expect(ended).toMatchObject({ payload: { callId, answeredBy } })
  })

  it("without a greeting begins with the message of its number", async () => {
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy({ beginMessage: "You are called by Ada." })
    const person = await host.carrier.person()
    const { callId } = await customer.callOut(phoneNumberId, person)
    await until(customer, callId, "ended")
    expect((await host.carrier.playTo(person)).heard).toEqual(["You are called by Ada."])
  })

  it("that is not answered ends with the reason of the carrier", async () => {
    const { carrier } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    await carrier.speed(60)
    const unassigned = "+19075550149"
    for (const [toNumber, endReason] of [
      [await carrier.person({ behaviour: "busy" }), "busy"],
      [await carrier.person({ behaviour: "no-answer" }), "no_answer"],
      [unassigned, "failed"]
    ] as const) {
      const { callId } = await customer.callOut(phoneNumberId, toNumber)
      const ended = await until(customer, callId, "ended")
      expect(ended).toMatchObject({ endReason, connectedSeconds: 0, answeredAt: null, endedAt: moment })
      expect(await customer.transcript(callId)).toStrictEqual({ callId, complete: true, turns: [] })
      const events = (await customer.events("phone.call.started", "phone.call.ended")).filter(
        ({ resourceId }) => resourceId === callId
      )
      expect(events).toMatchObject([{ type: "phone.call.ended", payload: { endReason, connectedSeconds: 0 } }])
    }
  })

  it("stores nothing of a recording that the carrier reports", async () => {
    const { carrier, running } = host
    const customer = await host.customer()
    const { phoneNumberId } = await customer.buy()
    const person = await carrier.person({ seconds: 40 })
    const { callId } = await customer.callOut(phoneNumberId, person)
    await until(customer, callId, "in_progress")
    const [, authToken = ""] = (await readFile(join(running.directory, "carrier", "account"), "utf8")).trim().split(":")
    const { id } = await carrier.play((await carrier.playTo(person)).id)
    const [form] = await carrier.dialled(person)
    const recording = {
      RecordingUrl: "https://media.example/RE123",
      RecordingSid: `RE${"1".repeat(32)}`,
      RecordingDuration: "9"
    }
    for (const status of ["in-progress", "completed"]) {
      const fields = { CallSid: id, CallStatus: status, CallDuration: "3", ...recording }
      const url = String(form!["StatusCallback"])
      const answer = await fetch(url, {
        method: "POST",
        headers: { "x-twilio-signature": signed(authToken, url, fields) },
        body: new URLSearchParams(fields)
      })
      expect(answer.status).toBe(204)
    }
    await until(customer, callId, "ended")
    const seen = await Promise.all([
      customer.call(callId),
      customer.transcript(callId),
      customer.number(phoneNumberId),
      customer.events("phone.call.started", "phone.call.ended", "payment.completed")
    ])
    expect(JSON.stringify(seen)).not.toMatch(/recording|media\.example|RE1/i)
    for (const path of [`${PHONE}/calls/${callId}/recording`, `${PHONE}/calls/${callId}/recordings`]) {
      expect((await customer.agent.send({ path })).status).toBe(404)
    }
    const { requests } = await carrier.log()
    expect(JSON.stringify(requests)).not.toMatch(/record/i)
  })
})

describe("an extension", () => {
  it("adds exactly 60 seconds to a call in progress, and the carrier enforces the new limit", async () => {
    const { carrier, chain } = host
    const customer = await host.customer()
    const { address, agent } = customer
    const { phoneNumberId } = await customer.buy()
    const ringing = await customer.callOut(phoneNumberId, await carrier.person({ behaviour: "no-answer" }))
    const early = await agent.send(extend(ringing.callId))
    expect([...refusalOf(early), early.headers.get("payment-required")]).toEqual([409, "CONFLICT", null])

    const toNumber = await carrier.person({ seconds: 10_000 })
    const { callId } = await customer.callOut(phoneNumberId, toNumber)
    await until(customer, callId, "in_progress")
    expect((await agent.challenge(extend(callId))).accepts[0]).toMatchObject({ amount: "300000" })
    const [kept, spare] = [await agent.payment(extend(callId)), await agent.payment(extend(callId))]
    const key = randomUUID()
    const { amount, result } = await chain.charged(address, () => agent.replay(extend(callId), kept, key))
    expect([result.status, amount]).toEqual([200, PRICES[EXTEND]])
    const call = await customer.call(callId)
    expect(dataOf(result)).toStrictEqual({ call, operationId: uuid })
    expect(call).toMatchObject({ status: "in_progress", authorizedSeconds: 120 })
    const again = await chain.charged(address, () => agent.replay(extend(callId), kept, key))
    expect([again.amount, again.result.text]).toEqual([0n, result.text])
    expect(dataOf(await agent.pay(extend(callId)))).toMatchObject({ call: { authorizedSeconds: 180 } })
    const { id } = await carrier.playTo(toNumber)
    expect((await carrier.limitsTold(id)).at(-1)).toBe(180)

    // The carrier ends the call at its limit of three minutes.
    await carrier.speed(120)
    const ended = await until(customer, callId, "ended")
    expect(ended).toMatchObject({ endReason: "time_limit", authorizedSeconds: 180, connectedSeconds: 180 })
    expect(await carrier.play(id)).toMatchObject({ endedBy: "carrier", seconds: 180, timeLimitSeconds: 180 })
    const late = await chain.charged(address, async () => [
      await agent.send(extend(callId)),
      await agent.replay(extend(callId), spare, randomUUID())
    ])
    for (const reply of late.result) expect(refusalOf(reply)).toEqual([409, "CONFLICT"])
    expect(late.amount).toBe(0n)
    expect((await customer.call(callId)).authorizedSeconds).toBe(180)
  })
})

/** Returns the next event of a type from a socket. */
const nextOf = async (socket: Realtime, type: string) => {
  for (;;) {
    const { event } = await socket.next()
    if (event?.type === type) return event
  }
}

/** Signs like the carrier: https://www.twilio.com/docs/usage/security#validating-requests */
const signed = (authToken: string, url: string, fields: Readonly<Record<string, string>>): string => {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHmac("sha1", authToken)
    .update(url + sorted.flat().join(""))
    .digest("base64")
}
