import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createWalletClient, erc20Abi, type Hex, http, parseAbi, parseSignature } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { type ChainDescription, describeChain, openChainKeys } from "../../src/chain/ChainDescription.ts"
import {
  permit2Address,
  sandboxChain,
  sandboxClient,
  tetherNetwork,
  usdcNetwork
} from "../../src/chain/SandboxNetwork.ts"
import { type FacilitatorServer, startFacilitator } from "../../src/facilitator/FacilitatorServer.ts"

const abi = [
  ...erc20Abi,
  ...parseAbi([
    "function nonces(address owner) view returns (uint256)",
    "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)"
  ])
]

let dataDir: string
let chain: Chain
let usdc: ChainDescription

const options = () => ({ dataDir: join(dataDir, "chain"), keysDir: dataDir, network: tetherNetwork })
const tokens = () => [{ network: usdcNetwork, dataDir: join(dataDir, "usdc") }]

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-usdc-"))
  await (await startChain(options())).stop()
  chain = await startChain({ ...options(), tokens: tokens() })
  usdc = describeChain(await openChainKeys(dataDir), chain.rpcUrl, usdcNetwork)
})
afterAll(async () => {
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const client = () => sandboxClient(chain.rpcUrl, chain.chainId)
const token = () => ({ address: usdc.asset, abi }) as const
const balanceOf = (asset: Hex, account: Hex) =>
  client().readContract({ address: asset, abi, functionName: "balanceOf", args: [account] })

describe("a chain with a further token", () => {
  it("gets it when it is started with it the first time, and continues both afterwards", async () => {
    const { address } = chain.wallets[0]!
    const before = await Promise.all([chain.asset, usdc.asset].map((asset) => balanceOf(asset, address)))
    expect(before).toEqual([10_000_000_000n, 10_000_000_000n])
    await chain.stop()
    chain = await startChain({ ...options(), tokens: tokens() })
    expect(await Promise.all([chain.asset, usdc.asset].map((asset) => balanceOf(asset, address)))).toEqual(before)
    for (const asset of [chain.asset, usdc.asset]) {
      const args = [privateKeyToAccount(chain.refundKey).address, permit2Address] as const
      expect(await client().readContract({ address: asset, abi, functionName: "allowance", args })).toBe(
        2n ** 256n - 1n
      )
    }
  })

  it("has a faucet for each token, of which that of permits gives no gas", async () => {
    const server: FacilitatorServer = await startFacilitator({
      ...chain,
      port: 0,
      others: [{ ...usdc, rpcUrl: chain.rpcUrl }],
      privateKey: chain.facilitatorKey,
      faucetKey: chain.faucetKey
    })
    try {
      const fund = async (address: Hex, asset?: string) => {
        const body = JSON.stringify({ address, ...(asset === undefined ? {} : { asset }) })
        const response = await fetch(`${server.url}/sandbox/faucet`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body
        })
        return response.status === 200
          ? [await balanceOf(usdc.asset, address), await client().getBalance({ address })]
          : response.status
      }
      const [first, second] = [
        "0x00000000000000000000000000000000000000a1",
        "0x00000000000000000000000000000000000000a2"
      ] as const
      // Both faucets are one account.
      expect(await Promise.all([fund(first), fund(second, usdc.asset)])).toEqual([
        [0n, 10n ** 17n],
        [100_000_000n, 0n]
      ])
      expect(await fund(first, "0x1")).toBe(422)
      const supported = await (await fetch(`${server.url}/supported`)).json()
      expect(supported).toMatchObject({
        kinds: [{ network: tetherNetwork.network }],
        extensions: ["eip2612GasSponsoring"]
      })
    } finally {
      await server.close()
    }
  })
})

describe("a permit of SandboxUsdc", () => {
  const owner = () => privateKeyToAccount(chain.wallets[0]!.privateKey)
  const signed = async (nonce: bigint, deadline: bigint, by = owner()) =>
    parseSignature(
      await by.signTypedData({
        domain: { name: "USD Coin", version: "2", chainId: chain.chainId, verifyingContract: usdc.asset },
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
        message: { owner: owner().address, spender: permit2Address, value: 5n, nonce, deadline }
      })
    )
  const submit = async ({ r, s, v }: Awaited<ReturnType<typeof signed>>, deadline: bigint) => {
    const wallet = createWalletClient({
      account: privateKeyToAccount(chain.deployerKey),
      chain: sandboxChain(chain.rpcUrl, chain.chainId),
      transport: http(chain.rpcUrl)
    })
    const args = [owner().address, permit2Address, 5n, deadline, Number(v), r, s] as const
    return client().waitForTransactionReceipt({
      hash: await wallet.writeContract({ ...token(), functionName: "permit", args })
    })
  }

  it("sets the allowance that its owner signed, once and in time", async () => {
    const deadline = 2n ** 40n
    const permit = await signed(0n, deadline)
    const stranger = await signed(0n, deadline, privateKeyToAccount(chain.deployerKey))
    await expect(submit(stranger, deadline)).rejects.toThrow("invalid signature")
    await expect(submit(await signed(0n, 1n), 1n)).rejects.toThrow("permit has expired")
    expect((await submit(permit, deadline)).status).toBe("success")
    const args = [owner().address, permit2Address] as const
    expect(await client().readContract({ ...token(), functionName: "allowance", args })).toBe(5n)
    await expect(submit(permit, deadline)).rejects.toThrow("invalid signature")
    expect(await client().readContract({ ...token(), functionName: "nonces", args: [owner().address] })).toBe(1n)
  })
})
