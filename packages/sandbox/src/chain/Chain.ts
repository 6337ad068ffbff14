import { mkdir } from "node:fs/promises"
import type { ProcessExit } from "../process/GuardedProcess.ts"
import { startAnvil } from "./Anvil.ts"
import { startClock } from "./ChainClock.ts"
import { type ChainDescription, describeChain, writeDeployment } from "./ChainDescription.ts"
import { createChainKeys, readChainKeys } from "./ChainKeys.ts"
import { recordChain } from "./ChainRecorder.ts"
import { replayJournal } from "./ChainReplay.ts"
import { type ChainStore, openChainStore } from "./ChainStore.ts"
import { deploy } from "./Deployment.ts"
import { type SandboxClient, sandboxChainId, sandboxClient } from "./SandboxNetwork.ts"

/** A sandbox chain that runs. */
export interface Chain extends ChainDescription {
  /** The process that serves: anvil itself. */
  readonly pid: number
  readonly port: number
  /** Resolves when the chain's process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /**
   * Saves all there is. Transactions are safe without it; what a test changes by other means (balances, code, time)
   * is not until then.
   */
  readonly save: () => Promise<void>
  /** Saves and ends the chain. */
  readonly stop: () => Promise<void>
}

export interface ChainOptions {
  /** Holds the chain from one start to the next. One running chain per directory. */
  readonly dataDir: string
  /** 0, which is the default, takes a free port. */
  readonly port?: number
}

const walletCount = 5

/**
 * Starts the sandbox chain of a data directory, on 127.0.0.1, and resolves once it can be used.
 *
 * The first start makes keys and deploys the token; later ones continue the same chain, after SIGKILL as well: same
 * token, balances, nonces, logs and heights. (A power cut may lose the last moments: nothing waits for the disk.)
 *
 * Time on the chain is the time of this machine, block numbers never go back, and the chain ends with this process
 * however that ends.
 */
export const startChain = async (options: ChainOptions): Promise<Chain> => {
  const { dataDir } = options
  await mkdir(dataDir, { recursive: true })
  const store = openChainStore(dataDir)
  const isNew = !store.hasSnapshot()
  const keys = await readChainKeys(dataDir)
  if (!isNew && keys === undefined) throw new Error(`${dataDir} holds a chain, but not its keys`)
  if (!isNew) await replayJournal(store)
  const anvil = await store.withStateFile((stateFile) =>
    startAnvil({ chainId: sandboxChainId, port: options.port ?? 0, mining: "at once", stateFile })
  )
  const { process } = anvil
  try {
    const chain = describeChain(keys ?? (await createChainKeys(dataDir, walletCount)), anvil.rpcUrl)
    const client = sandboxClient(anvil.rpcUrl)
    await client.setLoggingEnabled(false)
    if (isNew) await deploy(chain, client)
    else await resume(chain, client, store)
    // A chain that can't be recorded has no tomorrow, and had better end now.
    const recorder = await recordChain(anvil.rpcUrl, store, () => process.kill("SIGKILL"))
    await recorder.save()
    await writeDeployment(dataDir, chain)
    // Another chain may have taken this one's place and port by the time somebody uses what is left of it.
    let alive = true
    const stopClock = startClock(client)
    void process.exited.then(() => {
      alive = false
      stopClock()
    })
    return {
      ...chain,
      pid: process.pid,
      port: anvil.port,
      exited: process.exited,
      save: async () => {
        if (!alive) throw new Error("The chain has ended")
        await recorder.save()
      },
      stop: async () => {
        stopClock()
        if (alive) await recorder.close()
        process.kill("SIGKILL")
        await process.exited
      }
    }
  } catch (error) {
    process.kill("SIGKILL")
    await process.exited
    throw error
  }
}

/**
 * Mines empty blocks past what the journal knows, by so many as a killed chain can have mined without their getting
 * there. A service that remembers a block number from before may then go on comparing numbers. It also makes recent
 * blocks whose state can be read, which those that were loaded lack.
 */
const spareBlocks = 32

const resume = async (chain: ChainDescription, client: SandboxClient, store: ChainStore): Promise<void> => {
  const code = await client.getCode({ address: chain.asset })
  if (code === undefined) throw new Error("The chain's state and its keys don't belong together: no token is there")
  const height = Number(await client.getBlockNumber())
  const journaled = store.journal().at(-1)?.number ?? height
  await client.mine({ blocks: Math.max(0, journaled - height) + spareBlocks })
}
