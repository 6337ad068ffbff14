import { AdapterError, AgentOsError, createAgentOs, memory } from "@agentos/agentos"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Account, openCredits } from "../src/Credits.ts"
import { openHost } from "../src/Host.ts"

let host: Awaited<ReturnType<typeof openHost>>
beforeAll(async () => {
  // The log of the host.
  vi.spyOn(console, "error").mockReturnValue()
  host = await openHost("http://localhost:8504")
})
afterAll(async () => {
  await host.agentos.close()
  vi.restoreAllMocks()
})

const CREDIT = 1_000_000n
const PATIENCE = { timeout: 20_000 }
const mail = (to: string) => ({ id: "1@house.test", from: "boss@house.test", to: [to], subject: "News", text: "Good." })

const buyMailbox = (account: Account, localPart: string) =>
  host.agentos.operations.purchase({
    service: "email.mailbox.create",
    input: { localPart },
    payment: account.pay
  })

describe("a host with its own payments and mail", () => {
  it("sells a mailbox for credits, and delivers its mail as an event", async () => {
    const { agentos } = host
    const account = host.open("research", CREDIT)
    const { created, data } = await buyMailbox(account, "Research")
    expect(created).toBe(true)
    expect(data.mailbox).toMatchObject({ address: "research@house.test", active: true })
    expect(account.balance).toBe(750_000n)

    expect(await host.accept(mail("unknown@house.test"))).toEqual([
      { address: "unknown@house.test", reason: "mailbox unknown", isTemporary: false }
    ])
    expect(await host.accept(mail("research@house.test"))).toEqual([])
    const tenant = await agentos.authenticate(data.authentication.accessToken ?? "")
    const event = await vi.waitFor(async () => {
      const { items } = await agentos.events.replay(tenant)
      const received = items.find(({ type }) => type === "email.received")
      expect(received).toBeDefined()
      return received!
    }, PATIENCE)
    expect(event).toMatchObject({
      source: "house",
      status: "pending",
      payload: { mailboxId: data.mailbox.mailboxId, from: "boss@house.test", subject: "News" }
    })

    expect(await agentos.events.acknowledge(tenant, event.eventId)).toMatchObject({ status: "acknowledged" })
    expect((await agentos.events.replay(tenant)).items.filter(({ eventId }) => eventId === event.eventId)).toEqual([])
  })

  it("sends mail through the host, and shows the operation that was paid", async () => {
    const { agentos } = host
    const account = host.open("sender", CREDIT)
    const { data } = await buyMailbox(account, "sender")
    const tenant = await agentos.authenticate(data.authentication.accessToken ?? "")
    const { data: sent } = await agentos.operations.purchase({
      service: "email.message.send",
      input: { mailboxId: data.mailbox.mailboxId, to: ["bob@outside.example"], subject: "Hi", text: "Hello Bob" },
      tenant,
      payment: account.pay
    })
    expect(host.sent.at(-1)).toMatchObject({ subject: "Hi", recipients: ["bob@outside.example"] })
    expect(await agentos.operations.get(tenant, sent.operationId)).toMatchObject({
      service: "email.message.send",
      state: "fulfilled",
      paymentState: "settled",
      payment: { payer: account.address, amount: 20_000n }
    })
  })

  it("does not charge an account with too few credits", async () => {
    const account = host.open("interns", CREDIT / 10n)
    const refusal = await buyMailbox(account, "interns").catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AgentOsError)
    expect(refusal).toMatchObject({ code: "PAYMENT_REQUIRED", status: 402, paymentState: "none" })
    expect(String(refusal)).toContain("too few credits")
    expect(account.balance).toBe(100_000n)
  })

  it("rejects a name that is already taken before the payment", async () => {
    const account = host.open("copycats", CREDIT)
    const other = host.open("others", CREDIT)
    await buyMailbox(account, "copies")
    await expect(buyMailbox(other, "copies")).rejects.toMatchObject({ code: "CONFLICT", status: 409 })
    expect([account.balance, other.balance]).toEqual([750_000n, CREDIT])
  })

  it("rejects a payment that is not signed by its account, or whose account does not exist", async () => {
    const account = host.open("victim", CREDIT)
    const thief = host.open("thief", CREDIT)
    for (const changed of [
      { payer: account.address },
      { payer: account.address, signature: "" },
      { payer: `0x${"0".repeat(40)}`, signature: "" },
      { payer: `0x${"0".repeat(40)}` }
    ]) {
      const pay = (challenge: string) => JSON.stringify({ ...JSON.parse(thief.pay(challenge)), ...changed })
      const stolen = host.agentos.operations.purchase({
        service: "email.mailbox.create",
        input: { localPart: "stolen" },
        payment: pay
      })
      await expect(stolen).rejects.toMatchObject({ status: 402 })
    }
    expect([account.balance, thief.balance]).toEqual([CREDIT, CREDIT])
  })

  it("charges once although the rail's answer is lost, and refunds mail that the mail system rejects", async () => {
    const { open, rail } = openCredits()
    const account = open("unlucky", CREDIT)
    const charge: typeof rail.charge = async (payment, terms) => {
      await rail.charge(payment, terms)
      throw new Error("the connection was lost")
    }
    const agentos = await createAgentOs({
      publicUrl: "http://localhost:8504",
      keys: `1:${"k".repeat(44)}`,
      storage: memory(),
      payment: { ...rail, charge },
      mail: { domain: "house.test", send: () => Promise.reject(new AdapterError("Rejected", "no such domain")) },
      log: () => undefined
    })
    const { data } = await agentos.operations.purchase({
      service: "email.mailbox.create",
      input: { localPart: "unlucky" },
      payment: account.pay
    })
    expect(account.balance).toBe(750_000n)
    const tenant = await agentos.authenticate(data.authentication.accessToken ?? "")
    const sending = agentos.operations.purchase({
      service: "email.message.send",
      input: { mailboxId: data.mailbox.mailboxId, to: ["bob@nowhere.example"], subject: "Hi", text: "Hello" },
      tenant,
      payment: account.pay
    })
    await expect(sending).rejects.toMatchObject({ code: "PROVIDER_REJECTED", status: 502, paymentState: "refund_due" })
    await vi.waitFor(() => expect(account.balance).toBe(750_000n), PATIENCE)
    await agentos.close()
  })

  it("refunds nothing to an account that repeats the nonce of another one", async () => {
    const [first, second] = [host.open("first", CREDIT), host.open("second", CREDIT)]
    const purchase = (localPart: string, payment: (challenge: string) => string) =>
      host.agentos.operations.purchase({ service: "email.mailbox.create", input: { localPart }, payment })
    let nonce = ""
    await purchase("original", (challenge) => {
      const payment = first.pay(challenge)
      nonce = JSON.parse(payment).nonce
      return payment
    })
    const copied = (challenge: string) => second.pay(challenge, nonce)
    await purchase("copy", copied)
    await expect(purchase("another", copied)).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" })
    expect([first.balance, second.balance]).toEqual([750_000n, 750_000n])
  })

  it("rejects an invalid token", async () => {
    await expect(host.agentos.authenticate("at_v1_nonsense")).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      status: 401
    })
  })
})
