import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Address } from "viem"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { sandboxClient, sandboxUsdtAbi } from "../../src/chain/SandboxNetwork.ts"
import { type FacilitatorServer, startFacilitator } from "../../src/facilitator/FacilitatorServer.ts"

let dataDir: string
let chain: Chain
let facilitator: FacilitatorServer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-faucet-"))
  chain = await startChain({ dataDir })
  facilitator = await startFacilitator({ ...chain, port: 0, privateKey: chain.facilitatorKey })
})
afterAll(async () => {
  await facilitator.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const addressOf = (index: number): Address => `0x${String(index).padStart(40, "a")}`

const balanceOf = (address: Address) =>
  sandboxClient(chain.rpcUrl).readContract({
    address: chain.asset,
    abi: sandboxUsdtAbi,
    functionName: "balanceOf",
    args: [address]
  })

const fund = async (body: unknown) => {
  const response = await fetch(`${facilitator.url}/sandbox/faucet`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

it("gives test USDT, also to many wallets at the same time", async () => {
  const amounts = ["100.00", "0.000001", "10000", "7.5"]
  const answers = await Promise.all(amounts.map((amount, index) => fund({ address: addressOf(index), amount })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await Promise.all(amounts.map((_, index) => balanceOf(addressOf(index))))).toEqual([
    100_000_000n,
    1n,
    10_000_000_000n,
    7_500_000n
  ])
  const { body } = await fund({ address: addressOf(9) })
  expect(body).toEqual({
    address: addressOf(9),
    amount: "100.00",
    transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string
  })
})

it.each([
  [{ address: "ada", amount: "1" }, 400, "`address`: must be an address: 0x and 40 hexadecimal digits"],
  [{ address: addressOf(1), amount: 1 }, 400, "`amount`: "],
  [{ address: addressOf(1), amount: "1e6" }, 400, "`amount`: must be an amount of USDT as text, such as 100.00"],
  [{ address: addressOf(1), amount: "0.0" }, 422, "`amount`: must be above 0 and at most 10000 USDT"],
  [{ address: addressOf(1), amount: "10000.01" }, 422, "`amount`: must be above 0 and at most 10000 USDT"],
  [{ amount: "1" }, 400, "missing property `address`"]
])("refuses %j", async (body, status, message) => {
  const before = await balanceOf(addressOf(1))
  const answer = await fund(body)
  expect(answer.status).toBe(status)
  expect(answer.body["error"]).toContain(message)
  expect(await balanceOf(addressOf(1))).toBe(before)
})
