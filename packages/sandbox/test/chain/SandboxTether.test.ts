import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Address, createWalletClient, encodeFunctionData, type Hex, http, maxUint256, parseEventLogs } from "viem"
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { readChainDescription } from "../../src/chain/ChainDescription.ts"
import {
  permit2Address,
  permit2ProxyAddress,
  sandboxChain,
  sandboxClient,
  sandboxTetherAbi,
  tetherNetwork,
  usdt
} from "../../src/chain/SandboxNetwork.ts"
import { killChain, untilJournaled } from "./TestChain.ts"

let dataDir: string
let chain: Chain
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-tether-"))
  chain = await startChain({ dataDir, network: tetherNetwork })
})
afterAll(async () => {
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const token = () => ({ address: chain.asset, abi: sandboxTetherAbi }) as const
const client = () => sandboxClient(chain.rpcUrl, chain.chainId)
const balanceOf = (account: Address) =>
  client().readContract({ ...token(), functionName: "balanceOf", args: [account] })
const stranger = () => privateKeyToAddress(generatePrivateKey())

const sender = (key: Hex) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: sandboxChain(chain.rpcUrl, chain.chainId),
    transport: http(chain.rpcUrl, { retryCount: 0 }),
    pollingInterval: 20
  })

/** Sends a call of the token and returns the events of its transaction. Rejects if it would revert. */
const call = async (key: Hex, data: Hex) =>
  parseEventLogs({ abi: sandboxTetherAbi, logs: (await transact(key, data)).logs })

const transact = async (key: Hex, data: Hex) => {
  const hash = await sender(key).sendTransaction({ to: chain.asset, data })
  const receipt = await client().waitForTransactionReceipt({ hash })
  expect(receipt.status).toBe("success")
  return receipt
}
type Call = Parameters<typeof encodeFunctionData<typeof sandboxTetherAbi>>[0]
const encode = (one: Omit<Call, "abi">) => encodeFunctionData({ abi: sandboxTetherAbi, ...one } as Call)
const transfer = (to: Address, value: bigint) => encode({ functionName: "transfer", args: [to, value] })
const approve = (to: Address, value: bigint) => encode({ functionName: "approve", args: [to, value] })
const transferFrom = (from: Address, to: Address, value: bigint) =>
  encode({ functionName: "transferFrom", args: [from, to, value] })

describe("the network of SandboxTether", () => {
  it("has another chain and another token than the first one, and the same accounts", async () => {
    expect(chain).toMatchObject({ network: "eip155:402403", assetName: "Tether USD", decimals: 6 })
    expect(chain).not.toHaveProperty("assetVersion")
    expect(await client().getChainId()).toBe(402403)
    expect(await balanceOf(chain.payTo)).toBe(0n)
    for (const { address } of chain.wallets) {
      expect(await balanceOf(address)).toBe(usdt(10_000))
      expect(await client().getBalance({ address })).toBeGreaterThan(0n)
    }
  })
})

