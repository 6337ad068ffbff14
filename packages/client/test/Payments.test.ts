import { AgentOs, AgentOsError, type AgentOsOptions } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { account, type Answer, BASE_URL, challenge, failure, header, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const STATUS = "/api/v1/payments/status"
const TOKEN = "/api/v1/auth/token"
const lost = new TypeError("the connection was closed")
const bought = success({ mailbox: {}, authentication: { accessToken: "at_v1_x" }, operationId: "o" }, 201)
const statusOf = (advice: string, paymentState: string, retryAfterSeconds = 5) =>
  success({ payment: { advice, paymentState, retryAfterSeconds } })

/** Buys a mailbox from a server with this script. */
const buy = async (
  answers: ReadonlyArray<Answer>,
  more: Readonly<Record<string, ReadonlyArray<Answer>>> = {},
  options: AgentOsOptions = {}
) => {
  const server = scripted({ [MAILBOXES]: answers, ...more })
  const client = await AgentOs.connect(BASE_URL, { ...server.options, ...options })
  const outcome = await client.call("createMailbox", { localPart: "ada" }).then(
    () => "bought",
    (error: unknown) => (error instanceof AgentOsError ? error : Promise.reject(error))
  )
  const paid = server.to(MAILBOXES).filter(({ headers }) => headers.has("payment-signature"))
  const bytes = new Set(
    paid.map(({ headers }) => `${headers.get("payment-signature")} ${headers.get("idempotency-key")}`)
  )
  return { ...server, client, outcome, paid, bytes }
}

/** The challenge to sign in at a server. */
const signInMessage = (uri: string, domain: string) =>
  failure(
    402,
    { code: "PAYMENT_REQUIRED" },
    {
      "payment-required": header({
        extensions: {
          "sign-in-with-x": {
            info: {
              domain,
              uri,
              version: "1",
              nonce: "n0nce123",
              statement: "Sign in.",
              issuedAt: "2026-01-31T12:00:00.000Z",
              expirationTime: "2026-01-31T12:05:00.000Z"
            },
            supportedChains: [{ chainId: "eip155:196", type: "eip191" }]
          }
        }
      })
    }
  )

describe("terms", () => {
  it("of the known contract of USDT are signed, and no others", async () => {
    expect((await buy([challenge(), bought])).outcome).toBe("bought")
    const other = { asset: `0x${"33".repeat(20)}` }
    const { outcome, signatures } = await buy([challenge(other), bought])
    expect(outcome).toMatchObject({ code: "PAYMENT_UNSUPPORTED", moneyMoved: "no" })
    expect(signatures).toEqual([])
  })

  it.each(["constructor", "__proto__"])("on a network with the name %s are not signed", async (network) => {
    const { outcome, signatures } = await buy([challenge({ network }), bought])
    expect(outcome).toMatchObject({ code: "PAYMENT_UNSUPPORTED", moneyMoved: "no" })
    expect(signatures).toEqual([])
  })

  it("for another token are signed on no other spelling of a chain, also for this machine", async () => {
    const other = { network: "eip155:0196", asset: `0x${"33".repeat(20)}` }
    const server = scripted({ [MAILBOXES]: [challenge(other), bought] })
    const client = await AgentOs.connect("http://localhost:8402", server.options)
    await expect(client.call("createMailbox", { localPart: "ada" })).rejects.toMatchObject({
      code: "PAYMENT_UNSUPPORTED"
    })
    expect(server.signatures).toEqual([])
  })

  it("for another token are signed if the caller lists it", async () => {
    const asset = { network: "eip155:1", asset: `0x${"33".repeat(20)}` }
    expect((await buy([challenge(asset), bought])).outcome).toMatchObject({ code: "PAYMENT_UNSUPPORTED" })
    expect((await buy([challenge(asset), bought], {}, { assets: [asset] })).outcome).toBe("bought")
  })

  it("count by the decimals that the caller lists, and not by those of the server", async () => {
    const asset = { network: "eip155:1", asset: `0x${"33".repeat(20)}` }
    const price = async (amount: string, decimals?: number) => {
      const prices: Array<string> = []
      const terms = challenge({ ...asset, amount, extra: { name: "T", version: "1", decimals: 18 } })
      await buy(
        [terms, bought],
        {},
        {
          assets: [{ ...asset, ...(decimals !== undefined && { decimals }) }],
          spend: { perCall: "1.00" },
          onPayment: (quote) => prices.push(quote.price) > 0
        }
      )
      return prices
    }
    expect(await price("250000000000000000", 18)).toEqual(["0.25"])
    expect(await price("250000000000000001", 18)).toEqual(["0.250001"])
    expect(await price("25", 2)).toEqual(["0.25"])
    expect(await price("1000001000000000000", 18)).toEqual([])
    // 6 decimals: the price is above the limit.
    expect(await price("250000000000000000")).toEqual([])
  })

  it.each([
    ["of another scheme", { scheme: "upto" }],
    ["on another kind of chain", { network: "solana:mainnet" }],
    ["that stay valid for longer than an hour", { maxTimeoutSeconds: 3_601 }],
    ["that have expired", { extra: { expiresAt: Date.parse("2026-01-31T11:59:59.000Z") / 1_000 } }],
    ["with an amount that is no integer", { amount: "0.25" }]
  ])("%s are refused before anything is signed", async (_, changes) => {
    const { outcome, signatures } = await buy([challenge(changes), bought])
    expect([outcome, signatures]).toMatchObject([{ code: "PAYMENT_UNSUPPORTED", moneyMoved: "no" }, []])
  })

  it("on the network of the options are preferred", async () => {
    const { outcome } = await buy([challenge(), bought], {}, { network: "eip155:14" })
    expect(outcome).toMatchObject({ code: "PAYMENT_UNSUPPORTED" })
  })
})

describe("a server that lies about payments", () => {
  const answers = {
    "that they were refunded": failure(502, { code: "PROVIDER_REJECTED", paymentState: "refunded" }),
    "that they were refused": failure(402, { code: "PAYMENT_REQUIRED", paymentState: "none" })
  }

  it.each(Object.entries(answers))("can't say %s to get more than the limit", async (_, answer) => {
    const rounds = Array.from({ length: 4 }, () => [challenge(), answer]).flat()
    const server = scripted({ [MAILBOXES]: [...rounds, challenge()] })
    const client = await AgentOs.connect(BASE_URL, { ...server.options, spend: { perDay: "1.00" } })
    const codes: Array<unknown> = []
    for (let call = 0; call < 8; call++) {
      const error = await client.call("createMailbox", { localPart: `ada-${call}` }).catch((reason: unknown) => reason)
      codes.push(error instanceof AgentOsError ? error.code : error)
      // All signatures have expired by now.
      server.clock.time += 3_600_000
    }
    expect(server.signatures).toHaveLength(4)
    expect(codes.slice(4)).toEqual(Array(4).fill("SPEND_LIMIT_EXCEEDED"))
    expect(client.payments.spent()).toMatchObject({ lastDay: "1.00", left: "0.00" })
  })

  it("can't have a payment repeated without a pause, or for ever", async () => {
    const again = failure(
      502,
      { code: "PROVIDER_TEMPORARY_FAILURE", retryable: true, paymentState: "settled" },
      { "retry-after": "0.001" }
    )
    const { clock, paid } = await buy([challenge(), again])
    expect(clock.sleeps.slice(0, 4)).toEqual([250, 500, 1_000, 2_000])
    expect(paid.length).toBeLessThan(20)
  })

  it.each(["soon", null, { seconds: 1 }, -1])(
    "can't have a payment repeated without end by a delay of %j",
    async (delay) => {
      const pending = failure(409, { code: "PAYMENT_PENDING", retryable: true, paymentState: "pending" })
      const wait = success({ payment: { advice: "wait", paymentState: "pending", retryAfterSeconds: delay } })
      const server = scripted({ [MAILBOXES]: [challenge(), pending], [STATUS]: [wait] })
      const { clock } = server
      const sleep = (millis: number) =>
        clock.sleeps.length < 500 && millis > 0 ? clock.sleep(millis) : Promise.reject(new Error("no pause"))
      const client = await AgentOs.connect(BASE_URL, { ...server.options, clock: { now: clock.now, sleep } })
      await expect(client.call("createMailbox", { localPart: "ada" })).rejects.toMatchObject({
        code: "PAYMENT_OUTCOME_UNKNOWN"
      })
      expect(server.to(STATUS).length).toBeLessThan(100)
    }
  )

  it("can't refuse the token of a call that is then aborted to get more than the limit", async () => {
    const stop = new AbortController()
    const revoked = failure(401, { code: "INVALID_TOKEN", paymentState: "none" })
    const server = scripted({
      [MAILBOXES]: [challenge(), revoked],
      [TOKEN]: [
        signInMessage(`${BASE_URL}${TOKEN}`, "agentos.example"),
        success({ authentication: { accessToken: "b" } })
      ]
    })
    // The server answers the sign-in when the call has been aborted.
    const tokens = { get: () => "a", set: () => stop.abort(new Error("timeout")) }
    const client = await AgentOs.connect(BASE_URL, { ...server.options, tokens })
    const call = client.call("createMailbox", { localPart: "ada" }, { signal: stop.signal })
    await expect(call).rejects.toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN", moneyMoved: "unknown" })
    expect([client.payments.spent().lastDay, client.payments.open().length]).toEqual(["0.25", 1])
  })
})

describe("a payment", () => {
  it("that is answered by another challenge ends the call: nothing is signed twice", async () => {
    const { outcome, signatures } = await buy([challenge()])
    expect(outcome).toMatchObject({ code: "PAYMENT_REQUIRED", status: 402, moneyMoved: "no" })
    expect(signatures).toHaveLength(1)
  })

  it("that is pending is awaited by its status, then repeated with the same bytes", async () => {
    const pending = failure(
      409,
      { code: "PAYMENT_PENDING", retryable: true, paymentState: "pending" },
      { "retry-after": "3" }
    )
    const waiting = [statusOf("wait", "pending", 7), statusOf("done", "settled")]
    const { bytes, clock, outcome, paid, signatures } = await buy([challenge(), pending, bought], { [STATUS]: waiting })
    expect([outcome, paid.length, bytes.size, signatures.length]).toEqual(["bought", 2, 1, 1])
    expect(clock.sleeps).toEqual([3_000, 7_000])
  })

  it("that stays pending is open after 90 s, and resumed by the same call", async () => {
    const pending = failure(409, { code: "PAYMENT_PENDING", retryable: true, paymentState: "pending" })
    const { client, clock, outcome } = await buy([challenge(), pending], {
      [STATUS]: [statusOf("wait", "pending", 10)]
    })
    expect(outcome).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN", moneyMoved: "unknown", isRetryable: true })
    expect(clock.sleeps.reduce((sum, millis) => sum + millis, 0)).toBeLessThan(90_000)
    expect(client.payments.open()).toMatchObject([{ operationId: "createMailbox", amount: "0.25" }])
    expect(client.payments.spent().lastDay).toBe("0.25")
  })

  it("that is refused is awaited until the chain has decided, and ends without a charge", async () => {
    const refused = failure(
      409,
      { code: "PAYMENT_PENDING", retryable: true, paymentState: "unknown" },
      { "retry-after": "31" }
    )
    const ended = failure(402, { code: "PAYMENT_REQUIRED", paymentState: "none" })
    const { bytes, client, clock, outcome, signatures } = await buy([challenge(), refused, ended], {
      [STATUS]: [statusOf("wait", "unknown", 5), statusOf("pay", "none")]
    })
    expect(outcome).toMatchObject({ code: "PAYMENT_REQUIRED", moneyMoved: "no" })
    expect([bytes.size, signatures.length, client.payments.open()]).toEqual([1, 1, []])
    expect(clock.sleeps).toEqual([31_000, 5_000])
  })

  it("that is aborted while it is pending is not asked about any more", async () => {
    const stop = new AbortController()
    const pending = failure(409, { code: "PAYMENT_PENDING", retryable: true, paymentState: "pending" })
    const server = scripted({ [MAILBOXES]: [challenge(), pending], [STATUS]: [statusOf("wait", "pending", 10)] })
    const { clock } = server
    const client = await AgentOs.connect(BASE_URL, {
      ...server.options,
      clock: {
        now: clock.now,
        sleep: async (millis) => {
          if (clock.sleeps.length === 1) stop.abort()
          await clock.sleep(millis)
        }
      }
    })
    const call = client.call("createMailbox", { localPart: "ada" }, { signal: stop.signal })
    await expect(call).rejects.toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN", moneyMoved: "unknown" })
    expect(server.to(STATUS)).toHaveLength(1)
  })

  it.each([
    [
      "a provider",
      failure(502, { code: "PROVIDER_TEMPORARY_FAILURE", retryable: true, paymentState: "settled" }),
      "yes"
    ],
    ["another worker", failure(409, { code: "PAYMENT_PENDING", retryable: true, paymentState: "settled" }), "unknown"]
  ])(
    "that is charged and waits for %s stays open, and the same call fetches its result",
    async (_, waiting, moneyMoved) => {
      const { client, outcome, signatures } = await buy([challenge(), ...Array(20).fill(waiting), bought])
      expect(outcome).toMatchObject({ moneyMoved })
      expect(client.payments.open()).toHaveLength(1)
      expect(await client.call("createMailbox", { localPart: "ada" })).toMatchObject({ operationId: "o" })
      expect([signatures.length, client.payments.open()]).toEqual([1, []])
    }
  )

  it("whose success has no data stays open", async () => {
    const { client, outcome } = await buy([challenge(), Response.json({ data: null }, { status: 201 })])
    expect(outcome).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN" })
    expect(client.payments.open()).toHaveLength(1)
  })

  it("whose answer was lost is not believed to be free by a failed sign-in", async () => {
    const revoked = failure(401, { code: "INVALID_TOKEN", paymentState: "none" })
    const tokens = { get: () => "at_v1_revoked", set: () => undefined }
    const { outcome } = await buy([challenge(), lost, revoked], { [TOKEN]: [lost] }, { tokens })
    expect(outcome).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN" })
  })

  it("whose answer was lost is not believed to be free by an error before the lookup", async () => {
    const limited = failure(401, { code: "AUTH_REQUIRED", paymentState: "none" })
    const answers = [challenge(), lost, limited]
    const charged = await buy(answers, { [STATUS]: [statusOf("done", "settled")] })
    expect(charged.outcome).toMatchObject({ code: "AUTH_REQUIRED", moneyMoved: "yes" })
    const unknown = await buy(answers, { [STATUS]: [statusOf("wait", "unknown")] })
    expect(unknown.outcome).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN" })
    const free = await buy(answers, { [STATUS]: [statusOf("pay", "none")] })
    expect(free.outcome).toMatchObject({ code: "AUTH_REQUIRED", moneyMoved: "no" })
  })

  it("that is being refunded is reported so, and not repeated", async () => {
    const rejected = failure(502, { code: "PROVIDER_REJECTED", paymentState: "refund_due" })
    const { outcome, paid } = await buy([challenge(), rejected])
    expect(outcome).toMatchObject({ code: "PROVIDER_REJECTED", moneyMoved: "refund_due" })
    expect(paid).toHaveLength(1)
  })

  it("that a proxy answers stays open", async () => {
    const { outcome } = await buy([challenge(), new Response("<html>", { status: 403 })])
    expect(outcome).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN" })
  })

  it("counts toward the day for 24 hours", async () => {
    const { client, clock } = await buy([challenge(), bought])
    expect(client.payments.spent().lastDay).toBe("0.25")
    clock.time += 24 * 60 * 60 * 1_000
    expect(client.payments.spent().lastDay).toBe("0.00")
  })

  it("that is aborted while the wallet asks is not sent", async () => {
    const stop = new AbortController()
    const server = scripted({ [MAILBOXES]: [challenge(), bought] })
    const { wallet } = server.options
    const client = await AgentOs.connect(BASE_URL, {
      ...server.options,
      wallet: {
        ...wallet,
        signTypedData: (typed) => {
          stop.abort(new Error("changed my mind"))
          return wallet.signTypedData(typed)
        }
      }
    })
    const call = client.call("createMailbox", { localPart: "ada" }, { signal: stop.signal })
    await expect(call).rejects.toThrow("changed my mind")
    expect([server.requests.length, client.payments.spent().lastDay]).toEqual([1, "0.00"])
  })
})

describe("signing in", () => {
  it("signs only a message for this server", async () => {
    const server = scripted({ [TOKEN]: [signInMessage("https://other.example/api/v1/auth/token", "other.example")] })
    const client = await AgentOs.connect(BASE_URL, server.options)
    await expect(client.call("recoverToken")).rejects.toMatchObject({ code: "UNEXPECTED_ANSWER" })
    expect(server.signatures).toEqual([])
  })

  it("waits for a rate limit as the server asks", async () => {
    const limited = failure(429, { code: "RATE_LIMITED", retryable: true }, { "retry-after": "2" })
    const server = scripted({
      [TOKEN]: [
        limited,
        signInMessage(`${BASE_URL}${TOKEN}`, "agentos.example"),
        success({ authentication: { accessToken: "at_v1_new" } })
      ],
      [`${MAILBOXES}/query`]: [success({ items: [] })]
    })
    const client = await AgentOs.connect(BASE_URL, server.options)
    expect(await client.mailboxes.list()).toEqual([])
    expect(server.clock.sleeps).toEqual([2_000])
  })

  it("is done once for calls at the same time", async () => {
    const server = scripted({
      [TOKEN]: [
        signInMessage(`${BASE_URL}${TOKEN}`, "agentos.example"),
        success({ authentication: { accessToken: "at_v1_new" } })
      ],
      [`${MAILBOXES}/query`]: [success({ items: [] })]
    })
    const client = await AgentOs.connect(BASE_URL, server.options)
    await Promise.all([client.mailboxes.list(), client.mailboxes.list()])
    expect(server.signatures).toHaveLength(1)
    expect(server.to(`${MAILBOXES}/query`).map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer at_v1_new",
      "Bearer at_v1_new"
    ])
  })
})

describe("options", () => {
  const spend = { perCall: "1.00" }
  it.each([
    ["a URL without TLS", "http://agentos.example", {}],
    ["a URL with a query", "https://agentos.example/?token=x", {}],
    ["a wallet without a limit", BASE_URL, { wallet: account }],
    ["a limit that is no amount", BASE_URL, { wallet: account, spend: { perCall: "one" } }],
    [
      "an address that is too short",
      BASE_URL,
      { wallet: { ...account, address: account.address.slice(0, -1) as `0x${string}` }, spend }
    ]
  ])("refuse %s", async (_, baseUrl, options) => {
    await expect(AgentOs.connect(baseUrl, options)).rejects.toMatchObject({ code: "INVALID_OPTION" })
  })

  it("without a wallet allow free calls, and refuse the others", async () => {
    const { options } = scripted({ [MAILBOXES]: [challenge()], "/api/v1/services": [success({ items: [] })] })
    const client = await AgentOs.connect(BASE_URL, { fetch: options.fetch })
    expect(await client.call("listServices")).toEqual({ items: [] })
    await expect(client.mailboxes.create({ localPart: "ada" })).rejects.toMatchObject({ code: "WALLET_REQUIRED" })
  })
})
