import { join } from "node:path"
import * as Schema from "effect/Schema"
import { type Address, type Hex, getContractAddress } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { readFileIfAny, replaceFile } from "./AtomicFile.ts"
import { type ChainKeys, readChainKeys } from "./ChainKeys.ts"
import { sandboxChainId, sandboxNetwork } from "./SandboxNetwork.ts"
import { sandboxUsdt } from "./SandboxUsdt.ts"

/** A wallet of a customer, with what it needs to sign. */
export interface SandboxWallet {
  readonly address: Address
  readonly privateKey: Hex
}

/** What a service has to know of a sandbox chain to take payments on it, and a customer to make them. */
export interface ChainDescription {
  /** The JSON-RPC address, on this machine only. */
  readonly rpcUrl: string
  readonly chainId: number
  /** The chain as CAIP-2 names it. */
  readonly network: `eip155:${number}`
  /** The token's contract. */
  readonly asset: Address
  /** Name and version are the token's EIP-712 domain. */
  readonly assetName: string
  readonly assetVersion: string
  readonly decimals: number
  /** The treasury: where payments go. */
  readonly payTo: Address
  /** Customers with 10,000 USDT each, and no gas: who pays by x402 needs none. */
  readonly wallets: ReadonlyArray<SandboxWallet>
  /** The account that deployed the token and can mint more of it. Has gas. */
  readonly deployerKey: Hex
  /** Pays for the gas of settlements. */
  readonly facilitatorKey: Hex
  /** Holds 1,000 USDT to pay customers back with. Has gas. */
  readonly refundKey: Hex
}

/** What is written beside the chain's state: no secrets. The keys have a file of their own. */
const Deployment = Schema.Struct({
  rpcUrl: Schema.String,
  chainId: Schema.Literal(sandboxChainId),
  network: Schema.Literal(sandboxNetwork),
  asset: Schema.String,
  assetName: Schema.String,
  assetVersion: Schema.String,
  decimals: Schema.Int,
  payTo: Schema.String,
  wallets: Schema.Array(Schema.String),
  facilitator: Schema.String,
  refund: Schema.String
})

const deploymentPath = (dataDir: string): string => join(dataDir, "deployment.json")
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Deployment))

/** Everything but the address follows from the keys, the token's contract included: it is its deployer's first. */
export const describeChain = (keys: ChainKeys, rpcUrl: string): ChainDescription => ({
  rpcUrl,
  chainId: sandboxChainId,
  network: sandboxNetwork,
  asset: getContractAddress({ from: privateKeyToAddress(keys.deployer), nonce: 0n }),
  assetName: sandboxUsdt.name,
  assetVersion: sandboxUsdt.version,
  decimals: sandboxUsdt.decimals,
  payTo: privateKeyToAddress(keys.treasury),
  wallets: keys.wallets.map((privateKey) => ({ address: privateKeyToAddress(privateKey), privateKey })),
  deployerKey: keys.deployer,
  facilitatorKey: keys.facilitator,
  refundKey: keys.refund
})

/** Writes `deployment.json`, by which a person, or a process beside the chain, finds what is deployed. */
export const writeDeployment = async (dataDir: string, chain: ChainDescription): Promise<void> => {
  const deployment: typeof Deployment.Type = {
    rpcUrl: chain.rpcUrl,
    chainId: sandboxChainId,
    network: sandboxNetwork,
    asset: chain.asset,
    assetName: chain.assetName,
    assetVersion: chain.assetVersion,
    decimals: chain.decimals,
    payTo: chain.payTo,
    wallets: chain.wallets.map((wallet) => wallet.address),
    facilitator: privateKeyToAddress(chain.facilitatorKey),
    refund: privateKeyToAddress(chain.refundKey)
  }
  await replaceFile(deploymentPath(dataDir), `${JSON.stringify(deployment, undefined, 2)}\n`)
}

/**
 * The chain that a data directory holds, at the address where it was last started; for a process that did not start
 * it itself. Undefined before the first start has succeeded.
 */
export const readChainDescription = async (dataDir: string): Promise<ChainDescription | undefined> => {
  const [deployment, keys] = await Promise.all([readFileIfAny(deploymentPath(dataDir)), readChainKeys(dataDir)])
  if (deployment === undefined || keys === undefined) return undefined
  return describeChain(keys, decode(deployment.toString()).rpcUrl)
}
