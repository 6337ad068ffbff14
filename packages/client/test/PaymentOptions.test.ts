import { AgentOs, AgentOsError, type AgentOsOptions, type JournalEntry, type Retry } from "@agentos/client"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { account, type Answer, BASE_URL, challenge, failure, header, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const SERVICES = "/api/v1/services"
const TOKEN = "/api/v1/auth/token"
const lost = new TypeError("the connection was closed")
const bought = success({ mailbox: {}, operationId: "o" }, 201)
const CREATE = { localPart: "ada" }
const REQUEST = { method: "POST", path: MAILBOXES, body: JSON.stringify(CREATE) }

const codeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    await call
    return "done"
  } catch (error) {
    return error instanceof AgentOsError ? error.code : error
  }
}

const connect = async (script: Readonly<Record<string, ReadonlyArray<Answer>>>, options: AgentOsOptions = {}) => {
  const server = scripted(script)
  return { ...server, agent: await AgentOs.connect(BASE_URL, { ...server.options, ...options }) }
}

describe("a wallet that is a function", () => {
  /** Connects a client whose approval, wallet and signatures are recorded. */
  const recorded = async (isApproved: boolean, open = async () => account) => {
    const steps: Array<string> = []
    const wallet = async () => {
      steps.push("open")
      const { address, signMessage, signTypedData } = await open()
      return {
        address,
        signMessage,
        signTypedData: (typed: Parameters<typeof signTypedData>[0]) => {
          steps.push("sign")
          return signTypedData(typed)
        }
      }
    }
    const onPayment = () => {
      steps.push("approve")
      return isApproved
    }
    const server = scripted({})
    // Each call is quoted, then paid.
    const fetch: AgentOsOptions["fetch"] = async (_url, { headers }) =>
      new Headers(headers).has("payment-signature") ? bought.clone() : challenge()
    const agent = await AgentOs.connect(BASE_URL, { ...server.options, fetch, wallet, onPayment })
    return { agent, steps }
  }

  it("is opened once, after the approval and before the signature", async () => {
    const { agent, steps } = await recorded(true)
    await agent.call("createMailbox", CREATE)
    await agent.call("createMailbox", CREATE)
    expect(steps).toEqual(["approve", "open", "sign", "approve", "sign"])
  })

  it("is not opened for a payment that is not approved", async () => {
    const { agent, steps } = await recorded(false)
    expect(await codeOf(agent.call("createMailbox", CREATE))).toBe("PAYMENT_NOT_APPROVED")
    expect(steps).toEqual(["approve"])
  })

  it("is asked again after it could not be opened", async () => {
    let attempts = 0
    const { agent } = await recorded(true, () =>
      ++attempts === 1 ? Promise.reject(new Error("wrong password")) : Promise.resolve(account)
    )
    const expected = await agent.call("createMailbox", CREATE).catch((error: unknown) => error)
    expect(expected).toMatchObject({ code: "WALLET_FAILED", cause: { message: "wrong password" } })
    await agent.call("createMailbox", CREATE)
    expect(attempts).toBe(2)
  })

  it("must have an address", async () => {
    const { agent } = await recorded(true, () => Promise.resolve({ ...account, address: "0x1" }))
    expect(await codeOf(agent.call("createMailbox", CREATE))).toBe("INVALID_OPTION")
  })
})

describe("onRetry", () => {
  const busy = failure(503, { code: "SERVICE_UNAVAILABLE", retryable: true }, { "retry-after": "2" })
  const recordInto = (retries: Array<Retry>, answer?: boolean) => ({
    onRetry: (retry: Retry) => {
      retries.push(retry)
      return answer
    }
  })

  it("reports each wait of a free call, with its reason", async () => {
    const retries: Array<Retry> = []
    const { agent } = await connect({ [SERVICES]: [lost, busy, success({ items: [] })] }, recordInto(retries))
    await agent.call("listServices")
    expect(retries).toMatchObject([
      { error: { code: "UNREACHABLE", answer: null }, delayMillis: 250, paymentId: null },
      { error: { code: "SERVICE_UNAVAILABLE", answer: { status: 503 } }, delayMillis: 2_000, paymentId: null }
    ])
  })

  it.each([
    ["a lost answer", lost, "UNREACHABLE"],
    ["an answer", busy, "SERVICE_UNAVAILABLE"]
  ])("ends a free call after %s by false", async (_, answer, code) => {
    const { agent, clock, requests } = await connect({ [SERVICES]: [answer] }, recordInto([], false))
    expect(await codeOf(agent.call("listServices"))).toBe(code)
    expect([requests.length, clock.sleeps]).toEqual([1, []])
  })

  it("reports each wait of a payment, which false leaves open", async () => {
    const retries: Array<Retry> = []
    const pending = failure(409, { code: "PAYMENT_PENDING", retryable: true, paymentState: "pending" })
    const { agent } = await connect(
      { [MAILBOXES]: [challenge(), lost, pending] },
      {
        onRetry: (retry) => {
          retries.push(retry)
          return retries.length < 2
        }
      }
    )
    expect(await codeOf(agent.call("createMailbox", CREATE))).toBe("PAYMENT_OUTCOME_UNKNOWN")
    const [{ id: paymentId } = { id: "" }, ...others] = agent.payments.open()
    expect(others).toEqual([])
    expect(retries).toMatchObject([
      { error: { code: "UNREACHABLE" }, delayMillis: 1_000, paymentId },
      { error: { code: "PAYMENT_PENDING", moneyMoved: "unknown" }, delayMillis: 2_000, paymentId }
    ])
  })
})

