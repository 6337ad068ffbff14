import { startPostgres } from "@agentos/postgres/testing"
import { readChainDescription, type SandboxDescription } from "@agentos/sandbox"
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from "@x402/core/http"
import { createPermit2ApprovalTx } from "@x402/evm"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createPublicClient, createWalletClient, type Hex, http, publicActions } from "viem"
import { afterAll, describe, expect, it } from "vitest"
import { CliCustomer, STEP_MAIN } from "../cli/CliRig.ts"
import { McpHost } from "../cli/McpHost.ts"
import { freshName } from "../support/Agent.ts"
import { Chain } from "../support/Chain.ts"
import { connectTo, MemoryJournal, RecordedNetwork } from "../support/ClientRig.ts"
import { BUY_US, PRICES } from "../support/PhoneCustomer.ts"
import { runServerCommand, serverEnvironment } from "../support/ServerCommand.ts"
import { fund, fundedAccount, STOCK_PAYERS } from "../support/StockPayers.ts"
import { usePhone } from "../support/usePhone.ts"

/** A server that accepts two tokens on one network. The second is no USDT, and brings the allowance for Permit2 with a payment. */
let postgres: Awaited<ReturnType<typeof startPostgres>>
afterAll(() => postgres?.stop())
const host = usePhone(async () => {
  postgres = await startPostgres({})
  return { networks: 3, environment: { DATABASE_URL: postgres.url } }
})

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n
const [[, byFetch], [, byAxios]] = STOCK_PAYERS

type SandboxChain = SandboxDescription["chains"][number]
const tether = (): SandboxChain => host.sandbox.chains[1]!
const usdc = (): SandboxChain => host.sandbox.chains[2]!
const balances = (chain: SandboxChain) => new Chain({ chain })
const funded = (chain: SandboxChain) => fundedAccount(host.sandbox, chain)
const node = (account: Awaited<ReturnType<typeof funded>>) =>
  createWalletClient({ account, transport: http(usdc().rpcUrl), cacheTime: 0 }).extend(publicActions)
/** The gas of a wallet, and the number of transactions that it has sent. */
const gasOf = ({ address }: { readonly address: Hex }) => {
  const client = createPublicClient({ transport: http(usdc().rpcUrl), cacheTime: 0 })
  return Promise.all([client.getBalance({ address }), client.getTransactionCount({ address })])
}

const challenged = async () => {
  const response = await fetch(host.sandbox.baseUrl + CREATE, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Accept-Payment": usdc().network },
    body: JSON.stringify({ localPart: freshName() })
  })
  expect(response.status).toBe(402)
  return decodePaymentRequiredHeader(response.headers.get("payment-required") ?? "")
}

describe("a token whose owners sign allowances", () => {
  it("is offered with the extension that takes them", async () => {
    const { accepts, extensions } = await challenged()
    expect(extensions).toMatchObject({ eip2612GasSponsoring: { info: { version: "1" } } })
    expect(accepts.map(({ asset, extra }) => [asset, extra["gasSponsoring"], extra["version"]])).toEqual([
      [tether().asset, undefined, undefined],
      [usdc().asset, "eip2612", "2"]
    ])
  })

  it.each(STOCK_PAYERS)("buys for %s from a wallet without gas and without an allowance", async (_, payerOf) => {
    const account = await funded(usdc())
    const pay = payerOf(host.sandbox, usdc(), account, true)
    for (const _purchase of [1, 2]) {
      const { amount, result } = await balances(usdc()).charged(account.address, () =>
        pay(CREATE, { localPart: freshName() })
      )
      expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
      const { network, payer, success } = decodePaymentResponseHeader(result.receipt ?? "")
      expect([network, payer, success]).toEqual([usdc().network, account.address.toLowerCase(), true])
    }
    expect(await gasOf(account)).toEqual([0n, 0])
  })

  it("is refused with advice, from a client that can't read the chain and so signs no allowance", async () => {
    const account = await funded(usdc())
    const { body, status } = await byFetch(host.sandbox, usdc(), account)(CREATE, { localPart: freshName() })
    expect([status, body.error?.code, body.error?.paymentState]).toEqual([412, "PERMIT2_ALLOWANCE_REQUIRED", "none"])
    expect(body.error?.message).toContain("eip2612GasSponsoring")
  })
})

