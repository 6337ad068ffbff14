import type { Hex } from "viem"
import type { ChainStore } from "./ChainStore.ts"
import { type SandboxClient, sandboxClient } from "./SandboxNetwork.ts"

/** Writes down a chain while it runs. */
export interface ChainRecorder {
  /** Takes a snapshot of everything there is. */
  readonly save: () => Promise<void>
  /** Ends the recording, after one last snapshot if the chain still answers. */
  readonly close: () => Promise<void>
}

/** Blocks to be mined again make the next start longer, those with transactions by some milliseconds each. */
const blocksPerSnapshot = 30
const transactionsPerSnapshot = 200
/** A snapshot takes longer as the chain grows. Between two, this many times its length is left to the chain. */
const restFactor = 9
/** A chain of some days takes seconds for a snapshot, and answers nothing meanwhile. */
const patienceMillis = 60_000
/** The transactions root of a block without transactions. */
const emptyRoot = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"

/**
 * Journals every block some 5 ms after it was mined, which is what a chain that is killed can forget, and takes a
 * snapshot now and then to keep the journal short. What tests change by other means than transactions (balances,
 * code, time) is in snapshots only: save after it where it has to last.
 *
 * (Anvil can write its state to a file itself, but only by the clock, all of it every time, and not atomically.)
 *
 * Calls `onLost`, once, when the chain can't be recorded any more.
 */
export const recordChain = async (rpcUrl: string, store: ChainStore, onLost: () => void): Promise<ChainRecorder> => {
  const client = sandboxClient(rpcUrl, patienceMillis)
  let saved = Promise.resolve()
  let restUntil = 0
  let closing = false

  const takeSnapshot = async () => {
    const startedAt = performance.now()
    restUntil = Infinity
    try {
      // Asked first: the state that is answered then holds this block at least.
      const number = await client.getBlockNumber()
      await store.writeSnapshot(await client.dumpState(), Number(number))
    } finally {
      restUntil = performance.now() + restFactor * (performance.now() - startedAt)
    }
  }
  // One after the other: a snapshot under way may have missed what the next one is asked for.
  const save = () => (saved = saved.then(takeSnapshot, takeSnapshot))

  const record = async (head: Head) => {
    const number = Number(head.number)
    const transactions = head.transactionsRoot === emptyRoot ? [] : await rawTransactions(client, BigInt(number))
    store.append({ number, timestamp: Number(head.timestamp), transactions })
    // Until a snapshot succeeds, the journal holds what it would.
    if (performance.now() > restUntil && isLong(store)) save().catch(() => undefined)
  }
  const lose = () => {
    if (closing) return
    closing = true
    onLost()
  }

  let recorded = Promise.resolve()
  const follow = (head: Head) => {
    recorded = recorded.then(() => record(head)).catch(lose)
  }
  const unfollow = await followHeads(rpcUrl, follow, lose)
  return {
    save,
    close: async () => {
      closing = true
      unfollow()
      await recorded
      await save().catch(() => undefined)
    }
  }
}

const isLong = (store: ChainStore): boolean => {
  const journal = store.journal()
  if (journal.length >= blocksPerSnapshot) return true
  return journal.reduce((count, block) => count + block.transactions.length, 0) >= transactionsPerSnapshot
}

const rawTransactions = async (client: SandboxClient, blockNumber: bigint): Promise<ReadonlyArray<Hex>> => {
  const { transactions } = await client.getBlock({ blockNumber })
  return Promise.all(
    transactions.map(async (hash) => {
      const transaction = await client.request({ method: "eth_getRawTransactionByHash", params: [hash] })
      if (transaction === null) throw new Error(`Block ${blockNumber} holds ${hash}, which nobody knows`)
      return transaction
    })
  )
}

/** What a node tells of a new block, as far as it is of use here. */
interface Head {
  readonly number: Hex
  readonly timestamp: Hex
  readonly transactionsRoot: Hex
}

/** Calls back for every new block, in order. Resolves, once it is listening, to what ends that. */
const followHeads = async (rpcUrl: string, onHead: (head: Head) => void, onClose: () => void): Promise<() => void> => {
  const socket = new WebSocket(rpcUrl.replace("http:", "ws:"))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }))
    })
    socket.addEventListener("error", () => reject(new Error(`No WebSocket at ${rpcUrl}`)))
    socket.addEventListener("message", (event) => {
      // The first message answers the subscription; it has no params.
      const { params } = JSON.parse(String(event.data)) as { readonly params?: { readonly result: Head } }
      if (params === undefined) resolve()
      else onHead(params.result)
    })
  })
  socket.addEventListener("close", onClose)
  return () => socket.close()
}
