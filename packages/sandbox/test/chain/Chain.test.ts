import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Address, bytesToHex, type Hex, createWalletClient, http, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { type ChainDescription, readChainDescription } from "../../src/chain/ChainDescription.ts"
import { openChainStore } from "../../src/chain/ChainStore.ts"
import { sandboxAccountFactory } from "../../src/chain/SandboxAccount.ts"
import {
  multicall3Address,
  sandboxChain,
  sandboxClient,
  sandboxUsdtAbi,
  tetherNetwork,
  usdt
} from "../../src/chain/SandboxNetwork.ts"
import { startStandIn, untilGone } from "../shared/ChildProcesses.ts"
import { killChain, makeDataDir, startTestChain, untilJournaled } from "./TestChain.ts"

const balanceOf = (chain: ChainDescription, account: Address) =>
  sandboxClient(chain.rpcUrl).readContract({
    address: chain.asset,
    abi: sandboxUsdtAbi,
    functionName: "balanceOf",
    args: [account]
  })

const blockOf = (chain: ChainDescription, blockTag: "latest" | "finalized") =>
  sandboxClient(chain.rpcUrl).getBlock({ blockTag })

/** Sends a mint transaction and returns its receipt. */
const mint = async (chain: ChainDescription, to: Address, value: bigint) => {
  const deployer = createWalletClient({
    account: privateKeyToAccount(chain.deployerKey),
    chain: sandboxChain(chain.rpcUrl),
    transport: http(chain.rpcUrl)
  })
  const hash = await deployer.writeContract({
    address: chain.asset,
    abi: sandboxUsdtAbi,
    functionName: "mint",
    args: [to, value]
  })
  return sandboxClient(chain.rpcUrl).waitForTransactionReceipt({ hash })
}