describe("a wallet that has only such a token, no gas and no allowance", () => {
  it("buys by @agentos/client, also several at once, and once after a crash between signature and answer", async () => {
    const wallet = await funded(usdc())
    const [network, journal] = [new RecordedNetwork(), new MemoryJournal()]
    const connect = () => connectTo(host.sandbox, { wallet, fetch: network.fetch, journal })
    const client = await connect()
    const [, , third] = await client.payments.funds()
    expect([third?.network, third?.symbol, third?.allowanceBy]).toEqual([usdc().network, "USDC", "signature"])
    const { amount } = await balances(usdc()).charged(wallet.address, async () => {
      await Promise.all([1, 2].map(() => client.mailboxes.create({ localPart: freshName() })))
      network.fate = ({ headers }) => ("payment-signature" in headers ? "never answered" : "sent")
      const localPart = freshName()
      // The program that waits for this answer is gone.
      void client.mailboxes.create({ localPart })
      await expect.poll(() => network.paid[2]?.status).toBe(201)
      network.fate = () => "sent"
      await (await connect()).mailboxes.create({ localPart })
    })
    expect(amount).toBe(3n * MAILBOX_PRICE)
    expect(network.paid).toHaveLength(4)
    expect(new Set(network.paid.map(({ headers }) => headers["payment-signature"])).size).toBe(3)
    expect(await gasOf(wallet)).toEqual([0n, 0])
  })

  it("buys by agentctl, which resumes with the same bytes if it is killed, and by a tool that names the network", async () => {
    const home = mkdtempSync(join(tmpdir(), "agentctl-"))
    try {
      const customer = new CliCustomer(home, STEP_MAIN, host.sandbox, { rpcUrl: usdc().rpcUrl })
      await fund(host.sandbox, usdc(), customer)
      const run = async (...args: ReadonlyArray<string>) => {
        const { code, stderr, stdout } = await customer.runHere([...args, "--json"])
        expect({ code, stderr }).toMatchObject({ code: 0 })
        return { stderr, document: JSON.parse(stdout) as unknown }
      }
      const { amount } = await balances(usdc()).charged(customer.address, async () => {
        const allow = await run("wallet", "allow", usdc().network, "--token", "usdc", "--yes", "--max-cost", "0")
        expect(allow.document).toMatchObject({ asset: usdc().asset, transaction: null })
        expect(allow.stderr).toContain(`Payments in USDC on ${usdc().network} need no transaction`)
        const { document, stderr } = await run("wallet", "balance", "--rpc-url", usdc().rpcUrl)
        expect(stderr).toContain(`Payments in USD Coin on ${usdc().network} need no transaction`)
        expect(document).toMatchObject({ items: [{}, { asset: usdc().asset, allowanceBy: "signature" }] })

        const create = ["mailbox", "create", freshName(), "--yes", "--max-amount", "0.25"]
        const killed = await customer.run(create, { killAt: "sending" })
        expect(killed).toMatchObject({
          signal: "SIGKILL",
          stderr: expect.stringMatching(/Allows +Permit2 this amount, by a signature/)
        })
        const [id, ...others] = customer.payments()
        expect(others).toEqual([])
        const signature = () => JSON.parse(readFileSync(customer.journalPath(id!), "utf8")).paymentSignature as string
        const signed = signature()
        expect(atob(signed)).toContain("eip2612GasSponsoring")
        const resumed = await run("payments", "resume")
        expect(resumed.document).toMatchObject({ payment: { quote: { asset: usdc().asset }, open: false } })
        expect([signature(), customer.payments()]).toEqual([signed, [id]])

        const mcp = await McpHost.start(customer, ["--max-per-day", "1"], { killAt: "nowhere" })
        try {
          await mcp.call("create_mailbox", { localPart: freshName() })
          expect(await mcp.call("get_spending")).toMatchObject({
            spentLastDay: "0.50",
            payments: [{ network: usdc().network }, { network: usdc().network, amount: "0.25" }]
          })
        } finally {
          await mcp.close()
        }
      })
      expect(amount).toBe(2n * MAILBOX_PRICE)
      expect(await gasOf(customer)).toEqual([0n, 0])
    } finally {
      rmSync(home, { recursive: true })
    }
  })

  it("is told the transaction in a token without permits", async () => {
    const wallet = await funded(tether())
    const client = await connectTo(host.sandbox, { wallet })
    await expect(client.mailboxes.create({ localPart: freshName() })).rejects.toMatchObject({
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      moneyMoved: "no",
      details: { transaction: { network: tether().network, to: tether().asset } }
    })
  })
})

