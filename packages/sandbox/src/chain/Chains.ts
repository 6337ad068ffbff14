import { mkdir } from "node:fs/promises"
import { type Chain, type ChainOptions, startChain } from "./Chain.ts"
import { openChainKeys } from "./ChainDescription.ts"
import { tetherNetwork, usdcNetwork } from "./SandboxNetwork.ts"

export interface ChainsOptions extends Pick<ChainOptions, "dataDir" | "port" | "clockFile"> {
  /** The second chain, and the directory of its further token. */
  readonly tether?: Pick<ChainOptions, "dataDir" | "port"> & { readonly usdcDir?: string }
}

/** The running chains of a sandbox. */
export interface Chains {
  readonly first: Chain
  readonly tether: Chain | undefined
  /** Resolves with the pid of the first anvil that has ended, when the other has saved its state and stopped. */
  readonly exited: Promise<Awaited<Chain["exited"]> & { readonly pid: number }>
  /** Saves the states and stops the chains. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the chains of a sandbox in this process, each with an anvil of its own: 7 MB. A process for each would cost 60 MB
 * more and half a second of processor time.
 */
export const startChains = async ({ tether: second, ...options }: ChainsOptions): Promise<Chains> => {
  await mkdir(options.dataDir, { recursive: true })
  // Before both of them look for the keys.
  await openChainKeys(options.dataDir)
  const [first, tether] = await Promise.all([
    startChain(options),
    second &&
      startChain({
        ...options,
        ...second,
        keysDir: options.dataDir,
        network: tetherNetwork,
        tokens: second.usdcDir === undefined ? [] : [{ network: usdcNetwork, dataDir: second.usdcDir }]
      })
  ])
  // In this order, because the next start of a sandbox waits for the first anvil.
  const stop = async () => {
    await tether?.stop()
    await first.stop()
  }
  const chains = tether === undefined ? [first] : [first, tether]
  const ended = Promise.race(chains.map(async ({ exited, pid }) => ({ ...(await exited), pid })))
  return { first, tether, exited: ended.then((exit) => stop().then(() => exit)), stop }
}