describe("an error of an answer", () => {
  it("has the answer, and does not print it", async () => {
    const { agent } = await connect({ [SERVICES]: [failure(400, { code: "INVALID_REQUEST" })] })
    const error = await agent.call("listServices").catch((reason: unknown) => reason as AgentOsError)
    if (!(error instanceof AgentOsError)) throw new Error("listServices succeeded")
    expect([error.answer?.status, "answer" in error]).toEqual([400, true])
    expect(inspect(error)).toContain("INVALID_REQUEST")
    expect(inspect(error)).not.toContain("bytes")
  })
})

describe("signIn: false", () => {
  it("leaves a revoked token and a missing one to the caller", async () => {
    const revoked = failure(401, { code: "INVALID_TOKEN" })
    const script = { [`${MAILBOXES}/query`]: [revoked] }
    const tokens = { get: () => "at_v1_revoked", set: () => undefined }
    const { agent, requests } = await connect(script, { signIn: false, tokens })
    expect(await codeOf(agent.call("listMailboxes"))).toBe("INVALID_TOKEN")
    const without = await connect(script, { signIn: false })
    expect(await codeOf(without.agent.call("listMailboxes"))).toBe("INVALID_TOKEN")
    expect([...requests, ...without.requests].map(({ path }) => path)).not.toContain(TOKEN)
  })
})

describe("a request of the caller's own", () => {
  it("has the token, is sent once, and returns the answer whatever its status", async () => {
    const { agent, requests } = await connect(
      { "/new": [failure(503, { code: "SERVICE_UNAVAILABLE", retryable: true })] },
      { tokens: { get: () => "at_v1_x", set: () => undefined } }
    )
    const answer = await agent.request({ method: "POST", path: "/new", body: "{}", headers: { "X-Own": "1" } })
    expect(answer).toMatchObject({ status: 503, json: { error: { code: "SERVICE_UNAVAILABLE" } } })
    expect(requests).toHaveLength(1)
    const { body, headers } = requests[0]!
    expect([body, headers.get("x-own"), headers.get("authorization")]).toEqual(["{}", "1", "Bearer at_v1_x"])
  })

  it("that may be repeated is", async () => {
    const { agent } = await connect({ "/new": [lost, success({})] })
    expect(await agent.request({ method: "GET", path: "/new", isRepeatable: true })).toMatchObject({ status: 200 })
    const once = await connect({ "/new": [lost, success({})] })
    expect(await codeOf(once.agent.request({ method: "GET", path: "/new" }))).toBe("UNREACHABLE")
  })
})

describe("a quote", () => {
  it("returns the ways to pay, and signs nothing", async () => {
    const extra = { name: "USDT0", version: "1", expiresAt: 1_800_000_000 }
    const { agent, signatures } = await connect({ [MAILBOXES]: [challenge({ extra })] })
    expect(await agent.quote(REQUEST)).toEqual([
      {
        price: "0.25",
        network: "eip155:196",
        asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
        assetName: "USDT0",
        decimals: 6,
        allowanceBy: "none",
        payTo: `0x${"22".repeat(20)}`,
        maxTimeoutSeconds: 60,
        expiresAt: 1_800_000_000_000
      }
    ])
    expect(signatures).toEqual([])
  })

  it("throws what else prevents the call, and reports a call that was done without a payment", async () => {
    const conflict = failure(409, { code: "CONFLICT" })
    const { agent } = await connect({ [MAILBOXES]: [conflict, bought] })
    await expect(agent.quote(REQUEST)).rejects.toMatchObject({ code: "CONFLICT", answer: { status: 409 } })
    await expect(agent.quote(REQUEST)).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER", answer: null })
  })
})

