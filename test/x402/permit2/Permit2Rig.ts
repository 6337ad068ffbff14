import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type Chain,
  multicall3Address,
  readChainDescription,
  sandboxChain,
  sandboxClient,
  sandboxTetherAbi,
  startChain,
  tetherNetwork,
  usdcNetwork
} from "@agentos/sandbox"
import { httpFacilitator, PaymentRailX402 } from "@agentos/x402"
import {
  type ExactPermit2Payload,
  PERMIT2_ADDRESS,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress
} from "@x402/evm"
import type { PaymentProof } from "@agentos/core"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import {
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  multicall3Abi,
  numberToHex,
  parseAbi,
  publicActions
} from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { startStockFacilitator } from "../../support/StockFacilitator.ts"
import { railOver } from "../PaymentRig.ts"

/** A chain whose token moves by Permit2, with the facilitator of x402's library, and payment rails over them. */
export interface Rig {
  readonly chain: Chain
  /** The configuration of the chain's other token, whose payers need no allowance. */
  readonly usdc: Partial<PaymentRailX402.RailNetwork> & { readonly asset: Hex }
  readonly client: ReturnType<typeof sandboxClient>
  readonly networkOf: (other?: Partial<PaymentRailX402.RailNetwork>) => PaymentRailX402.RailNetwork
  readonly railOf: (
    other?: Partial<PaymentRailX402.RailNetwork>
  ) => Effect.Effect<Effect.Success<ReturnType<typeof railOver>>, never, Scope.Scope>
}

const walletOf = (chain: Chain, key: Hex) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    chain: sandboxChain(chain.rpcUrl, chain.chainId),
    transport: http(chain.rpcUrl),
    pollingInterval: 20
  }).extend(publicActions)

const start: Effect.Effect<Rig, never, Scope.Scope> = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agentos-permit2-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const chain = yield* Effect.acquireRelease(
    Effect.promise(() =>
      startChain({
        dataDir,
        network: tetherNetwork,
        tokens: [{ network: usdcNetwork, dataDir: join(dataDir, "usdc") }]
      })
    ),
    (started) => Effect.promise(() => started.stop())
  )
  const facilitator = yield* Effect.acquireRelease(
    Effect.promise(() => startStockFacilitator()),
    ({ close }) => Effect.sync(close)
  )
  facilitator.serve(chain)
  const networkOf = (other: Partial<PaymentRailX402.RailNetwork> = {}): PaymentRailX402.RailNetwork => ({
    network: chain.network,
    rpcUrl: Redacted.make(chain.rpcUrl),
    asset: chain.asset,
    transferMethod: "permit2",
    decimals: chain.decimals,
    name: chain.assetName,
    payTo: chain.payTo,
    maxTimeoutSeconds: 30,
    confirmations: 0,
    facilitator: httpFacilitator({ url: facilitator.url, settleTimeoutMillis: 20_000 }),
    ...other
  })
  const usdc = yield* Effect.promise(() =>
    readChainDescription(join(dataDir, "usdc"), { keysDir: dataDir, network: usdcNetwork })
  )
  return {
    chain,
    usdc: {
      asset: usdc!.asset,
      name: usdcNetwork.assetName,
      version: usdcNetwork.assetVersion,
      gasSponsoring: usdcNetwork.gasSponsoring
    },
    client: sandboxClient(chain.rpcUrl, chain.chainId),
    networkOf,
    railOf: (other) => Effect.orDie(railOver(networkOf(other)))
  }
})

export class Permit2Rig extends Context.Service<Permit2Rig, Rig>()("@agentos/test/x402/permit2/Permit2Rig") {
  static readonly layer = Layer.effect(Permit2Rig, start)
}

const APPROVE = encodeFunctionData({
  abi: sandboxTetherAbi,
  functionName: "approve",
  args: [PERMIT2_ADDRESS, 2n ** 256n - 1n]
})

/** Sends a transaction, and waits for its success. */
export const send = Effect.fnUntraced(function* (key: Hex, to: Hex, data: Hex, gas?: bigint) {
  const { chain, client } = yield* Permit2Rig
  return yield* Effect.promise(async () => {
    const hash = await walletOf(chain, key).sendTransaction({ to, data, ...(gas === undefined ? {} : { gas }) })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== "success") throw new Error(`${hash} reverted`)
    return receipt
  })
})

