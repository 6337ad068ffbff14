import { createRequire } from "node:module"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, spawnGuarded } from "../shared/GuardedProcess.ts"

/** A running anvil, the Ethereum development node of Foundry. */
export interface Anvil {
  readonly process: GuardedProcess
  readonly port: number
  readonly rpcUrl: string
}

export interface AnvilOptions {
  readonly chainId: number
  /** The chain that anvil resembles, by default Ethereum. Tempo's genesis block has contracts, Permit2 among them. */
  readonly family?: "tempo"
  /** 0 selects a free port. */
  readonly port: number
  /** Mines each transaction at once, or only on evm_mine. */
  readonly mining: "automatic" | "manual"
  /** A JSON file with the state of the chain to continue. */
  readonly stateFile?: string | undefined
}

const platformPackages: Readonly<Record<string, string>> = {
  "linux-x64": "@foundry-rs/anvil-linux-amd64",
  "linux-arm64": "@foundry-rs/anvil-linux-arm64",
  "darwin-x64": "@foundry-rs/anvil-darwin-amd64",
  "darwin-arm64": "@foundry-rs/anvil-darwin-arm64"
}

/**
 * Returns the path of the anvil binary. Each platform has its own package, an optional dependency of
 * `@foundry-rs/anvil`, so the path is resolved from there.
 */
const anvilBinary = (): string => {
  const platform = `${process.platform}-${process.arch}`
  const packageName = platformPackages[platform]
  if (packageName === undefined) throw new Error(`anvil is not available for ${platform}`)
  const anvilPackage = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")
  return createRequire(anvilPackage).resolve(`${packageName}/bin/anvil`)
}

/**
 * - With an epoch of one slot, a block is final two blocks later.
 * - No accounts are created, because the keys of anvil's accounts are public.
 * - The states of the latest blocks stay in memory, which is enough to read finalized state. Without a limit, anvil
 *   writes each state to the home directory, and a state grows with the length of the chain.
 * - Cancun is the last hardfork in which an empty block does not change the state. Later ones store block hashes in a
 *   ring buffer, which multiplies anvil's memory and time per block.
 */
const chainArguments = [
  ["--slots-in-an-epoch", "1"],
  ["--accounts", "0"],
  ["--prune-history", "32"],
  ["--host", "127.0.0.1"],
  // Web pages must not reach the node.
  ["--no-cors"]
].flat()

const miningArguments = {
  automatic: [],
  manual: ["--no-mining", "--order", "fifo"]
}

/** How long the previous chain may still hold a given port. */
const portWaitMillis = 3_000
const startMillis = 15_000

/** Starts anvil and resolves when it listens. Rejects with anvil's error output if it does not start. */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  const deadline = performance.now() + portWaitMillis
  for (;;) {
    const outcome = await launch(options)
    if ("process" in outcome) return outcome
    const portInUse = outcome.errorOutput.includes("in use")
    if (!portInUse || performance.now() > deadline) throw new Error(`anvil did not start: ${outcome.errorOutput}`)
    await sleep(50)
  }
}

const launch = async (options: AnvilOptions): Promise<Anvil | { readonly errorOutput: string }> => {
  const anvil = await spawnGuarded(anvilBinary(), [
    ...chainArguments,
    ...miningArguments[options.mining],
    ...(options.family === undefined ? ["--hardfork", "cancun"] : ["--network", options.family]),
    "--chain-id",
    String(options.chainId),
    "--port",
    String(options.port),
    ...(options.stateFile === undefined ? [] : ["--load-state", options.stateFile])
  ])
  let errorOutput = ""
  anvil.stderr.on("data", (chunk: Buffer) => (errorOutput = `${errorOutput}${chunk.toString()}`.slice(-4_000)))
  const timeout = AbortSignal.timeout(startMillis)
  const port = await Promise.race([
    listeningPort(anvil.stdout),
    anvil.exited.then(() => undefined),
    new Promise<undefined>((resolve) => timeout.addEventListener("abort", () => resolve(undefined)))
  ])
  if (port === undefined) {
    anvil.kill("SIGKILL")
    await anvil.exited
    return { errorOutput: timeout.aborted ? `timed out after ${startMillis} ms` : errorOutput.trim() }
  }
  return { process: anvil, port, rpcUrl: `http://127.0.0.1:${port}` }
}

/** Reads the port from the line that anvil prints when it listens, then drains the stream. */
const listeningPort = (stdout: Readable): Promise<number> =>
  new Promise((resolve) => {
    let text = ""
    const read = (chunk: Buffer) => {
      text += chunk.toString()
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (port === undefined) return
      stdout.off("data", read)
      stdout.resume()
      resolve(Number(port))
    }
    stdout.on("data", read)
  })
