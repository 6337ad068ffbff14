import { createPublicClient, http, parseAbi } from "viem"
import type { Cluster } from "../support/Cluster.ts"

/** Money that the token moved by an authorization. */
export interface Movement {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Of the authorization; undefined where money moved without one. */
  readonly nonce: string | undefined
  readonly transaction: `0x${string}`
}

const ABI = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"
])
const BLOCKS_AT_ONCE = 2_000n

const clientOf = (cluster: Cluster) =>
  createPublicClient({ transport: http(cluster.chain.rpcUrl), cacheTime: 0, pollingInterval: 200 })

export const newestBlock = (cluster: Cluster): Promise<bigint> => clientOf(cluster).getBlockNumber()

/**
 * All that the token moved from the first block on, oldest first. An authorization's use stands directly before the transfer that it
 * made (EIP-3009). Addresses and nonces in lower case.
 */
export const readMovements = async (cluster: Cluster, first = 0n): Promise<ReadonlyArray<Movement>> => {
  const client = clientOf(cluster)
  const newest = await client.getBlockNumber()
  const movements: Array<Movement> = []
  for (let fromBlock = first; fromBlock <= newest; fromBlock += BLOCKS_AT_ONCE) {
    const toBlock = fromBlock + BLOCKS_AT_ONCE - 1n < newest ? fromBlock + BLOCKS_AT_ONCE - 1n : newest
    const logs = await client.getLogs({ address: cluster.chain.asset, events: ABI, fromBlock, toBlock, strict: true })
    logs.forEach((log, index) => {
      if (log.eventName !== "Transfer") return
      const before = logs[index - 1]
      const used =
        before?.eventName === "AuthorizationUsed" &&
        before.transactionHash === log.transactionHash &&
        before.logIndex === log.logIndex - 1 &&
        before.args.authorizer === log.args.from
      movements.push({
        from: log.args.from.toLowerCase(),
        to: log.args.to.toLowerCase(),
        value: log.args.value,
        nonce: used ? before.args.nonce.toLowerCase() : undefined,
        transaction: log.transactionHash
      })
    })
  }
  return movements
}

/** Waits until no authorization that ends at `validBefore` (unix seconds) can be used any more, however the chain is asked. */
export const untilExpired = async (cluster: Cluster, validBefore: number): Promise<void> => {
  const client = clientOf(cluster)
  for (;;) {
    const { timestamp } = await client.getBlock({ blockTag: "finalized" })
    if (timestamp >= BigInt(validBefore)) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

const POLL_MILLIS = 20
const SETTLED_MILLIS = 60_000

/** Waits for the transaction in which an authorization is used, which is looked for in the last so many blocks. */
export const transactionOf = async (cluster: Cluster, nonce: `0x${string}`, back = 500n): Promise<`0x${string}`> => {
  const client = clientOf(cluster)
  const deadline = performance.now() + SETTLED_MILLIS
  const newest = await client.getBlockNumber()
  const fromBlock = newest > back ? newest - back : 0n
  for (;;) {
    const logs = await client.getLogs({ address: cluster.chain.asset, event: ABI[1], args: { nonce }, fromBlock })
    if (logs[0] !== undefined) return logs[0].transactionHash
    if (performance.now() > deadline) throw new Error(`${nonce} is not used after ${SETTLED_MILLIS} ms`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }
}

/** What a transaction was sent with, which anybody can read. */
export const readCalldata = async (cluster: Cluster, transaction: `0x${string}`): Promise<`0x${string}`> =>
  (await clientOf(cluster).getTransaction({ hash: transaction })).input