/** Sends transactions in this order, most often into one block, and returns their receipts. */
export const sendTogether = Effect.fnUntraced(function* (
  ...calls: ReadonlyArray<{ readonly key: Hex; readonly to: Hex; readonly data: Hex }>
) {
  const { chain, client } = yield* Permit2Rig
  return yield* Effect.promise(async () => {
    await client.setAutomine(false)
    try {
      const hashes: Array<Hex> = []
      for (const [place, { key, ...call }] of calls.entries()) {
        // Miners order by the tip.
        const fees = { maxPriorityFeePerGas: BigInt(100 - place) * 10n ** 9n, maxFeePerGas: 200n * 10n ** 9n }
        hashes.push(await walletOf(chain, key).sendTransaction({ ...call, ...fees, gas: 500_000n }))
      }
      await client.mine({ blocks: 1 })
      const receipts = await Promise.all(hashes.map((hash) => client.waitForTransactionReceipt({ hash })))
      if (receipts.some(({ status }) => status !== "success")) throw new Error("a transaction reverted")
      return receipts
    } finally {
      await client.setAutomine(true)
    }
  })
})

/** A customer that has allowed Permit2 to move its tokens. */
export const customer = Effect.fnUntraced(function* (index: number) {
  const { chain, client } = yield* Permit2Rig
  const wallet = chain.wallets[index]!
  const allowance = yield* Effect.promise(() =>
    client.readContract({
      address: chain.asset,
      abi: sandboxTetherAbi,
      functionName: "allowance",
      args: [wallet.address, PERMIT2_ADDRESS]
    })
  )
  if (allowance === 0n) yield* send(wallet.privateKey, chain.asset, APPROVE)
  return wallet
})

/** The transaction that invalidates the nonce of a proof, as its payer sends it. */
export const invalidation = ({ nonce }: Pick<PaymentProof, "nonce">) => ({
  to: PERMIT2_ADDRESS,
  data: encodeFunctionData({
    abi: parseAbi(["function invalidateUnorderedNonces(uint256 word, uint256 mask)"]),
    args: [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)]
  })
})

/** The call of the proxy that settles a proof, as anyone can send it. */
export const settlement = ({ payload }: Pick<PaymentProof, "payload">) => {
  const { permit2Authorization: signed, signature } = (JSON.parse(payload) as { payload: ExactPermit2Payload }).payload
  const { deadline, from, nonce, permitted, witness } = signed
  return {
    to: x402ExactPermit2ProxyAddress as Hex,
    data: encodeFunctionData({
      abi: x402ExactPermit2ProxyABI,
      functionName: "settle",
      args: [
        {
          permitted: { token: permitted.token, amount: BigInt(permitted.amount) },
          nonce: BigInt(nonce),
          deadline: BigInt(deadline)
        },
        from,
        { to: witness.to, validAfter: BigInt(witness.validAfter) },
        signature as Hex
      ]
    })
  }
}

/** A transaction that settles proofs through another contract: its input names the nonces, and nothing ties a transfer to one. */
export const batch = (...proofs: ReadonlyArray<Pick<PaymentProof, "payload">>) => {
  const calls = proofs.map((proof) => {
    const { data, to } = settlement(proof)
    return { target: to, allowFailure: false, callData: data }
  })
  return {
    to: multicall3Address,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] })
  } as const
}

/** Puts a contract at an address that makes a call on any transaction, so that the input does not show the call. */
export const hideCall = Effect.fnUntraced(function* (
  address: Hex,
  { data, to }: { readonly data: Hex; readonly to: Hex }
) {
  const { client } = yield* Permit2Rig
  const word = (value: number) => numberToHex(value, { size: 2 }).slice(2)
  const length = word(data.length / 2 - 1)
  // CODECOPY of the data, then CALL.
  const code = (offset: string) => `61${length}61${offset}6000396000600061${length}6000600073${to.slice(2)}5af15000`
  const body = code(word(code("0000").length / 2))
  yield* Effect.promise(() => client.setCode({ address, bytecode: `0x${body}${data.slice(2)}` }))
})

/** Makes all blocks of the chain final. */
export const finalize = Effect.flatMap(Permit2Rig, ({ client }) => Effect.promise(() => client.mine({ blocks: 3 })))
