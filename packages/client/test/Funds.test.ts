import { AgentOs, AgentOsError, type AgentOsOptions, heldOf, networkNameOf, priceOf } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { account, type Answer, BASE_URL, failure, header, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const NETWORKS = "/api/v1/payments/networks"
const PERMIT2 = "000000000022d473030f116ddee9f6b43ac78ba3"
const MAX = 2n ** 256n - 1n

const X_LAYER = { network: "eip155:196", asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736", decimals: 6 }
const BNB = { network: "eip155:56", asset: "0x55d398326f99059fF775485246999027B3197955", decimals: 18 }
const STRANGE = { network: "eip155:8453", asset: `0x${"33".repeat(20)}`, decimals: 6 }

/** A challenge over 0.25 USDT on X Layer by EIP-3009, in a strange token, and on BNB Chain by Permit2. */
const quote = Response.json(
  { error: { code: "PAYMENT_REQUIRED", message: "Payment required.", requestId: "r", retryable: false } },
  {
    status: 402,
    headers: {
      "payment-required": header({
        x402Version: 2,
        resource: { url: BASE_URL },
        accepts: [X_LAYER, STRANGE, BNB].map(({ asset, decimals, network }) => ({
          scheme: "exact",
          network,
          asset,
          amount: `25${"0".repeat(decimals - 2)}`,
          payTo: `0x${"22".repeat(20)}`,
          maxTimeoutSeconds: 60,
          extra: { name: "USDT", version: "1", assetTransferMethod: network === BNB.network ? "permit2" : "eip3009" }
        }))
      })
    }
  }
)

const amount = (units: bigint | null) => (units === null ? null : { amount: "0.00", baseUnits: String(units) })

/** The server's answer about funds in base units; `null` where it could not read the chain. */
const funds = (xLayer: bigint | null, bnb: bigint | null, allowance: bigint | null = MAX) =>
  success({
    items: [
      { ...X_LAYER, name: "USD₮0", transferMethod: "eip3009", payTo: "0x", balance: amount(xLayer), allowance: null },
      {
        ...STRANGE,
        name: "USDC",
        transferMethod: "eip3009",
        payTo: "0x",
        balance: amount(10n ** 12n),
        allowance: null
      },
      {
        ...BNB,
        name: "Tether USD",
        transferMethod: "permit2",
        payTo: "0x",
        balance: amount(bnb),
        allowance: amount(allowance),
        ...(bnb === null ? { reason: "The chain eip155:56 could not be read." } : {})
      }
    ]
  })

const ENOUGH = 10n ** 18n
const bought = success({ mailbox: {}, operationId: "o" }, 201)

/** A server that sells to every payment, with these answers about funds. Records the networks that are paid on. */
const shop = async (answers: ReadonlyArray<Answer>, more: AgentOsOptions = {}, sale: Response = bought) => {
  const paid: Array<string> = []
  const server = scripted({ [NETWORKS]: answers })
  const agent = await AgentOs.connect(BASE_URL, {
    ...server.options,
    fetch: async (url, init) => {
      if (new URL(url).pathname !== MAILBOXES) return server.options.fetch(url, init)
      const signed = new Headers(init.headers).get("payment-signature")
      if (signed === null) return quote.clone()
      paid.push(JSON.parse(Buffer.from(signed, "base64").toString()).accepted.network)
      return sale.clone()
    },
    ...more
  })
  const buy = () => agent.call("createMailbox", { localPart: "ada" })
  const failed = () =>
    buy().then(
      () => "done",
      (error: unknown) => error as AgentOsError
    )
  return { agent, buy, failed, paid, server, asked: () => server.to(NETWORKS).length }
}

it("has no more than its balance, of which a part of a millionth is nothing", () => {
  const amount = 1_999_999_999_999n
  expect([heldOf(amount, 18), priceOf(amount, 18)]).toEqual([1n, 2n])
  expect([heldOf(5n, 6), priceOf(5n, 6), heldOf(5n, 2)]).toEqual([5n, 5n, 50_000n])
})

describe("a wallet with money on some networks", () => {
  it.each([
    ["the first one that has enough", funds(250_000n, ENOUGH), "eip155:196"],
    ["the one that has enough, and the allowance", funds(249_999n, ENOUGH), "eip155:56"],
    ["one whose chain the server could not read, rather than one without money", funds(0n, null), "eip155:56"],
    ["the first one if no chain could be read", funds(null, null), "eip155:196"],
    ["the first one if the server can't tell", failure(404, { code: "RESOURCE_NOT_FOUND" }), "eip155:196"],
    ["the first one if the answer is lost", new TypeError("closed"), "eip155:196"]
  ])("pays on %s", async (_, answer, network) => {
    const { buy, paid, server } = await shop([answer])
    await buy()
    expect(paid).toEqual([network])
    expect(server.requests[0]?.headers.get("authorization")).toBeNull()
  })

  it("pays on another network while a payment that takes the money on the first one is under way", async () => {
    const { buy, paid } = await shop([funds(300_000n, ENOUGH), funds(300_000n, ENOUGH)])
    await Promise.all([buy(), buy()])
    expect(paid.toSorted()).toEqual(["eip155:196", "eip155:56"])
  })

  it("pays on the only one with money also if a payment there may be under way", async () => {
    const { buy, paid } = await shop([funds(500_000n, 0n), funds(250_000n, 0n)])
    await buy()
    await buy()
    expect(paid).toEqual(["eip155:196", "eip155:196"])
  })

  it("never pays in a token that was not listed, unless it is", async () => {
    const { failed, paid } = await shop([funds(0n, 0n)])
    expect(await failed()).toMatchObject({ code: "PAYMENT_REQUIRED", moneyMoved: "no" })
    expect(paid).toEqual([])
    const { buy, paid: later } = await shop([funds(0n, 0n)], { assets: [STRANGE] })
    await buy()
    expect(later).toEqual([STRANGE.network])
  })

  it("reads its balance on each network if that is too little, and signs nothing", async () => {
    const { failed, server } = await shop([funds(100_000n, 5n)])
    expect(String(await failed())).toContain(
      `The price is 0.25 USDT, and the wallet ${account.address} has too little on each network: 0.10 on eip155:196, 0.00 on eip155:56. Nothing was signed.`
    )
    expect(server.signatures).toEqual([])
  })

  it.each([
    ["is told the transaction and its cost if only the allowance is missing", 0n, false],
    ["is warned of tokens that refuse to raise an allowance", 1n, true]
  ])("%s", async (_, allowance, isWarned) => {
    const { failed, server } = await shop([funds(0n, ENOUGH, allowance)])
    const error = await failed()
    expect(error).toMatchObject({
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      details: {
        transaction: {
          network: BNB.network,
          to: BNB.asset,
          data: `0x095ea7b3${"0".repeat(24)}${PERMIT2}${"f".repeat(64)}`
        }
      }
    })
    expect(String(error)).toMatch(/on eip155:56 only.*about 50,000 gas/)
    expect(String(error).includes("set it to 0 first")).toBe(isWarned)
    expect(server.signatures).toEqual([])
  })

  it("pays with what arrives while it is asked about", async () => {
    const { buy, paid, server } = await shop([funds(0n, ENOUGH, 0n), funds(0n, ENOUGH)])
    await buy()
    expect([paid, server.clock.sleeps]).toEqual([["eip155:56"], [1_100]])
  })

  it("is asked about once, until the rest of the money does not suffice", async () => {
    const { asked, buy, paid } = await shop([funds(600_000n, ENOUGH), funds(100_000n, ENOUGH)])
    for (let bought = 0; bought < 3; bought++) await buy()
    expect([paid, asked()]).toEqual([["eip155:196", "eip155:196", "eip155:56"], 2])
  })

  it("is asked about again after five minutes, and after a payment that failed", async () => {
    const { asked, buy, server } = await shop([funds(ENOUGH, ENOUGH)])
    await buy()
    server.clock.time += 5 * 60_000
    await buy()
    expect(asked()).toBe(2)
    const refused = failure(402, { code: "PAYMENT_REQUIRED", paymentState: "none" })
    const poor = await shop([funds(ENOUGH, ENOUGH)], {}, refused)
    await poor.failed()
    await poor.failed()
    expect(poor.asked()).toBe(2)
  })

  it("spends one limit on all networks, whatever the decimals of their tokens", async () => {
    const answers = [funds(250_000n, ENOUGH), funds(0n, ENOUGH)]
    const { agent, buy, failed, paid } = await shop(answers, { spend: { perDay: "0.60" } })
    await buy()
    await buy()
    expect([paid, agent.payments.spent().lastDay]).toEqual([["eip155:196", "eip155:56"], "0.50"])
    expect(await failed()).toMatchObject({ code: "SPEND_LIMIT_EXCEEDED", details: { spentLastDay: "0.50" } })
  })

  it("is not asked about for the network that its owner names", async () => {
    const { asked, buy, paid } = await shop([funds(ENOUGH, ENOUGH)], { network: BNB.network })
    await buy()
    expect([paid, asked()]).toEqual([[BNB.network], 0])
  })
})

describe("payments.funds", () => {
  it("returns the accepted networks, with the transaction that gives a missing allowance", async () => {
    const { agent } = await shop([funds(4_750_000n, null, null)])
    const [first, second, ...others] = await agent.payments.funds()
    expect(others).toEqual([])
    expect(first).toEqual({
      network: X_LAYER.network,
      asset: X_LAYER.asset,
      assetName: "USD₮0",
      symbol: "USDT",
      transferMethod: "eip3009",
      balance: "4.75",
      allowance: null,
      allowanceBy: "none",
      reason: null,
      approval: null
    })
    expect(second).toMatchObject({
      transferMethod: "permit2",
      allowanceBy: "transaction",
      balance: null,
      allowance: null,
      reason: "The chain eip155:56 could not be read.",
      approval: { network: BNB.network, to: BNB.asset }
    })
  })

  it("needs a wallet", async () => {
    const agent = await AgentOs.connect(BASE_URL, { fetch: async () => funds(0n, 0n) })
    await expect(agent.payments.funds()).rejects.toMatchObject({ code: "WALLET_REQUIRED" })
  })
})

it("a network is named for people by its name and its id", () => {
  expect(networkNameOf("eip155:56")).toBe("BNB Chain (eip155:56)")
  expect(networkNameOf("eip155:402403")).toBe("eip155:402403")
})