describe("SandboxTether", () => {
  it("returns nothing from transfer, transferFrom and approve", async () => {
    const { address: account } = chain.wallets[0]!
    for (const data of [transfer(stranger(), 1n), approve(stranger(), 1n), transferFrom(account, stranger(), 0n)]) {
      expect((await client().call({ account, to: chain.asset, data })).data).toBeUndefined()
    }
  })

  it("changes an allowance only from or to zero, and consumes it unless it is the largest", async () => {
    const [{ address: owner, privateKey }, spender] = [chain.wallets[0]!, chain.faucetKey]
    const allowance = () =>
      client().readContract({
        ...token(),
        functionName: "allowance",
        args: [owner, privateKeyToAddress(spender)]
      })
    const allow = (value: bigint) => call(privateKey, approve(privateKeyToAddress(spender), value))
    await allow(usdt(3))
    await expect(allow(usdt(4))).rejects.toThrow("execution reverted")
    await call(spender, transferFrom(owner, stranger(), usdt(1)))
    expect(await allowance()).toBe(usdt(2))
    await allow(0n)
    await allow(maxUint256)
    await call(spender, transferFrom(owner, stranger(), usdt(1)))
    expect(await allowance()).toBe(maxUint256)
    await allow(0n)
  })

  it("uses up all gas for more than the balance or the allowance", async () => {
    const { address, privateKey } = chain.wallets[1]!
    await expect(call(privateKey, transfer(stranger(), usdt(10_001)))).rejects.toThrow("InvalidFEOpcode")
    await expect(call(chain.faucetKey, transferFrom(address, stranger(), 1n))).rejects.toThrow("InvalidFEOpcode")
  })

  it("keeps a fee from the recipient, up to the largest, which only the owner sets", async () => {
    const [{ address: from, privateKey }, to] = [chain.wallets[1]!, stranger()]
    const setFee = (key: Hex, feeBasisPoints: bigint, maxFeeTokens: bigint) =>
      call(key, encode({ functionName: "setParams", args: [feeBasisPoints, maxFeeTokens] }))
    await expect(setFee(privateKey, 10n, 1n)).rejects.toThrow("execution reverted")
    await expect(setFee(chain.deployerKey, 20n, 1n)).rejects.toThrow("execution reverted")
    await expect(setFee(chain.deployerKey, 19n, 50n)).rejects.toThrow("execution reverted")
    await setFee(chain.deployerKey, 10n, 1n)
    const owner = privateKeyToAddress(chain.deployerKey)
    expect((await call(privateKey, transfer(to, usdt(100)))).map(({ args }) => args)).toEqual([
      { from, to: owner, value: usdt(0.1) },
      { from, to, value: usdt(99.9) }
    ])
    await call(privateKey, transfer(to, usdt(5_000)))
    expect(await balanceOf(to)).toBe(usdt(99.9 + 4_999))
    expect(await balanceOf(owner)).toBe(usdt(1.1))
    await setFee(chain.deployerKey, 0n, 0n)
    expect(await call(privateKey, transfer(to, usdt(1)))).toHaveLength(1)
  })

  it("moves nothing from a blacklisted account, and lets it receive", async () => {
    const { address, privateKey } = chain.wallets[2]!
    const list = (functionName: "addBlackList" | "removeBlackList", key = chain.deployerKey) =>
      call(key, encode({ functionName, args: [address] }))
    await expect(list("addBlackList", privateKey)).rejects.toThrow("execution reverted")
    await list("addBlackList")
    await expect(call(privateKey, transfer(stranger(), 1n))).rejects.toThrow("execution reverted")
    await call(chain.faucetKey, transfer(address, usdt(1)))
    await list("removeBlackList")
    await call(privateKey, transfer(stranger(), usdt(1)))
    expect(await balanceOf(address)).toBe(usdt(10_000))
  })

  it("lets only its owner mint", async () => {
    const mint = encode({ functionName: "mint", args: [chain.payTo, 1n] })
    await expect(call(chain.facilitatorKey, mint)).rejects.toThrow("execution reverted")
  })
})

describe("startChain with the network of SandboxTether", () => {
  it("continues the chain after SIGKILL: allowances, balances and contracts", async () => {
    const { address: owner, privateKey } = chain.wallets[3]!
    await untilJournaled(dataDir, await transact(privateKey, approve(permit2Address, usdt(7))))
    await killChain(chain)
    chain = await startChain({ dataDir, network: tetherNetwork, port: chain.port })
    const args = [owner, permit2Address] as const
    expect(await client().readContract({ ...token(), functionName: "allowance", args })).toBe(usdt(7))
    expect(await balanceOf(owner)).toBe(usdt(10_000))
    for (const address of [permit2Address, permit2ProxyAddress] as const) {
      expect(await client().getCode({ address })).toBeDefined()
    }
    expect(await readChainDescription(dataDir, { network: tetherNetwork })).toMatchObject({
      network: chain.network,
      asset: chain.asset,
      rpcUrl: chain.rpcUrl
    })
  })
})
