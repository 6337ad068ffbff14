import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeEach, describe, it } from "vitest"
import { challengeReply, errorReply, useApiDouble } from "../support/ApiDouble.ts"
import { ASSET, KEY, offer, paid, PAYER } from "../support/PaidAnswers.ts"
import { useProgram } from "../support/Program.ts"

const program = useProgram()
const api = useApiDouble()
const BNB = { network: "eip155:56", asset: "0x55d398326f99059fF775485246999027B3197955" }
const CREATE = ["mailbox", "create", "ada", "--yes", "--max-amount", "0.25", "--json"]

const amount = (baseUnits: string) => ({ amount: "0.00", baseUnits })
const funds = (xLayer: string, bnb: string, allowance: string) => ({
  data: {
    items: [
      {
        network: "eip155:196",
        asset: ASSET,
        name: "USDT0",
        transferMethod: "eip3009",
        decimals: 6,
        payTo: PAYER,
        balance: amount(xLayer),
        allowance: null
      },
      {
        ...BNB,
        name: "Tether USD",
        transferMethod: "permit2",
        decimals: 18,
        payTo: PAYER,
        balance: amount(bnb),
        allowance: amount(allowance)
      }
    ]
  }
})
const ENOUGH = `1${"0".repeat(18)}`

/** Buys a mailbox from a server with two networks, in a profile of a sandbox. */
const buy = async (answer: ReturnType<typeof funds>) => {
  api.on("GET /api/v1/payments/networks", answer)
  const home = program.folder()
  mkdirSync(home, { recursive: true })
  const profile = { baseUrl: api.url(), sandboxFile: join(home, "sandbox.json") }
  writeFileSync(join(home, "config.json"), JSON.stringify({ profile: "dev", profiles: { dev: profile } }), {
    mode: 0o600
  })
  const { code, stderr, stdout } = await program.run(CREATE, { env: { AGENTOS_PRIVATE_KEY: KEY, AGENTOS_HOME: home } })
  return { code, document: JSON.parse(code === 0 ? stdout : stderr.slice(stderr.indexOf("{\n"))) as unknown, stderr }
}

beforeEach(() => {
  const terms = {
    ...offer(BNB),
    amount: `25${"0".repeat(16)}`,
    extra: { name: "Tether USD", assetTransferMethod: "permit2" }
  }
  api.on(
    "POST /api/v1/email/mailboxes",
    challengeReply([offer(), terms]),
    paid({ mailbox: { mailboxId: "m", address: "ada@agents.test" }, operationId: "o" })
  )
  api.on("POST /rpc", errorReply(404, "RESOURCE_NOT_FOUND"))
})

describe("a purchase from a server with two networks", () => {
  it("is paid where the wallet has the money, and says where", async () => {
    const { code, document, stderr } = await buy(funds("0", ENOUGH, ENOUGH))
    assert.strictEqual(code, 0, stderr)
    assert.deepInclude(document, { payment: { ...Object(document).payment, network: BNB.network, amount: "0.25" } })
    assert.match(stderr, /Network +eip155:56/)
    assert.include(stderr, "Paid 0.25 USDT on eip155:56.")
  })

  it("names the command for a missing allowance, and signs nothing", async () => {
    const { code, document } = await buy(funds("0", ENOUGH, "0"))
    assert.strictEqual(code, 7)
    const { error } = document as { readonly error: Readonly<Record<string, unknown>> }
    assert.deepInclude(error, {
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      paymentState: "none",
      next: ["agentctl wallet allow eip155:56"]
    })
    assert.match(
      String(error["message"]),
      /must let Permit2 move its tokens, once\..*about 50,000 gas\. Nothing was signed\.$/
    )
  })

  it("without money names the command that gives it in a sandbox", async () => {
    const { code, document } = await buy(funds("0", "0", "0"))
    assert.strictEqual(code, 7)
    const { error } = document as { readonly error: Readonly<Record<string, unknown>> }
    assert.deepInclude(error, { code: "PAYMENT_DECLINED", paymentState: "none" })
    assert.deepEqual(error["next"], ["agentctl sandbox fund", "agentctl wallet address", "agentctl wallet balance"])
  })
})

