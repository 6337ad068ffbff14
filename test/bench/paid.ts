import { decodePaymentRequiredHeader } from "@x402/core/http"
import { sandboxClient, usdt0Network } from "@agentos/sandbox"
import { type Address, parseAbiItem } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import type { Cluster, PlannedNetwork } from "../support/Cluster.ts"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Bench, BenchRun } from "./Bench.ts"
import type { Buying } from "./compare/buyersMain.ts"
import { startChild } from "./compare/ChildModule.ts"
import { compare, COMPARISON_OPTIONS, median } from "./compare/Comparison.ts"
import type { Side, Work } from "./compare/Side.ts"
import { type HttpServer, startPeer } from "./compare/HttpSides.ts"
import { type ServerUnderTest, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { usageOf } from "./ProcessUsage.ts"
import type { ChainCounts, ChainOptions } from "./peer/chainMain.ts"
import type { ShopOptions } from "./peer/Shop.ts"

const PATH = "/api/v1/email/mailboxes"
const CALLERS = 16

const TOKEN = {
  chainId: 31_337,
  asset: "0x5555555555555555555555555555555555555555",
  name: "Bench Dollar",
  version: "1",
  decimals: 6
} as const satisfies ChainOptions

/** Starts a chain with its facilitator that answer at once, and on which every wallet has enough of the token. */
export const startInstantChain = async (bench: BenchRun) => {
  const { url } = await startPeer(bench, "chain", "chainMain.ts", TOKEN)
  const { asset, chainId, decimals, name, version } = TOKEN
  const network = ({ payTo, refund }: PlannedNetwork) => ({
    network: `eip155:${chainId}`,
    rpcUrl: `${url}/rpc`,
    facilitator: { url },
    asset,
    decimals,
    name,
    version,
    payTo,
    refund,
    confirmations: 0,
    maxTimeoutSeconds: 60
  })
  return { url, network }
}

/** A chain with its facilitator, for the server and its peer. */
interface Market {
  readonly title: string
  readonly goal: number
  readonly facilitatorUrl: string
  readonly domain: { readonly name: string; readonly version: string }
  /** Counts the payments so far. */
  readonly settled: () => Promise<number>
  /** Gives wallets the token. */
  readonly fund: (wallets: ReadonlyArray<Address>) => Promise<void>
}

/** Starts the callers, with a wallet each. Returns what makes them buy from a server for some milliseconds. */
export const startBuyers = async (bench: BenchRun, fund: Market["fund"]) => {
  const buyers = startChild<Buying, Work>(new URL("compare/buyersMain.ts", import.meta.url))
  bench.atEnd(buyers.stop)
  const keys = Array.from({ length: CALLERS }, generatePrivateKey)
  await fund(keys.map(privateKeyToAddress))
  const buy = (url: string, millis: number, network?: string) =>
    buyers.ask({ url: url + PATH, keys, millis, ...(network !== undefined && { network }) })
  return { buy, cpuMillis: buyers.cpuMillis }
}

/** Compares purchases of the server and of the peer, which use the same chain and facilitator. */
const comparePurchases = async (bench: BenchRun, server: ServerUnderTest, market: Market) => {
  const { domain, facilitatorUrl, fund, goal, settled, title } = market
  const first = await fetch(server.url + PATH, { method: "POST" })
  const terms = decodePaymentRequiredHeader(first.headers.get("payment-required") ?? "").accepts[0]!
  const { url } = server.rig.cluster.database
  await execute(url, "create database peer")
  const options: ShopOptions = {
    ...terms,
    extra: domain,
    path: PATH,
    description: "Creates a mailbox.",
    facilitatorUrl,
    databaseUrl: databaseUrl(url, "peer")
  }
  const hono = await startPeer(bench, "@x402/hono", "x402HonoMain.ts", options)
  const buyers = await startBuyers(bench, fund)
  let [buyersMillis, count] = [0, 0]
  const side = ({ name: called, pid, url: base }: HttpServer): Side => ({
    name: called,
    cpuMillis: () => usageOf(pid).cpuMillis,
    work: async (millis) => {
      const [before, used] = [await settled(), buyers.cpuMillis()]
      const work = await buyers.buy(base, millis)
      const payments = (await settled()) - before
      if (payments !== work.count) throw new Error(`${called}: ${payments} payments for ${work.count} purchases`)
      buyersMillis += buyers.cpuMillis() - used
      count += work.count
      return work
    }
  })
  await compare(bench, { title, unit: "purchases", goal, ours: side(server), peers: [side(hono)] })
  bench.say(
    `\nthe callers use ${(buyersMillis / count).toFixed(2)} ms of a processor for each purchase, most of it to sign`
  )
}

export const paid: Bench = {
  summary:
    "paid creation of a mailbox, challenge and signature included, on a chain and a facilitator that answer at once; " +
    "beside @x402/hono with one INSERT",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const { network, url } = await startInstantChain(bench)
    const server = await startServerUnderTest(bench, { network })
    const { name, version } = TOKEN
    await comparePurchases(bench, server, {
      title: `paid creation of a mailbox, ${CALLERS} callers; the peer stores a row`,
      goal: 0.6,
      facilitatorUrl: url,
      domain: { name, version },
      settled: async () => ((await (await fetch(`${url}/counts`)).json()) as ChainCounts).settled,
      fund: async () => undefined
    })
  }
}

