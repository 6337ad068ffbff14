import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HTTPFacilitatorClient } from "@x402/core/http"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import { createPermit2ApprovalTx, type ExactPermit2Payload } from "@x402/evm"
import { type Address, createWalletClient, erc20Abi, type Hex, http, toHex } from "viem"
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { permit2Address, sandboxChain, sandboxClient, tetherNetwork } from "../../src/chain/SandboxNetwork.ts"
import { type FacilitatorServer, startFacilitator } from "../../src/facilitator/FacilitatorServer.ts"
import { killChain } from "../chain/TestChain.ts"
import { pay, requirementsOf } from "./Buyer.ts"

let dataDir: string
let usdt0: Chain
let tether: Chain
let facilitator: FacilitatorServer

const startTether = (port = 0) =>
  startChain({ dataDir: join(dataDir, "tether"), keysDir: dataDir, network: tetherNetwork, port })

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-networks-"))
  usdt0 = await startChain({ dataDir })
  tether = await startTether()
  const clock = { file: join(dataDir, "clock.json"), rpcUrls: [usdt0.rpcUrl, tether.rpcUrl] }
  // Stands for a server that is ready.
  const ready = await startFacilitator({ ...usdt0, port: 0, privateKey: usdt0.facilitatorKey })
  facilitator = await startFacilitator({
    ...usdt0,
    port: 0,
    others: [tether],
    privateKey: usdt0.facilitatorKey,
    clock: { ...clock, readyUrl: `${ready.url}/health` }
  })
  for (const { privateKey } of tether.wallets.slice(0, 2)) await allow(privateKey)
  return () => ready.close()
})
afterAll(async () => {
  await facilitator.close()
  await Promise.all([usdt0.stop(), tether.stop()])
  await rm(dataDir, { recursive: true, force: true })
})
afterEach(async () => {
  await fetch(`${facilitator.url}/sandbox/faults`, { method: "DELETE" })
})

/** Lets Permit2 move the tokens of a wallet. */
const allow = async (key: Hex) => {
  const wallet = createWalletClient({
    account: privateKeyToAccount(key),
    chain: sandboxChain(tether.rpcUrl, tether.chainId),
    transport: http(tether.rpcUrl)
  })
  const hash = await wallet.sendTransaction(createPermit2ApprovalTx(tether.asset))
  await sandboxClient(tether.rpcUrl).waitForTransactionReceipt({ hash })
}

const remote = (timeoutMs = 30_000) => new HTTPFacilitatorClient({ url: facilitator.url, timeoutMs })
const balanceOf = ({ asset, rpcUrl }: Chain, account: Address) =>
  sandboxClient(rpcUrl).readContract({ address: asset, abi: erc20Abi, functionName: "balanceOf", args: [account] })
const treasury = (chain: Chain) => balanceOf(chain, chain.payTo)
const transactionsSent = ({ facilitatorKey, rpcUrl }: Chain) =>
  sandboxClient(rpcUrl).getTransactionCount({ address: privateKeyToAddress(facilitatorKey) })
