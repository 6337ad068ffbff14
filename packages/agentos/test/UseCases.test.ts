import { ScriptedRail } from "@agentos/core/contract-tests"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { CATALOG, type Tenant } from "@agentos/core"
import { type AgentOs, AgentOsError, type CustomRail, createAgentOs } from "../src/index.ts"
import { houseCarrier } from "./support/HouseCarrier.ts"
import { testOptions } from "./support/TestHost.ts"

const NOBODY = "01a20afa-7092-72da-acea-7df4b2e383e8"

const { options } = testOptions()
/** The operations that ran. */
const called = new Set<string>()
const log = (line: string) => {
  const { annotations } = JSON.parse(line) as { readonly annotations: { readonly operation?: string } }
  if (annotations.operation !== undefined) called.add(annotations.operation)
}
const { carrier, placed } = houseCarrier()
let agentos: AgentOs
beforeAll(async () => {
  agentos = await createAgentOs({ ...options, telephony: carrier, log })
})
afterAll(() => agentos.close())

let count = 0
const payAs = (wallet: string) => (challenge: string) => ScriptedRail.pay(challenge, wallet, `n${++count}`)

interface Owner {
  readonly tenant: Tenant
  readonly mailboxId: string
  readonly address: string
  readonly pay: (challenge: string) => string
}
const newOwner = async (): Promise<Owner> => {
  const pay = payAs(`0x${`${++count}`.padStart(40, "0")}`)
  const input = { localPart: `owner-${count}` }
  const { data } = await agentos.operations.purchase({ service: "email.mailbox.create", input, payment: pay })
  const tenant = await agentos.authenticate(data.authentication.accessToken ?? "")
  return { tenant, pay, ...data.mailbox }
}

/** Returns code and status of the error with which a use case must reject. */
const refusalOf = (used: Promise<unknown>) =>
  used.then(
    () => assert.fail("resolved"),
    (error: unknown) => {
      assert.instanceOf(error, AgentOsError)
      return [error.code, error.status] as const
    }
  )

