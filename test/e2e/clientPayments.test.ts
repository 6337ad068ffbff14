import { AgentOsError, type ErrorCode } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { connectTo, MemoryJournal, RecordedNetwork } from "../support/ClientRig.ts"
import { usePhone } from "../support/usePhone.ts"

const host = usePhone()
const MAILBOX_PRICE = 250_000n

/** Returns a funded wallet, a recorded network and a connection. */
const open = async (more: Omit<Parameters<typeof connectTo>[1], "wallet" | "fetch"> = {}) => {
  const { agent } = await host.customer()
  const wallet = agent.account
  const network = new RecordedNetwork()
  const connect = (again: typeof more = {}) =>
    connectTo(host.sandbox, { wallet, fetch: network.fetch, ...more, ...again })
  return { wallet, network, connect, client: await connect() }
}

/** Returns the error of a call; fails if it succeeds. */
const failureOf = async (call: Promise<unknown>): Promise<AgentOsError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  if (error instanceof AgentOsError) return error
  throw new Error(`expected an AgentOsError, got ${String(error)}`)
}

const charged = async (wallet: { readonly address: `0x${string}` }, work: () => Promise<unknown>) =>
  (await host.chain.charged(wallet.address, work)).amount

describe("a first purchase", () => {
  it("pays, keeps the token of the answer, and uses it for the next call", async () => {
    const { client, network, wallet } = await open()
    const localPart = freshName()
    const amount = await charged(wallet, async () => {
      const mailbox = await client.mailboxes.create({ localPart })
      expect(mailbox.address).toBe(`${localPart}@${host.sandbox.emailDomain}`)
      const [listed] = await client.mailboxes.list()
      expect(listed?.id).toBe(mailbox.id)
    })
    expect(amount).toBe(MAILBOX_PRICE)
    expect(network.requests.map(({ headers, status }) => [status, "authorization" in headers])).toEqual([
      [402, false],
      [201, false],
      [200, true]
    ])
    expect(client.payments.spent().lastDay).toBe("0.25")
  })

  it("binds the payment to the server and its challenge", async () => {
    const { client, network } = await open()
    await client.mailboxes.create({ localPart: freshName() })
    const [paid] = network.paid
    const { payload } = JSON.parse(atob(paid!.headers["payment-signature"]!))
    expect(payload.authorization.nonce).toMatch(/^0x6167656e746f7332/)
  })

  it("takes its tokens from the store of the caller", async () => {
    const tokens = new Map<string, string>()
    const { connect, network } = await open({ tokens })
    await (await connect()).mailboxes.create({ localPart: freshName() })
    expect([...tokens.values()]).toEqual([expect.stringMatching(/^at_v1_/)])
    await (await connect()).mailboxes.list()
    expect(network.to("/auth/token")).toEqual([])
  })
})

describe("an opened mailbox", () => {
  it("is bought once by several first runs of a wallet at once, and by later ones", async () => {
    const { connect, wallet } = await open()
    const localPart = freshName()
    const runs = await Promise.all([connect(), connect(), connect()])
    const amount = await charged(wallet, async () => {
      const mailboxes = await Promise.all(runs.map((run) => run.mailboxes.open({ localPart })))
      const again = await (await connect()).mailboxes.open({ localPart })
      expect(new Set([...mailboxes, again].map(({ id }) => id)).size).toBe(1)
    })
    expect(amount).toBe(MAILBOX_PRICE)
  })

  it("of another wallet is a conflict that costs nothing", async () => {
    const [{ client }, other] = [await open(), await open()]
    const localPart = freshName()
    await client.mailboxes.open({ localPart })
    const amount = await charged(other.wallet, async () => {
      const error = await failureOf(other.client.mailboxes.open({ localPart }))
      expect([error.code, error.moneyMoved]).toEqual(["CONFLICT", "no"])
      expect(error.message).toMatch(/belongs to another wallet\. Nothing was charged\. Choose another localPart\.$/)
    })
    expect(amount).toBe(0n)
    expect(other.network.paid).toEqual([])
  })
})