describe("a journal with find", () => {
  /** Buys a mailbox with a journal that loads nothing, and returns what resumes it. */
  const bookOf = async (answers: ReadonlyArray<Answer>) => {
    const entries = new Map<string, JournalEntry>()
    const journal = {
      load: () => Promise.resolve([]),
      save: async (entry: JournalEntry) => void entries.set(entry.id, entry),
      find: async (id: string) => entries.get(id)
    }
    const { agent, clock, ...server } = await connect({ [MAILBOXES]: [challenge(), ...answers] }, { journal })
    const outcome = await codeOf(agent.call("createMailbox", CREATE))
    const [id = ""] = entries.keys()
    const paid = () =>
      server
        .to(MAILBOXES)
        .filter(({ headers }) => headers.has("payment-signature"))
        .map(({ body, headers }) => [body, headers.get("payment-signature"), headers.get("idempotency-key")].join(" "))
    return { agent, clock, entry: () => entries.get(id)!, id, outcome, paid, put: entries.set.bind(entries) }
  }

  it("shows the result of a finished payment again, with the same bytes", async () => {
    const { agent, entry, id, outcome, paid } = await bookOf([bought])
    const before = entry()
    expect([outcome, before.state]).toMatchObject(["done", { tag: "answered", paymentState: "settled" }])
    expect(await agent.payments.resume(id)).toMatchObject({ operationId: "o" })
    const [first, second, ...others] = paid()
    expect([second, others]).toEqual([first, []])
    expect(entry().state).toEqual(before.state)
  })

  it("keeps a known outcome when the answer says nothing new, and stores a refund", async () => {
    const limited = failure(429, { code: "RATE_LIMITED", paymentState: "none" })
    const refunded = failure(502, { code: "PROVIDER_REJECTED", paymentState: "refunded" })
    const { agent, entry, id } = await bookOf([bought, lost, limited, refunded])
    const before = entry()
    expect(await codeOf(agent.payments.resume(id))).toBe("UNREACHABLE")
    await expect(agent.payments.resume(id)).rejects.toMatchObject({ code: "RATE_LIMITED", moneyMoved: "yes" })
    expect(entry()).toEqual(before)
    await expect(agent.payments.resume(id)).rejects.toMatchObject({ moneyMoved: "refunded" })
    expect(entry().state).toMatchObject({ paymentState: "refunded", status: 502 })
  })

  it("does not send again what bought nothing", async () => {
    const refused = failure(402, { code: "PAYMENT_REQUIRED", paymentState: "none" })
    const { agent, clock, entry, id, paid, put } = await bookOf([refused])
    expect(await codeOf(agent.payments.resume(id))).toBe("PAYMENT_VOID")
    put(id, { ...entry(), state: { tag: "prepared" } })
    clock.time += 3_600_000
    expect(await codeOf(agent.payments.resume(id))).toBe("PAYMENT_VOID")
    expect([entry().state, paid().length]).toEqual([{ tag: "given-up" }, 1])
    expect(await codeOf(agent.payments.resume("another"))).toBe("INVALID_OPTION")
  })

  it.each([
    ["server", { baseUrl: "https://other.example" }],
    ["wallet", { payer: `0x${"33".repeat(20)}` }]
  ])("does not resume a payment of another %s", async (_, changes) => {
    const { agent, entry, id, paid, put } = await bookOf([bought])
    put(id, { ...entry(), ...changes })
    expect(await codeOf(agent.payments.resume(id))).toBe("INVALID_OPTION")
    expect(paid()).toHaveLength(1)
  })
})

describe("the error for an unknown token", () => {
  it.each([
    ["names the option that accepts it", {}, true],
    ["does not name it to a caller that gives it", { assets: [] }, false]
  ])("%s", async (_, options, isNamed) => {
    const { agent } = await connect({ [MAILBOXES]: [challenge({ asset: `0x${"33".repeat(20)}` })] }, options)
    const error = await agent.call("createMailbox", CREATE).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "PAYMENT_UNSUPPORTED", details: { reason: "refused" } })
    expect(String(error).includes("List it in assets to accept it.")).toBe(isNamed)
  })
})

describe("an answered payment", () => {
  it("is stored with its transaction and its signed receipt", async () => {
    const states: Array<JournalEntry["state"]> = []
    const response = {
      transaction: "0xab",
      extensions: { "offer-receipt": { info: { receipt: { signature: "a.b.c" } } } }
    }
    const settled = bought.clone()
    settled.headers.set("payment-response", header(response))
    const journal = { load: async () => [], save: async ({ state }: JournalEntry) => void states.push(state) }
    const { agent } = await connect({ [MAILBOXES]: [challenge(), settled] }, { journal })
    await agent.call("createMailbox", CREATE)
    expect(states.at(-1)).toMatchObject({ tag: "answered", transaction: "0xab", receipt: "a.b.c", status: 201 })
  })
})