/** The variables of the server, with changes to the second token of the network. */
const environment = async (change: object = {}) => {
  const { environment: variables } = await serverEnvironment(host.running, postgres.url)
  const keys = await readChainDescription(join(host.running.directory, "chain"))
  const networks = host.sandbox.networks.map((network) => ({
    ...network,
    ...(network.asset === usdc().asset ? change : {}),
    payTo: usdc().payTo,
    refund: { privateKey: keys!.refundKey }
  }))
  return { ...variables, AGENTOS_NETWORKS: JSON.stringify(networks) }
}

describe("a second token on a network", () => {
  it("is named by its symbol, at par", async () => {
    const { accepts } = await challenged()
    expect(accepts.map(({ amount, extra }) => [amount, extra["name"], extra["symbol"]])).toEqual([
      [MAILBOX_PRICE.toString(), tether().assetName, undefined],
      [MAILBOX_PRICE.toString(), "USD Coin", "USDC"]
    ])
    const description = await (await fetch(`${host.sandbox.baseUrl}/api/v1`)).json()
    expect(description).toMatchObject({
      data: {
        payment: { accepts: [{}, { asset: tether().asset }, { asset: usdc().asset, extra: { symbol: "USDC" } }] }
      }
    })
    const document = await (await fetch(`${host.sandbox.baseUrl}/openapi.json`)).json()
    expect(document).toHaveProperty(
      ["paths", CREATE, "post", "x-payment-info", "protocols"],
      [{ x402: { version: 2, scheme: "exact", networks: [host.sandbox.chain.network, usdc().network] } }]
    )
  })

  it("is the token of a refund of its payment", async () => {
    const account = await funded(usdc())
    const pay = byFetch(host.sandbox, usdc(), account, true)
    const before = await Promise.all([account.address, usdc().payTo].map((one) => balances(usdc()).balanceOf(one)))
    const others = await Promise.all(host.sandbox.chains.slice(0, 2).map((one) => balances(one).balanceOf(one.payTo)))
    await host.carrier.fault({ operation: "buy", mode: "reject", times: 5 })
    const rejected = await pay(BUY_US, { agentName: "Ada", agentWebhookUrl: host.sandbox.agentWebhookUrl })
    expect([rejected.status, rejected.body.error?.code]).toEqual([502, "PROVIDER_REJECTED"])
    await host.carrier.until(
      () => balances(usdc()).balanceOf(account.address),
      (balance) => balance === before[0]
    )
    expect(await balances(usdc()).balanceOf(usdc().payTo)).toBe(before[1]! + PRICES[BUY_US])
    const after = await Promise.all(host.sandbox.chains.slice(0, 2).map((one) => balances(one).balanceOf(one.payTo)))
    expect(after).toEqual(others)
  })

  it("is checked beside the first, by its symbol too", async () => {
    const run = async (symbol: string) => {
      const { output } = await runServerCommand(["check-config", "--json"], await environment({ symbol }))
      const { checks } = JSON.parse(output) as {
        readonly checks: ReadonlyArray<{ name: string; status: string; detail: string }>
      }
      return checks.filter(({ name }) => name.includes(usdc().network))
    }
    const named = (what: string, { asset, network }: SandboxChain) => `${what} ${network} ${asset}`
    const parts = ["chain", "facilitator", "refund wallet"]
    expect((await run("USDC")).map(({ name, status }) => [name, status])).toEqual(
      [tether(), usdc()].flatMap((chain) => parts.map((part) => [named(part, chain), "ok"]))
    )
    expect((await run("USDT")).find(({ name }) => name === named("chain", usdc()))).toMatchObject({
      status: "failed",
      detail: expect.stringContaining('the token has the symbol "USDC", not "USDT"')
    })
  })

  it("has a ledger of its own, which equals the chain as that of the first token does", async () => {
    const account = await funded(tether())
    const wallet = node(account)
    const hash = await wallet.sendTransaction({ chain: null, ...createPermit2ApprovalTx(tether().asset) })
    await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20 })
    const bought = await byAxios(host.sandbox, tether(), account)(CREATE, { localPart: freshName() })
    expect(bought.status).toBe(201)

    const { output, status } = await runServerCommand(["ledger"], await environment())
    const report = JSON.parse(output) as { readonly chain: ReadonlyArray<{ readonly asset: string }> }
    expect([status, report]).toMatchObject([0, { ok: true }])
    const inOrder = [tether(), usdc()].map(({ asset }) => report.chain.find((one) => one.asset === asset))
    expect(inOrder).toMatchObject([
      { network: tether().network, symbol: "USDT", problems: [], unclaimed: [] },
      {
        network: usdc().network,
        symbol: "USDC",
        paidBack: { count: 1, amount: `${PRICES[BUY_US]}` },
        problems: [],
        unclaimed: []
      }
    ])
  })
})
