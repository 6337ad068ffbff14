import type { Hex } from "viem"
import { startAnvil } from "./Anvil.ts"
import type { ChainStore, JournaledBlock } from "./ChainStore.ts"
import { type SandboxClient, sandboxClient } from "./SandboxNetwork.ts"

/** Bounds the next start: each journaled block with transactions takes some milliseconds to mine again. */
const blocksPerSnapshot = 30
const transactionsPerSnapshot = 200
/** Snapshots take longer as the chain grows. The pause after one is this many times its duration. */
const pauseFactor = 9
/** A snapshot of a chain that is days old takes seconds, and the chain answers nothing meanwhile. */
const rpcTimeoutMillis = 60_000
/** The transactions root of a block without transactions. */
const emptyRoot = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"

/**
 * Journals every block about 5 ms after it was mined, which is the most that a killed chain loses, and takes snapshots to
 * keep the journal short. Changes by other means than transactions (balances, code, time) are in snapshots only: call
 * `save` to keep them.
 *
 * Anvil can write its state to a file itself, but only at fixed intervals, completely each time, and not atomically.
 *
 * Calls `onLost` once if the chain can no longer be recorded.
 */
export const recordChain = async (rpcUrl: string, store: ChainStore, onLost: () => void) => {
  const client = sandboxClient(rpcUrl, undefined, rpcTimeoutMillis)
  let saved = Promise.resolve()
  let pausedUntil = 0
  let closing = false

  const takeSnapshot = async () => {
    const startedAt = performance.now()
    pausedUntil = Infinity
    try {
      // Read before the dump, which then holds at least this block.
      const number = await client.getBlockNumber()
      await store.writeSnapshot(await client.dumpState(), Number(number))
    } finally {
      pausedUntil = performance.now() + pauseFactor * (performance.now() - startedAt)
    }
  }
  /** Takes a snapshot of the whole state, after one in progress: that one may miss changes that this one must hold. */
  const save = () => (saved = saved.then(takeSnapshot, takeSnapshot))

  const record = async (head: Head) => {
    const number = Number(head.number)
    const transactions = head.transactionsRoot === emptyRoot ? [] : await rawTransactions(client, BigInt(number))
    store.append({ number, timestamp: Number(head.timestamp), transactions })
    if (performance.now() > pausedUntil && isLong(store)) save().catch(sayUnsaved)
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
    /** Stops recording, after a last snapshot if the chain still answers. */
    close: async (): Promise<void> => {
      closing = true
      unfollow()
      await recorded
      await save().catch(sayUnsaved)
    }
  }
}

/** The journal still holds the blocks. */
const sayUnsaved = (cause: unknown): void => console.error(new Error("The chain could not be saved", { cause }))

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
      if (transaction === null) throw new Error(`Transaction ${hash} of block ${blockNumber} was not found`)
      return transaction
    })
  )
}

/** The used fields of a newHeads notification. */
interface Head {
  readonly number: Hex
  readonly timestamp: Hex
  readonly transactionsRoot: Hex
}

/** Calls back for every new block, in order. Resolves when subscribed, with a function that unsubscribes. */
const followHeads = async (rpcUrl: string, onHead: (head: Head) => void, onClose: () => void): Promise<() => void> => {
  const socket = new WebSocket(rpcUrl.replace("http:", "ws:"))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }))
    })
    socket.addEventListener("error", () => reject(new Error(`The WebSocket to ${rpcUrl} failed`)))
    socket.addEventListener("message", (event) => {
      // The first message is the response to the subscription and has no params.
      const { params } = JSON.parse(String(event.data)) as { readonly params?: { readonly result: Head } }
      if (params === undefined) resolve()
      else onHead(params.result)
    })
  })
  socket.addEventListener("close", onClose)
  return () => socket.close()
}

/**
 * Applies the journal of a killed chain to its snapshot: mines the journaled blocks again, each at its old height and
 * time. Does nothing if the journal holds no transactions.
 */
export const replayJournal = async (store: ChainStore, chainId: number): Promise<void> => {
  const blocks = store.journal().filter((block) => block.transactions.length > 0)
  if (blocks.length === 0) return
  const anvil = await store.withStateFile((stateFile) => startAnvil({ chainId, port: 0, mining: "manual", stateFile }))
  try {
    const client = sandboxClient(anvil.rpcUrl)
    let height = Number(await client.getBlockNumber())
    for (const block of blocks) {
      if (block.number <= height) continue
      await mineAgain(client, block, height)
      height = block.number
    }
    await store.writeSnapshot(await client.dumpState(), height)
  } finally {
    anvil.process.kill("SIGKILL")
    await anvil.process.exited
  }
}

const mineAgain = async (client: SandboxClient, block: JournaledBlock, height: number): Promise<void> => {
  await client.request<SetTime>({ method: "evm_setTime", params: [block.timestamp] })
  if (block.number > height + 1) await client.mine({ blocks: block.number - height - 1 })
  for (const serializedTransaction of block.transactions) {
    try {
      await client.sendRawTransaction({ serializedTransaction })
    } catch (error) {
      // For example, if the sender received its gas by other means than a transaction.
      console.error(`A transaction of block ${block.number} is lost:`, error)
    }
  }
  await client.mine({ blocks: 1 })
}

/** Missing from viem's methods. */
interface SetTime {
  readonly Method: "evm_setTime"
  readonly Parameters: [seconds: number]
  readonly ReturnType: unknown
}
