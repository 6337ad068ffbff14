import { join } from "node:path"
import * as Schema from "effect/Schema"
import { type Address, type Hex, getContractAddress, keccak256 } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"
import { type SandboxNetwork, usdt0Network } from "./SandboxNetwork.ts"

/** A customer's wallet with its private key. */
export interface SandboxWallet {
  readonly address: Address
  readonly privateKey: Hex
}

/** The data that a service needs to accept payments on a sandbox chain, and a customer to make them. */
export interface ChainDescription extends SandboxNetwork {
  /** The JSON-RPC URL, on this machine only. */
  readonly rpcUrl: string
  /** The address of the token. */
  readonly asset: Address
  /** The treasury, which receives payments. */
  readonly payTo: Address
  /**
   * Customers with 10,000 USDT each. They have no gas, which payers by EIP-3009 do not need; where Permit2 moves the
   * token, they have some, because they must allow that first.
   */
  readonly wallets: ReadonlyArray<SandboxWallet>
  /** The account that deployed the token and can mint. Has gas. */
  readonly deployerKey: Hex
  /** Pays the gas of settlements. */
  readonly facilitatorKey: Hex
  /** Holds 1,000,000,000 USDT to give away, and gas. */
  readonly faucetKey: Hex
  /** Holds 1,000 USDT for refunds, which Permit2 may move on the second network. Has gas. */
  readonly refundKey: Hex
  /** Another service of this chain, as a developer runs it: its treasury, and its wallet with 1,000 USDT for refunds. */
  readonly host: { readonly payTo: Address; readonly refundKey: Hex }
}

const PrivateKey = Schema.TemplateLiteral(["0x", Schema.String]).check(Schema.isPattern(/^0x[0-9a-f]{64}$/))

/** The private keys of all accounts on the chains of a sandbox. They are created once for each data directory. */
const ChainKeys = Schema.Struct({
  /** Owns the token: the only account that can mint. */
  deployer: PrivateKey,
  /** Pays the gas of settlements. */
  facilitator: PrivateKey,
  /** Receives payments. The sandbox never spends from it. */
  treasury: PrivateKey,
  /** Pays refunds. */
  refund: PrivateKey,
  /** Customers. */
  wallets: Schema.Array(PrivateKey)
})
export type ChainKeys = typeof ChainKeys.Type

const decodeKeys = Schema.decodeUnknownSync(Schema.fromJsonString(ChainKeys))
const keysPath = (dataDir: string): string => join(dataDir, "keys.json")

/** Returns the keys of a data directory, or undefined if it has none. */
export const readChainKeys = async (dataDir: string): Promise<ChainKeys | undefined> => {
  const text = await readFileIfExists(keysPath(dataDir))
  return text === undefined ? undefined : decodeKeys(text.toString())
}

/** The number of customers, unless a caller needs another one. */
const WALLETS = 5

/** Reads the keys of a data directory, or creates them, in a file that only its owner can read. */
export const openChainKeys = async (dataDir: string, walletCount = WALLETS): Promise<ChainKeys> => {
  const existing = await readChainKeys(dataDir)
  if (existing !== undefined) return existing
  const key = (): Hex => generatePrivateKey()
  const keys: ChainKeys = {
    deployer: key(),
    facilitator: key(),
    treasury: key(),
    refund: key(),
    wallets: Array.from({ length: walletCount }, key)
  }
  await replaceFile(keysPath(dataDir), `${JSON.stringify(keys, undefined, 2)}\n`, 0o600)
  return keys
}

/** Each token has a deployer of its own, whose first contract it is, so that all tokens have different addresses. */
const DEPLOYER_OF: Readonly<Record<SandboxNetwork["contract"], (first: Hex) => Hex>> = {
  SandboxUsdt: (first) => first,
  SandboxTether: (first) => keccak256(first),
  SandboxUsdc: (first) => keccak256(keccak256(first))
}

/** Derives the description from the keys. All networks have the same accounts, but for the deployer. */
export const describeChain = (
  keys: ChainKeys,
  rpcUrl: string,
  network: SandboxNetwork = usdt0Network
): ChainDescription => {
  const deployerKey = DEPLOYER_OF[network.contract](keys.deployer)
  return {
    ...network,
    rpcUrl,
    asset: getContractAddress({ from: privateKeyToAddress(deployerKey), nonce: 0n }),
    payTo: privateKeyToAddress(keys.treasury),
    wallets: keys.wallets.map((privateKey) => ({ address: privateKeyToAddress(privateKey), privateKey })),
    deployerKey,
    facilitatorKey: keys.facilitator,
    faucetKey: keccak256(keys.facilitator),
    refundKey: keys.refund,
    host: { payTo: privateKeyToAddress(keccak256(keys.treasury)), refundKey: keccak256(keys.refund) }
  }
}

/** The field of `deployment.json` that is read again. */
const decodeDeployment = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ rpcUrl: Schema.String })))
const deploymentPath = (dataDir: string): string => join(dataDir, "deployment.json")

/** Writes `deployment.json`, which describes the deployment to people and other processes. The keys are in a file of their own. */
export const writeDeployment = async (dataDir: string, chain: ChainDescription): Promise<void> => {
  const deployment = {
    rpcUrl: chain.rpcUrl,
    chainId: chain.chainId,
    network: chain.network,
    asset: chain.asset,
    assetName: chain.assetName,
    ...(chain.assetVersion === undefined ? {} : { assetVersion: chain.assetVersion }),
    decimals: chain.decimals,
    payTo: chain.payTo,
    wallets: chain.wallets.map((wallet) => wallet.address),
    facilitator: privateKeyToAddress(chain.facilitatorKey),
    refund: privateKeyToAddress(chain.refundKey)
  }
  await replaceFile(deploymentPath(dataDir), `${JSON.stringify(deployment, undefined, 2)}\n`)
}

/** Returns whether the first start of a data directory has deployed the token. */
export const isDeployed = async (dataDir: string): Promise<boolean> =>
  (await readFileIfExists(deploymentPath(dataDir))) !== undefined

/**
 * Reads the chain of a data directory, with the URL of its last start, in a process that did not start it. Returns
 * undefined before the first start has succeeded.
 */
export const readChainDescription = async (
  dataDir: string,
  { keysDir = dataDir, network }: { readonly keysDir?: string; readonly network?: SandboxNetwork } = {}
): Promise<ChainDescription | undefined> => {
  const [deployment, keys] = await Promise.all([readFileIfExists(deploymentPath(dataDir)), readChainKeys(keysDir)])
  if (deployment === undefined || keys === undefined) return undefined
  return describeChain(keys, decodeDeployment(deployment.toString()).rpcUrl, network)
}
