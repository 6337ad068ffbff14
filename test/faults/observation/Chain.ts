import { setTimeout as sleep } from "node:timers/promises"
import { createPublicClient, http } from "viem"
import type { Cluster } from "../../support/Cluster.ts"
import { TokenLog } from "../../support/TokenLog.ts"

const clientOf = (cluster: Cluster) =>
  createPublicClient({ transport: http(cluster.chain.rpcUrl), cacheTime: 0, pollingInterval: 200 })

export const newestBlock = (cluster: Cluster): Promise<bigint> => clientOf(cluster).getBlockNumber()

/** Waits until an authorization that is valid until `validBefore` can no longer be used, by any block tag. */
export const untilExpired = async (cluster: Cluster, validBefore: bigint): Promise<void> => {
  const log = new TokenLog(cluster.chain)
  while ((await log.finalSeconds()) < validBefore) await sleep(500)
}

const POLL_MILLIS = 20
const SETTLED_MILLIS_MAX = 60_000

/** Waits for the transaction that uses an authorization, from `back` blocks ago on. */
export const transactionOf = async (cluster: Cluster, nonce: `0x${string}`, back = 500n): Promise<`0x${string}`> => {
  const client = clientOf(cluster)
  const deadline = performance.now() + SETTLED_MILLIS_MAX
  const newest = await client.getBlockNumber()
  const log = new TokenLog(cluster.chain, newest > back ? newest - back : 0n)
  for (;;) {
    const movement = (await log.read()).find((one) => one.nonce === nonce)
    if (movement !== undefined) return movement.transaction
    if (performance.now() > deadline) throw new Error(`${nonce} was not used within ${SETTLED_MILLIS_MAX} ms`)
    await sleep(POLL_MILLIS)
  }
}

export const readCalldata = async (cluster: Cluster, transaction: `0x${string}`): Promise<`0x${string}`> =>
  (await clientOf(cluster).getTransaction({ hash: transaction })).input
