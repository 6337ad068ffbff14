import { startAnvil } from "./Anvil.ts"
import type { ChainStore, JournaledBlock } from "./ChainStore.ts"
import { type SandboxClient, sandboxChainId, sandboxClient } from "./SandboxNetwork.ts"

/**
 * Brings the snapshot up to the journal, after a chain was killed: mines the journaled blocks again, each at its old
 * height and time, on a chain that mines nothing by itself. Does nothing where the journal holds no transactions.
 */
export const replayJournal = async (store: ChainStore): Promise<void> => {
  const blocks = store.journal().filter((block) => block.transactions.length > 0)
  if (blocks.length === 0) return
  const anvil = await store.withStateFile((stateFile) =>
    startAnvil({ chainId: sandboxChainId, port: 0, mining: "on request", stateFile })
  )
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
      // Such as one whose sender had been given its gas by other means than a transaction.
      console.error(`A transaction of block ${block.number} is lost:`, error)
    }
  }
  await client.mine({ blocks: 1 })
}

/** Missing from viem's list of methods. */
interface SetTime {
  readonly Method: "evm_setTime"
  readonly Parameters: [seconds: number]
  readonly ReturnType: unknown
}