const paid = async (chain: Chain, index = 0, requirements: PaymentRequirements = requirementsOf(chain)) => ({
  requirements,
  payload: await pay(chain.wallets[index]!.privateKey, requirements)
})
const post = (path: string, body: unknown) =>
  fetch(`${facilitator.url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body)
  })
const nonceOf = (payload: PaymentPayload) =>
  (payload.payload as unknown as ExactPermit2Payload).permit2Authorization.nonce

describe("a facilitator with two networks", () => {
  it("lists both for the standard client", async () => {
    expect((await remote().getSupported()).kinds).toEqual([
      { x402Version: 2, scheme: "exact", network: usdt0.network },
      { x402Version: 2, scheme: "exact", network: tether.network }
    ])
  })

  it("settles each payment on the chain that its requirements name", async () => {
    const before = await Promise.all([usdt0, tether].map(treasury))
    for (const chain of [usdt0, tether]) {
      const { payload, requirements } = await paid(chain)
      expect(await remote().verify(payload, requirements)).toMatchObject({ isValid: true })
      const settled = await remote().settle(payload, requirements)
      expect(settled).toMatchObject({ success: true, network: chain.network, payer: chain.wallets[0]!.address })
      const receipt = await sandboxClient(chain.rpcUrl).getTransactionReceipt({ hash: settled.transaction as Hex })
      expect(receipt.status).toBe("success")
    }
    expect(await Promise.all([usdt0, tether].map(treasury))).toEqual(before.map((amount) => amount + 250_000n))
  })

  it("settles an authorization of Permit2 once for five concurrent requests, and spends gas once", async () => {
    const { payload, requirements } = await paid(tether)
    const [before, sent] = [await treasury(tether), await transactionsSent(tether)]
    const settled = await Promise.all([1, 2, 3, 4, 5].map(() => remote().settle(payload, requirements)))
    expect(settled.filter(({ success }) => success)).toHaveLength(1)
    expect(await remote().verify(payload, requirements)).toMatchObject({ isValid: false })
    expect(await treasury(tether)).toBe(before + 250_000n)
    expect(await transactionsSent(tether)).toBe(sent + 1)
  })

  it("settles concurrent payments of several payers by Permit2", async () => {
    const payments = await Promise.all(Array.from({ length: 10 }, (_, index) => paid(tether, index % 2)))
    const settled = await Promise.all(
      payments.map(({ payload, requirements }) => remote().settle(payload, requirements))
    )
    expect(settled.filter(({ success }) => success)).toHaveLength(10)
    expect(new Set(settled.map(({ transaction }) => transaction)).size).toBe(10)
  })

  it("sends nothing without an allowance, or for the other method of transfer", async () => {
    const sent = await Promise.all([usdt0, tether].map(transactionsSent))
    const unallowed = await paid(tether, 4)
    expect(await remote().verify(unallowed.payload, unallowed.requirements)).toMatchObject({
      isValid: false,
      invalidReason: "permit2_allowance_required"
    })
    expect(await remote().settle(unallowed.payload, unallowed.requirements)).toMatchObject({ success: false })
    const { extra: byPermit2 } = requirementsOf(tether)
    const { extra: byEip3009 } = requirementsOf(usdt0)
    for (const requirements of [
      requirementsOf(usdt0, { extra: byPermit2 }),
      requirementsOf(tether, { extra: byEip3009 })
    ]) {
      const { payload } = await paid(usdt0, 0, requirements)
      expect(await remote().verify(payload, requirements)).toMatchObject({ invalidReason: "invalid_payload" })
      expect(await remote().settle(payload, requirements)).toMatchObject({ errorReason: "invalid_payload" })
    }
    expect(await Promise.all([usdt0, tether].map(transactionsSent))).toEqual(sent)
  })

  it("plans faults for one authorization of Permit2, by its nonce as a number or as 32 bytes", async () => {
    for (const write of [String, (nonce: string) => toHex(BigInt(nonce), { size: 32 })]) {
      const [one, other] = [await paid(tether), await paid(tether)]
      await post("/sandbox/faults", { operation: "settle", mode: "after", only: write(nonceOf(one.payload)) })
      expect(await remote().settle(other.payload, other.requirements)).toMatchObject({ success: true })
      const before = await treasury(tether)
      await expect(remote().settle(one.payload, one.requirements)).rejects.toThrow("fetch failed")
      expect(await treasury(tether)).toBe(before + 250_000n)
    }
  })

  it("gives tokens of the second network, and gas to allow Permit2 them", async () => {
    const address = `0x${"b".repeat(40)}` as const
    const answer = await post("/sandbox/faucet", { address, amount: "7.5", network: tether.network })
    expect(await answer.json()).toEqual({
      address,
      amount: "7.5",
      network: tether.network,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string
    })
    expect([await balanceOf(tether, address), await balanceOf(usdt0, address)]).toEqual([7_500_000n, 0n])
    expect(await sandboxClient(tether.rpcUrl).getBalance({ address })).toBe(10n ** 17n)
    const unknown = await post("/sandbox/faucet", { address, network: "eip155:1" })
    expect(unknown.status).toBe(422)
    expect(await unknown.json()).toEqual({ error: "`network`: must be one of eip155:402402, eip155:402403" })
  })

  it("serves one network while the chain of the other is unavailable", async () => {
    const [first, second] = [await paid(usdt0), await paid(tether)]
    await killChain(tether)
    await expect(remote().settle(second.payload, second.requirements)).rejects.toThrow("503")
    expect((await fetch(`${facilitator.url}/health`)).status).toBe(503)
    expect(await remote().settle(first.payload, first.requirements)).toMatchObject({ success: true })
    tether = await startTether(tether.port)
    expect(await remote().settle(second.payload, second.requirements)).toMatchObject({ success: true })
  })

  it("moves the time of both chains, or of none", async () => {
    const now = async ({ rpcUrl }: Chain) => Number((await sandboxClient(rpcUrl).getBlock()).timestamp)
    const times = () => Promise.all([usdt0, tether].map(now))
    const before = await times()
    await killChain(tether)
    const refused = await post("/sandbox/clock", { advanceSeconds: 3_600 })
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { error: "The chain is unavailable. The time was not moved." }
    ])
    expect((await now(usdt0)) - before[0]!).toBeLessThan(3_600)
    tether = await startTether(tether.port)
    expect((await post("/sandbox/clock", { advanceSeconds: 3_600 })).status).toBe(200)
    const after = await times()
    for (const index of [0, 1]) {
      expect(after[index]! - before[index]!).toBeGreaterThanOrEqual(3_600)
      expect(after[index]! - before[index]!).toBeLessThan(3_700)
    }
  })
})

it("leaves no allowance to Permit2 on wallets, which give it themselves", async () => {
  const args = [tether.wallets[3]!.address, permit2Address] as const
  const token = { address: tether.asset, abi: erc20Abi } as const
  const client = sandboxClient(tether.rpcUrl)
  expect(await client.readContract({ ...token, functionName: "allowance", args })).toBe(0n)
})