const deliver = async ({ address, tenant }: Owner, raw: string) => {
  const known = (await agentos.messages.list(tenant)).items.length
  const mail = { from: "bob@outside.example", author: "bob@outside.example", remoteAddress: "192.0.2.1" }
  assert.deepStrictEqual(await agentos.messages.receive({ ...mail, to: [address], raw: Buffer.from(raw) }), [])
  for (;;) {
    const { items } = await agentos.messages.list(tenant)
    if (items.length > known) return items[0]!
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe("a purchase in this process", () => {
  it("is refused like over HTTP: without payment, without a tenant, with another payment, with invalid input", async () => {
    const { mailboxId, pay, tenant } = await newOwner()
    const input = { mailboxId, to: ["bob@outside.example"], subject: "Hi", text: "Hello" }
    const service = "email.message.send"
    const unpaid = await agentos.operations.purchase({ service, input, tenant }).catch((error: unknown) => error)
    assert.instanceOf(unpaid, AgentOsError)
    assert.deepStrictEqual([unpaid.code, unpaid.status, unpaid.paymentState], ["PAYMENT_REQUIRED", 402, "none"])
    assert.isNotNull(unpaid.challenge)
    assert.deepStrictEqual(await refusalOf(agentos.operations.purchase({ service, input })), [
      "ONBOARDING_REQUIRED",
      428
    ])

    const payment = pay(unpaid.challenge ?? "")
    const paid = { service, input, tenant, payment, idempotencyKey: "key-1" } as const
    const first = await agentos.operations.purchase(paid)
    assert.deepStrictEqual(await agentos.operations.purchase(paid), first)
    assert.deepStrictEqual(
      await refusalOf(agentos.operations.purchase({ ...paid, input: { ...input, subject: "Another" } })),
      ["IDEMPOTENCY_CONFLICT", 409]
    )
    const { idempotencyKey: _, ...keyless } = paid
    assert.deepStrictEqual(await refusalOf(agentos.operations.purchase(keyless)), ["INVALID_REQUEST", 400])
    const unclear = { ...input, to: [] }
    assert.deepStrictEqual(await refusalOf(agentos.operations.purchase({ service, input: unclear, tenant })), [
      "INVALID_REQUEST",
      400
    ])
    assert.deepStrictEqual(
      await refusalOf(agentos.operations.purchase({ ...paid, payment: payAs(`0x${"9".repeat(40)}`) })),
      ["FORBIDDEN", 403]
    )
    const { operationId } = first.data
    const other = await newOwner()
    const status = await agentos.operations.paymentStatus(payment)
    assert.include(status, { operationId, serviceId: service, advice: "done", receipt: first.receipt })
    assert.deepStrictEqual(await agentos.operations.payment(tenant, operationId), status)
    assert.deepStrictEqual(await refusalOf(agentos.operations.payment(other.tenant, operationId)), [
      "RESOURCE_NOT_OWNED",
      403
    ])
    assert.deepStrictEqual(await refusalOf(agentos.operations.paymentStatus("nonsense")), ["INVALID_REQUEST", 400])
    assert.include(await agentos.operations.get(tenant, operationId), { state: "fulfilled", isFinal: true, service })
    for (const id of [NOBODY, "not an id"]) {
      assert.deepStrictEqual(await refusalOf(agentos.operations.get(tenant, id)), ["RESOURCE_NOT_FOUND", 404])
    }
    assert.deepStrictEqual(await refusalOf(agentos.operations.get(other.tenant, operationId)), [
      "RESOURCE_NOT_FOUND",
      404
    ])
    assert.deepInclude(agentos.operations.prices()[0], { service: "email.mailbox.create", usdt: "0.25" })
  })
})

describe("the use cases of a tenant", () => {
  it("read mail, events and webhooks, with the records and limits of the API", async () => {
    const owner = await newOwner()
    const { mailboxId, tenant } = owner
    assert.strictEqual((await agentos.mailboxes.list(tenant))[0]?.mailboxId, mailboxId)
    const { messageId, threadId } = await deliver(owner, "Subject: Hello\r\n\r\nHello")
    assert.strictEqual((await agentos.messages.get(tenant, messageId)).subject, "Hello")
    const filter = { threadId, from: "bob@outside.example", after: "2020-01-01T00:00:00Z", limit: 1 }
    assert.strictEqual((await agentos.messages.list(tenant, filter)).items[0]?.messageId, messageId)
    const marks = { labels: ["a"], unread: false }
    const change = { messageIds: [messageId], addLabels: ["A"], unread: false }
    assert.deepStrictEqual(await agentos.messages.update(tenant, change), [{ messageId, ...marks }])
    const canceled = agentos.messages.cancel(tenant, messageId)
    assert.match(await canceled.then(() => "canceled", String), /can't be canceled: it is not scheduled, but received/)
    const { items: threads } = await agentos.threads.list(tenant, { label: "a" })
    assert.deepInclude(threads[0], { lastMessageId: messageId, unreadCount: 0 })
    const { messages, thread } = await agentos.threads.get(tenant, threads[0]!.threadId)
    assert.deepStrictEqual([thread, messages.at(-1)?.messageId], [threads[0], messageId])
    assert.deepStrictEqual(await agentos.suppressions.list(tenant, { limit: 1 }), { items: [], nextCursor: null })
    assert.isFalse(await agentos.suppressions.lift(tenant, "bob@outside.example"))
    const raw = await agentos.messages.raw(tenant, messageId)
    assert.strictEqual(await new Response(raw.bytes).text(), "Subject: Hello\r\n\r\nHello")
    assert.deepStrictEqual([raw.contentType, raw.sizeBytes], ["message/rfc822", "Subject: Hello\r\n\r\nHello".length])

    const { items, pending } = await agentos.events.replay(tenant, { limit: 1 })
    const [event] = items
    assert.strictEqual(pending, (await agentos.events.list(tenant)).items.length)
    assert.strictEqual((await agentos.events.get(tenant, event!.eventId)).eventId, event!.eventId)
    assert.strictEqual((await agentos.events.acknowledge(tenant, event!.eventId)).status, "acknowledged")
    assert.isAtLeast(
      await agentos.events.acknowledgeAll(tenant, { before: new Date(Date.now() + 1_000).toISOString() }),
      0
    )
    const { token, websocketUrl } = await agentos.events.realtimeToken(tenant)
    assert.strictEqual(websocketUrl, "ws://localhost:8080/agents/api/v1/events/socket")
    assert.isAbove(token.length, 20)

    assert.deepStrictEqual(await refusalOf(agentos.webhooks.get(tenant)), ["RESOURCE_NOT_FOUND", 404])
    assert.deepStrictEqual(await refusalOf(agentos.webhooks.set(tenant, { url: "http://127.0.0.1/" })), [
      "INVALID_REQUEST",
      400
    ])
    assert.deepStrictEqual(await refusalOf(agentos.webhooks.deliveries(tenant)), ["RESOURCE_NOT_FOUND", 404])
    assert.deepStrictEqual(await refusalOf(agentos.webhooks.remove(tenant)), ["RESOURCE_NOT_FOUND", 404])
    assert.deepStrictEqual(await refusalOf(agentos.messages.list(tenant, { limit: 1_000_000 })), [
      "INVALID_REQUEST",
      400
    ])
    assert.deepStrictEqual(await refusalOf(agentos.messages.get(tenant, "not an id")), ["INVALID_REQUEST", 400])
  })

  it("refuse what belongs to another tenant, and a tenant whose tokens were revoked", async () => {
    const owner = await newOwner()
    const { tenant: stranger } = await newOwner()
    const { messageId } = await deliver(owner, "Subject: Secret\r\n\r\n")
    const [event] = (await agentos.events.replay(owner.tenant)).items
    for (const used of [
      agentos.messages.get(stranger, messageId),
      agentos.messages.raw(stranger, messageId),
      agentos.messages.attachment(stranger, messageId, NOBODY),
      agentos.messages.list(stranger, { mailboxId: owner.mailboxId }),
      agentos.events.get(stranger, event!.eventId),
      agentos.events.acknowledge(stranger, event!.eventId)
    ]) {
      assert.deepStrictEqual(await refusalOf(used), ["RESOURCE_NOT_OWNED", 403])
    }
    assert.isEmpty((await agentos.messages.list(stranger)).items)

    const known = await agentos.tenants.find(owner.tenant.wallet)
    assert.strictEqual(known?.tenantId, owner.tenant.tenantId)
    assert.isNull(await agentos.tenants.find(`0x${"f".repeat(40)}`))
    await agentos.tenants.suspend(owner.tenant, "Unpaid bill")
    const update = { service: "email.mailbox.update", input: { mailboxId: owner.mailboxId, displayName: "A" } } as const
    const suspended = { ...update, tenant: owner.tenant, payment: owner.pay }
    assert.deepStrictEqual(await refusalOf(agentos.operations.purchase(suspended)), ["FORBIDDEN", 403])
    await agentos.tenants.resume(owner.tenant)
    await agentos.tenants.revokeTokens(owner.tenant)
    assert.deepStrictEqual(await refusalOf(agentos.mailboxes.list(owner.tenant)), ["AUTH_REQUIRED", 401])
    const current = await agentos.tenants.find(owner.tenant.wallet)
    const token = await agentos.tenants.accessToken(current!)
    assert.lengthOf(await agentos.mailboxes.list(await agentos.authenticate(token)), 1)
  })
})

describe("a carrier of the host", () => {
  it("sells a number, places a call and reports it, and connects callers to their agent", async () => {
    const { pay, tenant } = await newOwner()
    const bought = await agentos.operations.purchase({
      service: "phone.number.us.30d",
      input: { agentName: "Ada", agentWebhookUrl: "https://agent.invalid/", beginMessage: "Hello, this is Ada." },
      tenant,
      payment: pay
    })
    const { number, phoneNumberId } = bought.data.phoneNumber
    assert.strictEqual(number, "+14155550100")

    const placing = await agentos.operations.purchase({
      service: "phone.call.outbound.1m",
      input: { phoneNumberId, toNumber: "+12025550150" },
      tenant,
      payment: pay
    })
    const { callId } = placing.data.call
    assert.deepInclude(placed[0], { callId, from: number, to: "+12025550150" })
    await agentos.carrier.report(callId, { state: "ringing" })
    const connection = await agentos.carrier.answered(callId)
    assert.strictEqual(connection?.callId, callId)
    await agentos.carrier.report(callId, { state: "ended", ending: "completed", seconds: 6.2 })
    assert.deepInclude(await agentos.calls.get(tenant, callId), { status: "ended", connectedSeconds: 7 })

    await agentos.operations.purchase({
      service: "phone.call.inbound.add.10m",
      input: { phoneNumberId },
      tenant,
      payment: pay
    })
    const incoming = { providerCallId: "CA-in", from: "+12025550151", to: number }
    assert.isNull(await agentos.carrier.incoming({ ...incoming, to: "+12025550199" }))
    const admitted = await agentos.carrier.incoming(incoming)
    const said: Array<string> = []
    let hangUp = () => {}
    const ended = new Promise<void>((resolve) => (hangUp = resolve))
    const heard = (async function* () {
      yield { _tag: "Said", text: "Is Ada there?" } as const
      await ended
    })()
    const conversation = agentos.carrier.converse(admitted?.token ?? "", heard, (command) => {
      if (command._tag === "Say") said.push(command.text)
      if (said.length > 1) hangUp()
    })
    assert.isTrue(await conversation)
    assert.strictEqual(said[0], "Hello, this is Ada.")
    assert.isFalse(await agentos.carrier.converse(admitted?.token ?? "", heard, () => undefined))
    const { turns } = await agentos.calls.transcript(tenant, admitted?.callId ?? "")
    assert.include(
      turns.map(({ text }) => text),
      "Is Ada there?"
    )
    const { items } = await agentos.calls.list(tenant, { direction: "inbound" })
    assert.deepStrictEqual(
      items.map(({ callId: id }) => id),
      [admitted?.callId]
    )
    const { items: limits } = await agentos.limits(tenant)
    assert.deepInclude(limits, {
      name: "calls_per_hour",
      scope: "wallet",
      description: "Outbound calls placed within an hour.",
      limit: 60,
      used: 1,
      resetsAt: null
    })
    assert.deepStrictEqual(await agentos.numbers.voices(), [])
    assert.isNotNull((await agentos.numbers.release(tenant, phoneNumberId)).releasedAt)
    assert.lengthOf(await agentos.numbers.list(tenant), 1)
  })
})

describe("the use cases", () => {
  it("include every free operation of a tenant", () => {
    const free = CATALOG.filter(({ authentication, price }) => price === null && authentication === "bearer")
    // An alias of acknowledgeEvent.
    const missing = free.map(({ operationId }) => operationId).filter((name) => !called.has(name))
    assert.deepStrictEqual(missing, ["acknowledgeEventById"])
  })
})

describe("a payment rail of the host", () => {
  const url = "http://localhost:8080/agents/api/v1/email/mailboxes"
  const post = (host: AgentOs, headers: Record<string, string> = {}) =>
    host.fetch(
      new Request(url, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "k", ...headers },
        body: JSON.stringify({ localPart: "ada" })
      })
    )

  it("is checked when it is used, and admits nothing that it does not state", async () => {
    const logs: Array<string> = []
    const rail = {} as CustomRail
    const host = await createAgentOs({ ...options, payment: rail, log: (line) => void logs.push(line) })
    assert.strictEqual((await post(host)).status, 500)
    assert.include(logs.join(), "payment.terms is not a function")

    const terms = (amount: bigint) => [
      { network: "n", asset: "a", amount, payTo: "house", maxTimeoutSeconds: 60 } as const
    ]
    Object.assign(rail, { terms })
    const challenge = (await post(host)).headers.get("payment-required") ?? ""
    const { accepts } = JSON.parse(Buffer.from(challenge, "base64").toString()) as {
      accepts: ReadonlyArray<ReturnType<typeof terms>[0] & { amount: string }>
    }
    const payment = (changed: object = {}) => ({
      payer: `0x${"1".repeat(40)}`,
      nonce: `0x${"2".repeat(64)}`,
      amount: 250_000n,
      payTo: "house",
      validBefore: Math.floor(Date.now() / 1_000) + 30,
      accepted: accepts[0],
      ...changed
    })
    const paid = async (method: object) => {
      Object.assign(rail, method)
      const response = await post(host, { "payment-signature": "anything" })
      const { error } = (await response.json()) as { error: { message: string } }
      return [response.status, error.message] as const
    }
    const expect = async (method: object, status: number, message: RegExp) => {
      const answer = await paid(method)
      assert.strictEqual(answer[0], status, answer[1])
      assert.match(answer[1], message)
    }
    await expect(
      { decode: () => Promise.reject(new Error("the password is secret")) },
      402,
      /The provider payment rail/
    )
    await expect({ decode: async () => payment({ payer: "me" }) }, 402, /The payer must be 0x and 40/)
    await expect({ decode: async () => payment() }, 402, /payment\.authenticate is not a function/)
    await expect({ authenticate: async () => undefined }, 502, /payment\.(?:find|verify) is not a function/)
    await expect({ find: async () => ({ status: "unused" }) }, 502, /payment\.verify is not a function/)
    await expect({ verify: async () => undefined, decode: async () => payment({ amount: 1n }) }, 402, /is over 1/)
    await expect({ decode: async () => payment({ payTo: "me" }) }, 402, /goes to me/)
    await expect({ decode: async () => payment({ validBefore: 1 }) }, 402, /has expired/)
    await expect({ decode: async () => payment({ validBefore: 9_999_999_999 }) }, 402, /valid for longer/)
    assert.notInclude(logs.filter((line) => line.includes('"request"')).join(), "secret")
    await host.close()
  })
})
