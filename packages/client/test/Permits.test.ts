import { AgentOs, AgentOsError, type AgentOsOptions, type WalletAccount } from "@agentos/client"
import { verifyTypedData } from "viem"
import { describe, expect, it } from "vitest"
import { account, BASE_URL, failure, header, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const NETWORKS = "/api/v1/payments/networks"
const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
const PRICE = 250_000n

/** A known USDT whose owners sign allowances, and one that they send. */
const OPTIMISM = { network: "eip155:10", asset: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58" } as const
const POLYGON = { network: "eip155:137", asset: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F" } as const
type Place = typeof OPTIMISM | typeof POLYGON | { readonly network: string; readonly asset: string }

const quoteOver = (
  places: ReadonlyArray<Place>,
  extensions: object = { eip2612GasSponsoring: { info: {} }, other: 1 }
) =>
  Response.json(
    { error: { code: "PAYMENT_REQUIRED", message: "Payment required.", requestId: "r", retryable: false } },
    {
      status: 402,
      headers: {
        "payment-required": header({
          x402Version: 2,
          accepts: places.map((place) => ({
            scheme: "exact",
            ...place,
            amount: `${PRICE}`,
            payTo: `0x${"22".repeat(20)}`,
            maxTimeoutSeconds: 60,
            extra: {
              name: "Tether USD",
              assetTransferMethod: "permit2",
              ...(place === POLYGON ? {} : { version: "1", gasSponsoring: "eip2612" })
            }
          })),
          extensions
        })
      }
    }
  )

interface Paid {
  readonly accepted: { readonly network: string }
  readonly payload: { readonly permit2Authorization: { readonly deadline: string } }
  readonly extensions: { readonly eip2612GasSponsoring?: { readonly info: Readonly<Record<string, string>> } }
}

const infoOf = ({ extensions }: Paid) => extensions.eip2612GasSponsoring?.info ?? {}

/** A wallet's account on a server: its money is everywhere, and each payment with its permit uses the nonce. */
class Shop {
  nonce: bigint | null = 4n
  allowance = 0n
  readonly paid: Array<Paid> = []
  readonly headers: Array<string> = []
  readonly server = scripted({})
  quote: Response
  /** How the next sale is answered. */
  sell: () => Response | Error = () => success({ mailbox: {}, operationId: "o" }, 201)

  constructor(places: ReadonlyArray<Place> = [OPTIMISM], extensions?: object) {
    this.quote = quoteOver(places, extensions)
  }

  connect(more: AgentOsOptions = {}) {
    return AgentOs.connect(BASE_URL, { ...this.server.options, fetch: (url, init) => this.answer(url, init), ...more })
  }

  private async answer(url: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(url)
    const amount = (units: bigint) => ({ amount: "0.00", baseUnits: `${units}` })
    if (pathname === NETWORKS) {
      const [balance, allowance] = [amount(10n ** 9n), amount(this.allowance)]
      const record = {
        name: "Tether USD",
        symbol: "USDT",
        transferMethod: "permit2",
        decimals: 6,
        payTo: "0x",
        balance
      }
      const permitNonce = this.nonce === null ? null : `${this.nonce}`
      return success({
        items: [
          { ...record, ...OPTIMISM, allowance, permitNonce },
          { ...record, ...POLYGON, allowance: amount(PRICE), permitNonce: null }
        ]
      })
    }
    if (pathname !== MAILBOXES) return failure(404, { code: "RESOURCE_NOT_FOUND" })
    const signed = new Headers(init.headers).get("payment-signature")
    if (signed === null) return this.quote.clone()
    this.headers.push(signed)
    const payment: Paid = JSON.parse(Buffer.from(signed, "base64").toString())
    this.paid.push(payment)
    const answer = this.sell()
    if (answer instanceof Error) throw answer
    if (this.nonce !== null && infoOf(payment)["signature"] !== undefined) this.nonce++
    return answer
  }

  /** The nonces of the permits that were sent. */
  nonces() {
    return this.paid.map((payment) => infoOf(payment)["nonce"])
  }
}

const buyFrom = (agent: AgentOs, localPart = "ada") => agent.call("createMailbox", { localPart })
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    (error: unknown) => error as AgentOsError
  )

/** A wallet whose signatures are those of a smart account. */
const smart: WalletAccount = {
  address: account.address,
  signTypedData: async () => `0x${"ab".repeat(100)}`,
  signMessage: async () => `0x${"ab".repeat(100)}`
}

describe("a payment in a token whose owners sign allowances", () => {
  it("brings one for its amount and its validity, to Permit2 alone", async () => {
    const shop = new Shop()
    await buyFrom(await shop.connect())
    const payment = shop.paid[0]!
    const { signature, ...info } = infoOf(payment)
    const { deadline } = payment.payload.permit2Authorization
    expect(info).toEqual({
      from: account.address,
      asset: OPTIMISM.asset.toLowerCase(),
      spender: PERMIT2,
      amount: `${PRICE}`,
      nonce: "4",
      deadline,
      version: "1"
    })
    expect(Number(deadline) * 1_000 - shop.server.clock.time).toBe(60_000)
    expect(payment.extensions).toMatchObject({ other: 1 })
    const isValid = await verifyTypedData({
      address: account.address,
      domain: { name: "Tether USD", version: "1", chainId: 10, verifyingContract: OPTIMISM.asset },
      types: {
        Permit: [
          { name: "owner", type: "address" },
          { name: "spender", type: "address" },
          { name: "value", type: "uint256" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" }
        ]
      },
      primaryType: "Permit",
      message: { owner: account.address, spender: PERMIT2, value: PRICE, nonce: 4n, deadline: BigInt(deadline) },
      signature: signature as `0x${string}`
    })
    expect(isValid).toBe(true)
  })

  it("brings none if Permit2 may move the amount already", async () => {
    const shop = new Shop()
    shop.allowance = PRICE
    await buyFrom(await shop.connect())
    expect(shop.nonces()).toEqual([undefined])
    expect(shop.server.signatures).toHaveLength(1)
  })

  it("takes the nonce after that of the payment before, also if both are made at once", async () => {
    const shop = new Shop([OPTIMISM, POLYGON])
    const agent = await shop.connect()
    await Promise.all(["ada", "bob", "eve"].map((name) => buyFrom(agent, name)))
    await buyFrom(agent, "dan")
    expect(shop.nonces()).toEqual(["4", "5", "6", "7"])
  })

  it("is made after one that failed", async () => {
    const shop = new Shop()
    shop.sell = () => failure(409, { code: "CONFLICT", paymentState: "none" })
    const agent = await shop.connect()
    const [first, second] = await Promise.all([failureOf(buyFrom(agent)), failureOf(buyFrom(agent, "bob"))])
    expect([first, second]).toMatchObject([{ code: "CONFLICT" }, { code: "CONFLICT" }])
    expect(shop.paid).toHaveLength(2)
  })

  it("is sent again with the same bytes, and signed once", async () => {
    const shop = new Shop()
    let answers = 0
    const { sell } = shop
    shop.sell = () => (answers++ === 0 ? new TypeError("closed") : sell())
    await buyFrom(await shop.connect())
    expect(new Set(shop.headers).size).toBe(1)
    expect([shop.headers.length, shop.server.signatures.length]).toEqual([2, 2])
  })

  it("is approved and limited before anything is signed", async () => {
    const shop = new Shop()
    const shown: Array<string> = []
    const asked = await shop.connect({ onPayment: ({ allowanceBy }) => void shown.push(allowanceBy) as never })
    expect(await failureOf(buyFrom(asked))).toMatchObject({ code: "PAYMENT_NOT_APPROVED" })
    const limited = await shop.connect({ spend: { perCall: "0.24" } })
    expect(await failureOf(buyFrom(limited))).toMatchObject({ code: "SPEND_LIMIT_EXCEEDED" })
    expect([shown, shop.server.signatures]).toEqual([["signature"], []])
  })

  it("is never made in a token that was not listed", async () => {
    const shop = new Shop([{ network: OPTIMISM.network, asset: `0x${"33".repeat(20)}` }])
    expect(await failureOf(buyFrom(await shop.connect()))).toMatchObject({ code: "PAYMENT_UNSUPPORTED" })
    expect(shop.server.signatures).toEqual([])
  })

  it.each([
    ["the server can't read the nonce", null, undefined],
    ["the challenge lacks the extension", 4n, {}]
  ])("is made where an allowance is there if %s", async (_, nonce, extensions) => {
    const shop = new Shop([OPTIMISM, POLYGON], extensions)
    shop.nonce = nonce
    await buyFrom(await shop.connect())
    expect(shop.paid.map(({ accepted }) => accepted.network)).toEqual([POLYGON.network])
  })
})

describe("a smart account, whose signatures no permit takes", () => {
  it("pays where it has the allowance", async () => {
    const shop = new Shop([OPTIMISM, POLYGON])
    const approved: Array<string> = []
    const agent = await shop.connect({
      wallet: smart,
      onPayment: ({ network }) => approved.push(network) > 0
    })
    await buyFrom(agent)
    await buyFrom(agent)
    expect(shop.paid.map(({ accepted }) => accepted.network)).toEqual([POLYGON.network, POLYGON.network])
    // Each network is approved before its signature.
    expect(approved).toEqual([OPTIMISM.network, POLYGON.network, POLYGON.network])
  })

  it("is told the transaction if it has no allowance, and sends nothing", async () => {
    const shop = new Shop()
    const agent = await shop.connect({ wallet: smart })
    const error = await failureOf(buyFrom(agent))
    expect(error).toMatchObject({
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      details: { transaction: { network: OPTIMISM.network, to: OPTIMISM.asset } }
    })
    expect(String(error)).toMatch(/A smart account can't do that by a signature\. Nothing was sent\.$/)
    expect([shop.paid, agent.payments.spent().lastDay]).toEqual([[], "0.00"])
  })
})

it("payments.funds shows where the allowance is a signature", async () => {
  const agent = await new Shop().connect()
  const funds = await agent.payments.funds()
  expect(funds.map(({ allowanceBy, network, symbol }) => [network, symbol, allowanceBy])).toEqual([
    [OPTIMISM.network, "USDT", "signature"],
    [POLYGON.network, "USDT", "transaction"]
  ])
})