describe("limits", () => {
  it("refuse a price above the limit per call before anything is signed", async () => {
    const { client, network } = await open({ spend: { perCall: "0.24" } })
    const error = await failureOf(client.mailboxes.create({ localPart: freshName() }))
    expect([error.code, error.moneyMoved, network.paid]).toEqual(["SPEND_LIMIT_EXCEEDED", "no", []])
    if (error.code !== "SPEND_LIMIT_EXCEEDED") throw error
    expect(error.details).toEqual({ limit: "perCall", limitAmount: "0.24", price: "0.25", spentLastDay: "0.00" })
  })

  it("count the spending of a day, also by concurrent calls and before a restart", async () => {
    const journal = new MemoryJournal()
    const { client, connect, wallet } = await open({ journal, spend: { perDay: "0.60" } })
    const amount = await charged(wallet, async () => {
      const outcomes = await Promise.allSettled(
        [1, 2, 3].map(() => client.mailboxes.create({ localPart: freshName() }))
      )
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "fulfilled", "rejected"])
      const restarted = await connect()
      const error = await failureOf(restarted.mailboxes.create({ localPart: freshName() }))
      expect(error).toMatchObject({ code: "SPEND_LIMIT_EXCEEDED", details: { limit: "perDay", spentLastDay: "0.50" } })
    })
    expect(amount).toBe(2n * MAILBOX_PRICE)
  })

  it("pay only what onPayment approves", async () => {
    const prices: Array<string> = []
    const { client, network } = await open({
      onPayment: ({ operationId, price }) => {
        prices.push(`${operationId} ${price}`)
        return false
      }
    })
    const error = await failureOf(client.mailboxes.create({ localPart: freshName() }))
    expect([error.code, error.moneyMoved]).toEqual(["PAYMENT_NOT_APPROVED", "no"])
    expect([prices, network.paid]).toEqual([["createMailbox 0.25"], []])
  })
})

describe("a payment whose answer is lost", () => {
  it("is sent again with the same bytes, and charged once", async () => {
    const { client, network, wallet } = await open()
    network.fate = () => (network.paid.length === 1 ? "lost after" : "sent")
    const amount = await charged(wallet, () => client.mailboxes.create({ localPart: freshName() }))
    const [first, second, ...more] = network.paid
    expect([amount, more]).toEqual([MAILBOX_PRICE, []])
    expect([second?.headers, second?.body]).toEqual([first?.headers, first?.body])
    expect([first?.status, second?.status]).toEqual([201, 201])
  })

  it("is reported as unknown, and resumed by the same call", async () => {
    const { client, network, wallet } = await open()
    const localPart = freshName()
    network.fate = ({ headers }) => ("payment-signature" in headers ? "lost after" : "sent")
    const amount = await charged(wallet, async () => {
      const error = await failureOf(client.mailboxes.create({ localPart }))
      expect([error.code, error.moneyMoved]).toEqual(["PAYMENT_OUTCOME_UNKNOWN", "unknown"])
      expect(client.payments.open()).toMatchObject([{ operationId: "createMailbox", amount: "0.25", isOpen: true }])
      network.fate = () => "sent"
      await client.mailboxes.create({ localPart })
    })
    expect([amount, client.payments.open()]).toEqual([MAILBOX_PRICE, []])
    expect(new Set(network.paid.map(({ headers }) => headers["payment-signature"])).size).toBe(1)
  })
})

describe("a crash", () => {
  it("between preparation and answer pays once, with a journal", async () => {
    const journal = new MemoryJournal()
    const { client, connect, network, wallet } = await open({ journal })
    const localPart = freshName()
    const amount = await charged(wallet, async () => {
      network.fate = ({ headers }) => ("payment-signature" in headers ? "never answered" : "sent")
      // The program that waits for this answer is gone.
      void client.mailboxes.create({ localPart })
      await expect.poll(() => network.paid[0]?.status).toBe(201)
      network.fate = () => "sent"
      const restarted = await connect()
      expect(restarted.payments.open()).toHaveLength(1)
      const mailbox = await restarted.mailboxes.create({ localPart })
      expect(mailbox.address).toBe(`${localPart}@${host.sandbox.emailDomain}`)
      expect((await restarted.mailboxes.list()).map(({ id }) => id)).toEqual([mailbox.id])
    })
    expect(amount).toBe(MAILBOX_PRICE)
    expect(journal.states).toEqual(["prepared", "sent", "sent", "answered"])
    expect(new Set(network.paid.map(({ headers }) => headers["idempotency-key"])).size).toBe(1)
  })

  it("before the journal has the payment sends nothing", async () => {
    const journal = new MemoryJournal()
    const { connect, network, wallet } = await open()
    const client = await connect({
      journal: { load: journal.load, save: () => Promise.reject(new Error("disk full")) }
    })
    const amount = await charged(wallet, async () => {
      const error = await failureOf(client.mailboxes.create({ localPart: freshName() }))
      expect([error.code, error.moneyMoved]).toEqual(["JOURNAL_FAILED", "no"])
    })
    expect([amount, network.paid]).toEqual([0n, []])
  })
})