describe("wallet allow on a network with two tokens", () => {
  const [tether, usdc] = [`0x${"44".repeat(20)}`, `0x${"c5".repeat(20)}`]

  /** The second token is USDC, and has permits if `permitNonce` is given. */
  const allow = async (args: ReadonlyArray<string>, permitNonce: string | null) => {
    const record = {
      network: "eip155:402403",
      asset: tether,
      name: "Tether USD",
      symbol: "USDT",
      transferMethod: "permit2",
      decimals: 6,
      payTo: PAYER,
      balance: amount("1000000"),
      allowance: amount("1000000"),
      permitNonce: null
    }
    const second = { ...record, asset: usdc, name: "USD Coin", symbol: "USDC", allowance: amount("0"), permitNonce }
    api.on("GET /api/v1/payments/networks", { data: { items: [record, second] } })
    const env = { AGENTOS_PRIVATE_KEY: KEY, AGENTOS_HOME: program.folder(), AGENTOS_BASE_URL: api.url() }
    const { code, stderr, stdout } = await program.run(
      ["wallet", "allow", ...args, "--yes", "--max-cost", "0.001", "--json"],
      { env }
    )
    return { code, stderr, asset: code === 0 ? (JSON.parse(stdout) as { readonly asset: string }).asset : null }
  }

  it("asks for the token, and takes its symbol or its address", async () => {
    const both = await allow(["eip155:402403"], null)
    assert.strictEqual(both.code, 3)
    assert.include(both.stderr, `Name the token by --token: USDT (${tether}), USDC (${usdc}).`)
    for (const token of ["usdt", tether.toUpperCase().replace("0X", "0x")])
      assert.deepInclude(await allow(["--token", token], null), { code: 0, asset: tether })
    const unknown = await allow(["--token", "DAI"], null)
    assert.strictEqual(unknown.code, 5)
    assert.include(unknown.stderr, "it accepts no known DAI by Permit2 there")
  })

  it("means the one that needs a transaction, and sends none for the other one", async () => {
    assert.deepInclude(await allow([], "0"), { code: 0, asset: tether })
    const signed = await allow(["--token", "USDC"], "0")
    assert.deepInclude(signed, { code: 0, asset: usdc })
    assert.include(signed.stderr, "Payments in USDC on eip155:402403 need no transaction: each allows its own amount")
  })
})

describe("wallet allow", () => {
  const rpc = (result: unknown) => ({ status: 200, body: { jsonrpc: "2.0", id: 1, result } })
  const refused = (message: string) => ({ status: 200, body: { jsonrpc: "2.0", id: 1, error: { code: 3, message } } })
  /** The answers to eth_chainId, twice, and for balance, nonces, gas and its price. */
  const [chain, balance, price] = [rpc("0x38"), rpc("0xde0b6b3a7640000"), rpc("0x1")]
  const priced = [chain, chain, balance, rpc("0x7"), rpc("0x7"), rpc("0xc350"), price]

  const allow = async (answers: Parameters<typeof api.on>[1][]) => {
    api.on("GET /api/v1/payments/networks", funds("0", ENOUGH, "0"))
    api.on("POST /rpc", ...answers)
    api.seen.length = 0
    const env = { AGENTOS_PRIVATE_KEY: KEY, AGENTOS_HOME: program.folder(), AGENTOS_BASE_URL: api.url() }
    const done = await program.run(
      ["wallet", "allow", "--yes", "--max-cost", "0.001", "--json", "--rpc-url", `${api.url()}/rpc`],
      { env }
    )
    const sent = api.seen.filter(({ body }) => body.includes("eth_sendRawTransaction"))
    return { ...done, sent: sent.length }
  }

  it("sends the transaction once, and finds it although the answers to it are lost", async () => {
    const { code, sent, stderr, stdout } = await allow([...priced, "cut", "cut", rpc({ status: "0x1" })])
    assert.strictEqual(code, 0, stderr)
    const { transaction } = JSON.parse(stdout) as { readonly transaction: string }
    assert.match(transaction, /^0x[0-9a-f]{64}$/)
    assert.include(stderr, `Sent ${transaction}.`)
    assert.strictEqual(sent, 1)
  })

  it("signs nothing while an earlier transaction is pending, for example that of a killed process", async () => {
    const { code, sent, stderr } = await allow([chain, chain, balance, rpc("0x8"), rpc("0x7")])
    assert.deepEqual([code, sent], [9, 0])
    assert.include(stderr, "No block has the last transaction of the wallet yet")
  })

  it("names the transaction that sets the allowance to 0, if the token refuses to change it", async () => {
    const { code, sent, stderr } = await allow([
      chain,
      chain,
      balance,
      rpc("0x7"),
      rpc("0x7"),
      refused("execution reverted")
    ])
    assert.deepEqual([code, sent], [9, 0])
    assert.include(stderr, `to ${BNB.asset}, without value, with the data 0x095ea7b3${"0".repeat(24)}`)
    assert.include(stderr, `${"0".repeat(64)}. Nothing was signed.`)
  })
})
