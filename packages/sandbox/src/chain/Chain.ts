import { mkdir } from "node:fs/promises"
import { readOffset } from "../shared/ClockFile.ts"
import type { ProcessExit } from "../shared/GuardedProcess.ts"
import { startAnvil } from "./Anvil.ts"
import {
  type ChainDescription,
  describeChain,
  openChainKeys,
  readChainKeys,
  writeDeployment
} from "./ChainDescription.ts"
import { recordChain, replayJournal } from "./ChainRecorder.ts"
import { type ChainStore, openChainStore } from "./ChainStore.ts"
import { deploy, installContracts } from "./Deployment.ts"
import { type SandboxClient, type SandboxNetwork, sandboxClient, usdt0Network } from "./SandboxNetwork.ts"
import { freeTransactions, newPoolMemory } from "./TransactionPool.ts"

/** A running sandbox chain. */
export interface Chain extends ChainDescription {
  /** The pid of anvil. */
  readonly pid: number
  readonly port: number
  /** Resolves when anvil has ended for any reason. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Saves the state. Needed only for changes by other means than transactions: balances, code, time. */
  readonly save: () => Promise<void>
  /** Saves the state and stops the chain. */
  readonly stop: () => Promise<void>
}

export interface ChainOptions {
  /** Keeps the chain between starts. One running chain per directory. */
  readonly dataDir: string
  /** The directory of the keys, by default `dataDir`. The chains of a sandbox share their keys. */
  readonly keysDir?: string
  /** By default the first network of the sandbox. A directory belongs to one network. */
  readonly network?: SandboxNetwork
  /** Further tokens of the chain, each with the directory of its `deployment.json`. */
  readonly tokens?: ReadonlyArray<{ readonly network: SandboxNetwork; readonly dataDir: string }>
  /** 0, the default, selects a free port. */
  readonly port?: number
  /** The file with the offset by which the time of the sandbox was moved. */
  readonly clockFile?: string
}

/**
 * Starts the chain of a data directory on 127.0.0.1, and resolves when it is ready.
 *
 * The first start creates keys and deploys the token. Later starts continue the same chain, also after SIGKILL: same
 * token, balances, nonces, logs and block numbers. A power failure may lose the latest blocks, because nothing waits for
 * the disk.
 *
 * The chain's time is that of this machine, plus the offset in the clock file. Block numbers never decrease. The chain ends when this process ends.
 */
export const startChain = async (options: ChainOptions): Promise<Chain> => {
  const { dataDir, keysDir = dataDir, network = usdt0Network, tokens = [] } = options
  await mkdir(dataDir, { recursive: true })
  const store = openChainStore(dataDir)
  const isNew = !store.hasSnapshot()
  if (!isNew && (await readChainKeys(keysDir)) === undefined)
    throw new Error(`${dataDir} holds a chain, but keys.json is missing`)
  if (!isNew) await replayJournal(store, network.chainId)
  const anvil = await store.withStateFile((stateFile) =>
    startAnvil({ chainId: network.chainId, port: options.port ?? 0, mining: "automatic", stateFile })
  )
  const { process } = anvil
  try {
    const keys = await openChainKeys(keysDir)
    const chain = describeChain(keys, anvil.rpcUrl, network)
    const client = sandboxClient(anvil.rpcUrl, network.chainId)
    await client.setLoggingEnabled(false)
    const offset = options.clockFile === undefined ? 0 : readOffset(options.clockFile)
    if (offset > 0) await client.increaseTime({ seconds: Math.round(offset / 1_000) })
    if (isNew) await deploy(chain, client)
    else await resume(chain, client, store)
    for (const token of tokens)
      await deployFurther(describeChain(keys, anvil.rpcUrl, token.network), client, token.dataDir)
    // A chain that cannot be recorded would be lost at its end, so it ends at once.
    const recorder = await recordChain(anvil.rpcUrl, store, () => process.kill("SIGKILL"))
    await recorder.save()
    await writeDeployment(dataDir, chain)
    // After the end of the process, another chain may listen on the same port.
    let isRunning = true
    const stopMining = startMining(client)
    void process.exited.then(() => {
      isRunning = false
      stopMining()
    })
    return {
      ...chain,
      pid: process.pid,
      port: anvil.port,
      exited: process.exited,
      save: async () => {
        if (!isRunning) throw new Error("The chain has ended")
        await recorder.save()
      },
      stop: async () => {
        stopMining()
        if (isRunning) await recorder.close()
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

/** Deploys a further token, unless the chain has it. */
const deployFurther = async (token: ChainDescription, client: SandboxClient, dataDir: string): Promise<void> => {
  if ((await client.getCode({ address: token.asset })) === undefined) await deploy(token, client)
  await mkdir(dataDir, { recursive: true })
  await writeDeployment(dataDir, token)
}

/** More blocks than a killed chain can have mined without journaling them. */
const spareBlocks = 32

/**
 * Mines empty blocks beyond those of the journal, so that block numbers which a service stored earlier stay lower than
 * new ones. They also provide recent blocks with readable state, which loaded blocks lack.
 */
const resume = async (chain: ChainDescription, client: SandboxClient, store: ChainStore): Promise<void> => {
  const code = await client.getCode({ address: chain.asset })
  if (code === undefined) throw new Error("keys.json does not match the chain's state: the token is not deployed")
  await installContracts(client, chain)
  const height = Number(await client.getBlockNumber())
  const journaled = store.journal().at(-1)?.number ?? height
  await client.mine({ blocks: Math.max(0, journaled - height) + spareBlocks })
}

/**
 * Mines a block every second, so that time and finality advance without transactions, and then whatever anvil has left
 * waiting. Returns a function that stops it.
 *
 * Anvil's own `--block-time` keeps the states of 1,500 blocks in memory in spite of its limit: half a gigabyte after an
 * hour, three after five.
 */
const startMining = (client: SandboxClient): (() => void) => {
  let isMining = false
  const memory = newPoolMemory()
  const timer = setInterval(() => {
    // A busy chain skips blocks.
    if (isMining) return
    isMining = true
    client
      .mine({ blocks: 1 })
      .then(() => freeTransactions(client, memory))
      // `exited` reports the end of the chain.
      .catch(() => undefined)
      .finally(() => (isMining = false))
  }, 1_000)
  return () => clearInterval(timer)
}