describe("a token", () => {
  it("that was lost is recovered by signing in, without a payment", async () => {
    const { client, connect, network, wallet } = await open()
    await client.mailboxes.create({ localPart: freshName() })
    const amount = await charged(wallet, async () => {
      const forgetful = await connect()
      expect(await forgetful.mailboxes.list()).toHaveLength(1)
    })
    expect(amount).toBe(0n)
    expect(network.to("/api/v1/auth/token").map(({ status }) => status)).toEqual([402, 200])
  })

  it("that was revoked is replaced, and the call repeated", async () => {
    const { client, connect } = await open()
    await client.mailboxes.create({ localPart: freshName() })
    const other = await connect()
    await other.call("revokeTokens")
    expect(await client.mailboxes.list()).toHaveLength(1)
  })

  it("of a wallet that has bought nothing is refused with the way to start", async () => {
    const { client } = await open()
    const error = await failureOf(client.call("listMailboxes"))
    expect(error.code).toBe("ONBOARDING_REQUIRED")
    if (error.code !== "ONBOARDING_REQUIRED") throw error
    expect(error.details.onboarding).toMatchObject({ serviceId: "email.mailbox.create", price: { amount: "0.25" } })
    expect(error.nextCalls).toEqual([{ method: "POST", path: "/api/v1/email/mailboxes" }])
    expect(await client.mailboxes.list()).toEqual([])
  })
})

describe("every operation", () => {
  it("can be called by its id, with one flat input", async () => {
    const { client } = await open()
    const { items: services } = await client.call("listServices")
    expect(services.some(({ serviceId }) => serviceId === "email.mailbox.create")).toBe(true)
    const { service } = await client.call("getService", { serviceId: "email.message.send" })
    expect(service.serviceId).toBe("email.message.send")
    const { authentication, mailbox } = await client.call("createMailbox", { localPart: freshName() })
    expect(authentication.accessToken).toMatch(/^at_v1_/)
    const { message, operationId } = await client.call("sendMessage", {
      mailboxId: mailbox.mailboxId,
      to: [`visitor@${host.sandbox.mail.outside.domain}`],
      subject: "Hello",
      text: "Hello!"
    })
    const stored = await client.call("queryMessages", { mailboxId: mailbox.mailboxId, direction: "outbound" })
    expect(stored).toMatchObject({ items: [{ messageId: message.messageId }] })
    const { payment } = await client.call("getPayment", { operationId })
    expect(payment).toMatchObject({ serviceId: "email.message.send", paymentState: "settled" })
  })

  it("fails with its code, status, request id and details", async () => {
    const { client } = await open()
    await client.mailboxes.create({ localPart: freshName() })
    const codes: Array<ErrorCode> = []
    const invalid = await failureOf(client.mailboxes.create({ localPart: "not valid" }))
    if (invalid.code === "INVALID_REQUEST") expect(invalid.details.issues[0]?.path).toBe("localPart")
    const missing = await failureOf(client.call("getCall", { callId: crypto.randomUUID() }))
    codes.push(invalid.code, missing.code)
    expect(codes).toEqual(["INVALID_REQUEST", "RESOURCE_NOT_FOUND"])
    expect([invalid.status, invalid.moneyMoved, missing.status]).toEqual([400, "no", 404])
    expect(invalid.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })
})
