import { createPublicClient, http } from "viem"
import type { Cluster } from "../support/Cluster.ts"
import { AUTHORIZATION_USED, type Movement, TokenLog } from "../support/TokenLog.ts"

const clientOf = (cluster: Cluster) =>
  createPublicClient({ transport: http(cluster.chain.rpcUrl), cacheTime: 0, pollingInterval: 200 })

export const newestBlock = (cluster: Cluster): Promise<bigint> => clientOf(cluster).getBlockNumber()

/** All that the token moved from the first block on, oldest first. */
export const readMovements = (cluster: Cluster, first = 0n): Promise<ReadonlyArray<Movement>> =>
  new TokenLog(cluster.chain, first).read()

/** Waits until no authorization that ends at `validBefore` (unix seconds) can be used any more, however the chain is asked. */
export const untilExpired = async (cluster: Cluster, validBefore: number): Promise<void> => {
  const log = new TokenLog(cluster.chain)
  while ((await log.finalSeconds()) < BigInt(validBefore)) await new Promise((resolve) => setTimeout(resolve, 500))
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
    const logs = await client.getLogs({
      address: cluster.chain.asset,
      event: AUTHORIZATION_USED,
      args: { nonce },
      fromBlock
    })
    if (logs[0] !== undefined) return logs[0].transactionHash
    if (performance.now() > deadline) throw new Error(`${nonce} is not used after ${SETTLED_MILLIS} ms`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }
}

/** What a transaction was sent with, which anybody can read. */
export const readCalldata = async (cluster: Cluster, transaction: `0x${string}`): Promise<`0x${string}`> =>
  (await clientOf(cluster).getTransaction({ hash: transaction })).input