/** Returns a function that sends a transaction of a new account, and does not wait until it is mined. */
const newSender = async ({ chainId, rpcUrl }: ChainDescription) => {
  const client = sandboxClient(rpcUrl)
  const account = privateKeyToAccount(generatePrivateKey())
  const { address: to } = account
  await client.setBalance({ address: to, value: parseEther("100") })
  return async (nonce: number, type: "eip1559" | "legacy"): Promise<Hex> => {
    const price = 10_000_000_000n
    const fees = type === "legacy" ? { type, gasPrice: price } : { type, maxFeePerGas: price, maxPriorityFeePerGas: 0n }
    const serializedTransaction = await account.signTransaction({ chainId, to, nonce, gas: 21_000n, ...fees })
    return client.sendRawTransaction({ serializedTransaction })
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1_000)

describe("startChain on a new directory", () => {
  let dataDir: string
  let chain: Chain
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "agentos-chain-"))
    chain = await startChain({ dataDir })
  })
  afterAll(async () => {
    await chain.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it("deploys a token with funded holders, and describes it", async () => {
    const client = sandboxClient(chain.rpcUrl)
    expect(chain).toMatchObject({ network: "eip155:402402", chainId: 402402, assetName: "USD₮0", decimals: 6 })
    expect(await client.getChainId()).toBe(402402)
    expect(chain.wallets.length).toBeGreaterThanOrEqual(3)
    for (const wallet of chain.wallets) {
      expect(wallet.address).toBe(privateKeyToAddress(wallet.privateKey))
      expect(await balanceOf(chain, wallet.address)).toBe(usdt(10_000))
    }
    expect(await balanceOf(chain, chain.payTo)).toBe(0n)
    expect(await balanceOf(chain, privateKeyToAddress(chain.refundKey))).toBe(usdt(1_000))
    expect(await client.getBalance({ address: privateKeyToAddress(chain.facilitatorKey) })).toBeGreaterThan(0n)
  })

  it("does not fund anvil's public accounts", async () => {
    const client = sandboxClient(chain.rpcUrl)
    expect(await client.request({ method: "eth_accounts" })).toEqual([])
    expect(await client.getBalance({ address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" })).toBe(0n)
  })

  it("stores keys readable by their owner only, different for each directory", async () => {
    expect((await stat(join(dataDir, "keys.json"))).mode & 0o777).toBe(0o600)
    const deployment = await readFile(join(dataDir, "deployment.json"), "utf8")
    expect(deployment).toContain(chain.asset)
    expect(deployment).not.toContain(chain.deployerKey)
    expect((await startTestChain(await makeDataDir())).facilitatorKey).not.toBe(chain.facilitatorKey)
  })

  it("serves batched calls through Multicall3 at its usual address", async () => {
    const token = { address: chain.asset, abi: sandboxUsdtAbi } as const
    const answers = await sandboxClient(chain.rpcUrl).multicall({
      multicallAddress: multicall3Address,
      allowFailure: false,
      contracts: [
        { ...token, functionName: "name" },
        { ...token, functionName: "balanceOf", args: [chain.wallets[0]?.address ?? chain.payTo] }
      ]
    })
    expect(answers).toEqual(["USD₮0", usdt(10_000)])
  })

  it("mines a transaction that anvil left waiting for one that is mined already", async () => {
    const client = sandboxClient(chain.rpcUrl)
    const send = await newSender(chain)
    const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash, timeout: 10_000 })
    const [first, second, last] = [await send(1, "eip1559"), await send(2, "legacy"), await send(4, "eip1559")]
    const { from } = await client.getTransaction({ hash: first })
    // As if the transaction before the first had been mined while the first arrived.
    await client.setNonce({ address: from, nonce: 1 })
    expect([await mined(first), await mined(second)]).toMatchObject([{ status: "success" }, { status: "success" }])
    expect(await client.getTransaction({ hash: last })).toMatchObject({ blockNumber: null })
    await mined(await send(3, "eip1559"))
    expect(await mined(last)).toMatchObject({ status: "success" })
  })

  it("installs the contracts that a chain of an older version lacks", async () => {
    const directory = await makeDataDir()
    const older = await startTestChain(directory)
    await sandboxClient(older.rpcUrl).setCode({ address: sandboxAccountFactory, bytecode: "0x" })
    await older.save()
    await older.stop()
    const { rpcUrl } = await startTestChain(directory)
    expect(await sandboxClient(rpcUrl).getCode({ address: sandboxAccountFactory })).toBeDefined()
  })

  it("describes the deployment to other processes", async () => {
    expect(await readChainDescription(await makeDataDir())).toBeUndefined()
    const { pid: _pid, port: _port, exited: _exited, save: _save, stop: _stop, ...described } = chain
    expect(await readChainDescription(dataDir)).toEqual(described)
  })

  it("mines a transaction at once", async () => {
    const startedAt = performance.now()
    for (let i = 0; i < 30; i++) await mint(chain, chain.payTo, 1n)
    // Takes 0.7 s. If each waited for the block of the second, it would take 30 s.
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  // The last two tests wait, so they run concurrently.
  it.concurrent("advances time and finality without transactions", async () => {
    const before = await blockOf(chain, "finalized")
    const begun = nowSeconds()
    await vi.waitFor(
      async () => {
        const finalized = await blockOf(chain, "finalized")
        expect(finalized.timestamp).toBeGreaterThan(before.timestamp)
        const latest = Number((await blockOf(chain, "latest")).timestamp)
        expect(latest).toBeGreaterThan(begun)
        expect(latest).toBeLessThanOrEqual(nowSeconds() + 1)
      },
      { timeout: 60_000, interval: 200 }
    )
  })

  it.concurrent("rejects a port that is in use", async ({ onTestFinished }) => {
    const otherDir = await mkdtemp(join(tmpdir(), "agentos-chain-"))
    onTestFinished(() => rm(otherDir, { recursive: true, force: true }))
    await expect(startChain({ dataDir: otherDir, port: chain.port })).rejects.toThrow("in use")
  })
})

describe("startChain on a directory that holds a chain", () => {
  const identity = ({ asset, payTo, wallets, deployerKey, facilitatorKey, refundKey }: Chain) => ({
    asset,
    payTo,
    wallets,
    deployerKey,
    facilitatorKey,
    refundKey
  })

  it("continues it after a stop", async () => {
    const dataDir = await makeDataDir()
    const first = await startTestChain(dataDir)
    await mint(first, first.payTo, 7n)
    await first.stop()
    const second = await startTestChain(dataDir, first.port)
    expect(identity(second)).toEqual(identity(first))
    expect(second.port).toBe(first.port)
    expect(await balanceOf(second, first.payTo)).toBe(7n)
  })

  it("continues it after SIGKILL: balances, nonces, receipts, logs, heights and time", async () => {
    const dataDir = await makeDataDir()
    const first = await startTestChain(dataDir)
    const deployer = privateKeyToAddress(first.deployerKey)
    const receipts = []
    for (let i = 0; i < 10; i++) receipts.push(await mint(first, first.payTo, 1n))
    await untilJournaled(dataDir, receipts.at(-1))
    const nonce = await sandboxClient(first.rpcUrl).getTransactionCount({ address: deployer })
    const head = await blockOf(first, "latest")
    await killChain(first)

    const restarted = nowSeconds()
    const second = await startTestChain(dataDir, first.port)
    const client = sandboxClient(second.rpcUrl)
    expect(identity(second)).toEqual(identity(first))
    expect(await balanceOf(second, first.payTo)).toBe(10n)
    expect(await client.getTransactionCount({ address: deployer })).toBe(nonce)
    for (const { transactionHash, blockNumber } of receipts) {
      expect(await client.getTransactionReceipt({ hash: transactionHash })).toMatchObject({ blockNumber })
    }
    const logs = await client.getContractEvents({
      address: second.asset,
      abi: sandboxUsdtAbi,
      eventName: "Transfer",
      args: { to: first.payTo },
      fromBlock: 0n
    })
    expect(logs.map((log) => log.transactionHash)).toEqual(receipts.map((receipt) => receipt.transactionHash))
    const resumed = await blockOf(second, "latest")
    expect(resumed.number).toBeGreaterThan(head.number)
    expect(resumed.timestamp).toBeGreaterThanOrEqual(head.timestamp)
    expect(Number(resumed.timestamp)).toBeGreaterThanOrEqual(restarted)
    expect(Number(resumed.timestamp)).toBeLessThanOrEqual(nowSeconds() + 1)
    const finalized = await blockOf(second, "finalized")
    expect(
      await client.readContract({
        address: second.asset,
        abi: sandboxUsdtAbi,
        functionName: "balanceOf",
        args: [first.payTo],
        blockNumber: finalized.number
      })
    ).toBe(10n)
    expect((await mint(second, first.payTo, 1n)).status).toBe("success")
  })

  it("survives repeated SIGKILL", async () => {
    const dataDir = await makeDataDir()
    let chain = await startTestChain(dataDir)
    let height = 0n
    for (let round = 1n; round <= 4n; round++) {
      await mint(chain, chain.payTo, 1n)
      await chain.save()
      height = (await blockOf(chain, "latest")).number
      await killChain(chain)
      chain = await startTestChain(dataDir, chain.port)
      expect(await balanceOf(chain, chain.payTo)).toBe(round)
      expect((await blockOf(chain, "latest")).number).toBeGreaterThan(height)
    }
  })

  it("shortens its journal by snapshots, and continues from both", async () => {
    const dataDir = await makeDataDir()
    const first = await startTestChain(dataDir)
    await mint(first, first.payTo, 1n)
    await sandboxClient(first.rpcUrl).mine({ blocks: 100 })
    await vi.waitFor(() => expect(openChainStore(dataDir).journal().length).toBeLessThan(30), { timeout: 60_000 })
    await untilJournaled(dataDir, await mint(first, first.payTo, 1n))
    await killChain(first)
    const second = await startTestChain(dataDir, first.port)
    expect(await balanceOf(second, first.payTo)).toBe(2n)
  })

  it("keeps a state of more than 10 MiB", async () => {
    const dataDir = await makeDataDir()
    const first = await startTestChain(dataDir)
    const client = sandboxClient(first.rpcUrl)
    const codes = Array.from({ length: 8 }, () => bytesToHex(randomBytes(750_000)))
    const addresses = codes.map(() => privateKeyToAddress(generatePrivateKey()))
    for (const [place, bytecode] of codes.entries()) await client.setCode({ address: addresses[place]!, bytecode })
    await first.save()
    await killChain(first)
    const second = await startTestChain(dataDir, first.port)
    expect(await sandboxClient(second.rpcUrl).getCode({ address: addresses.at(-1)! })).toBe(codes.at(-1))
  })

  it("starts again if the first start was killed before its first snapshot", async () => {
    const dataDir = await makeDataDir()
    const first = await startTestChain(dataDir)
    await killChain(first)
    await rm(join(dataDir, "state.json.gz"))
    const second = await startTestChain(dataDir)
    expect(identity(second)).toEqual(identity(first))
    expect(await balanceOf(second, second.wallets[0]?.address ?? second.payTo)).toBe(usdt(10_000))
  })

  it("rejects a chain whose keys are missing or belong to another chain", async () => {
    const [dataDir, otherDir] = [await makeDataDir(), await makeDataDir()]
    await (await startTestChain(dataDir)).stop()
    await (await startTestChain(otherDir)).stop()
    const otherKeys = await readFile(join(otherDir, "keys.json"))
    await writeFile(join(dataDir, "keys.json"), otherKeys)
    await expect(startTestChain(dataDir)).rejects.toThrow("does not match")
    await rm(join(dataDir, "keys.json"))
    await expect(startTestChain(dataDir)).rejects.toThrow("keys.json is missing")
  })
})

describe("the chain process", () => {
  interface Ready {
    readonly ready: string
    readonly pid: number
    readonly port: number
    readonly rpcUrl: string
  }
  const start = (dataDir: string) => startStandIn<Ready>("chain", { dataDir })

  it("serves under the reported pid, and stops gracefully when its stdin closes", async () => {
    const dataDir = await makeDataDir()
    const child = await start(dataDir)
    expect(child.ready).toMatchObject({ ready: "chain", rpcUrl: `http://127.0.0.1:${child.ready.port}` })
    const chain = await readChainDescription(dataDir)
    if (chain === undefined) throw new Error("the chain has no description")
    expect(chain.rpcUrl).toBe(child.ready.rpcUrl)
    await mint(chain, chain.payTo, 3n)
    child.process.stdin?.end()
    expect(await child.exitCode()).toBe(0)
    await untilGone(child.ready.pid)
    expect(await balanceOf(await startTestChain(dataDir), chain.payTo)).toBe(3n)
  })

  it("runs the second chain too, and saves the first one when the second is killed", async () => {
    const dataDir = await makeDataDir()
    const options = { dataDir, tether: { dataDir: join(dataDir, "tether") } }
    const child = await startStandIn<Ready & { readonly tetherPid: number }>("chain", options)
    const [first, second] = await Promise.all([
      readChainDescription(dataDir),
      readChainDescription(options.tether.dataDir, { keysDir: dataDir, network: tetherNetwork })
    ])
    expect(second!.wallets).toEqual(first!.wallets)
    for (const { chainId, rpcUrl } of [first!, second!]) {
      expect(await sandboxClient(rpcUrl).getChainId()).toBe(chainId)
    }
    await mint(first!, first!.payTo, 3n)
    process.kill(child.ready.tetherPid, "SIGKILL")
    expect(await child.exitCode()).toBe(1)
    await untilGone(child.ready.pid)
    expect(openChainStore(dataDir).journal()).toEqual([])
    expect(await balanceOf(await startTestChain(dataDir), first!.payTo)).toBe(3n)
  })

  it("ends anvil when it is killed", async () => {
    const child = await start(await makeDataDir())
    child.process.kill("SIGKILL")
    await untilGone(child.ready.pid)
  })

  it("ends with exit code 1 when anvil is killed", async () => {
    const child = await start(await makeDataDir())
    process.kill(child.ready.pid, "SIGKILL")
    expect(await child.exitCode()).toBe(1)
  })
})