/** More than all purchases of a wallet cost, in whole USDT. */
const FUNDS = 1_000_000

/** Returns what gives wallets the token of the sandbox's chain. */
export const fundOn =
  (chain: Cluster["chain"]): Market["fund"] =>
  (wallets) =>
    new Treasury(chain).fund(wallets, FUNDS)

export const paidOnChain: Bench = {
  summary: "the same on the sandbox's chain, with its facilitator",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const { chain, facilitatorUrl } = server.rig.cluster
    const client = sandboxClient(chain.rpcUrl)
    let [reached, payments] = [await client.getBlockNumber({ cacheTime: 0 }), 0]
    await comparePurchases(bench, server, {
      title: `paid creation of a mailbox on a local chain, ${CALLERS} callers; the peer stores a row`,
      goal: 1,
      facilitatorUrl,
      domain: { name: chain.assetName, version: usdt0Network.assetVersion },
      settled: async () => {
        const latest = await client.getBlockNumber({ cacheTime: 0 })
        if (latest === reached) return payments
        const transfers = await client.getLogs({
          address: chain.asset,
          event: TRANSFER,
          args: { to: chain.payTo },
          fromBlock: reached + 1n,
          toBlock: latest
        })
        reached = latest
        return (payments += transfers.length)
      },
      fund: fundOn(chain)
    })
  }
}

export const paidByMethod: Bench = {
  summary: "the same on two chains by one server: by Permit2, beside EIP-3009",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench, { paymentMethod: "permit2" })
    const { chains } = server.rig.cluster
    const buyers = await startBuyers(bench, async (wallets) => {
      await Promise.all(chains.map((chain) => fundOn(chain)(wallets)))
    })
    const [permit2, eip3009] = chains.map(({ network, transferMethod }): Side => ({
      name: transferMethod,
      cpuMillis: () => usageOf(server.pid).cpuMillis,
      work: (millis) => buyers.buy(server.url, millis, network)
    }))
    const title = `paid creation of a mailbox on local chains, ${CALLERS} callers, by each transfer method`
    const result = await compare(bench, { title, unit: "purchases", goal: 0.8, ours: permit2!, peers: [eip3009!] })
    const [ours, theirs] = (result?.sides ?? []).map(({ cpuMillis }) => median(cpuMillis))
    if (ours !== undefined && theirs !== undefined)
      bench.say(
        `\na purchase by Permit2 takes ${(ours / theirs).toFixed(2)} times the processor time (goal: at most 1.25)`
      )
  }
}

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)")
