import { createRequire } from "node:module"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, spawnGuarded } from "../process/GuardedProcess.ts"

/** A running anvil, the Ethereum node of the Foundry project. */
export interface Anvil {
  readonly process: GuardedProcess
  readonly port: number
  readonly rpcUrl: string
}

export interface AnvilOptions {
  readonly chainId: number
  /** 0 takes a free port. */
  readonly port: number
  /** Whether each transaction is mined at once, or only when evm_mine asks for it. */
  readonly mining: "at once" | "on request"
  /** A JSON file with the state of a chain to continue. */
  readonly stateFile?: string | undefined
}

const platformPackages: Readonly<Record<string, string>> = {
  "linux-x64": "@foundry-rs/anvil-linux-amd64",
  "linux-arm64": "@foundry-rs/anvil-linux-arm64",
  "darwin-x64": "@foundry-rs/anvil-darwin-amd64",
  "darwin-arm64": "@foundry-rs/anvil-darwin-arm64"
}

/**
 * The path of the anvil binary. It ships in a package for each platform, an optional dependency of
 * `@foundry-rs/anvil`, and is resolved from there, since only that package is sure to see it.
 */
export const anvilBinary = (): string => {
  const platform = `${process.platform}-${process.arch}`
  const packageName = platformPackages[platform]
  if (packageName === undefined) throw new Error(`The sandbox chain has no anvil for ${platform}`)
  const anvilPackage = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")
  return createRequire(anvilPackage).resolve(`${packageName}/bin/anvil`)
}

/**
 * How the chain behaves.
 * - With an epoch of one slot, a block is final two blocks later.
 * - No accounts are made: anvil's own have published keys.
 * - The states of the last blocks stay in memory, enough of them to read what is final. Otherwise anvil writes each to
 *   the home directory; and each takes the more memory, the longer the chain is.
 * - Cancun is the last set of rules under which an empty block leaves the state alone. Later ones keep a ring of
 *   block hashes in storage, which costs anvil many times the memory and time for each block.
 */
const behaviour = [
  ["--slots-in-an-epoch", "1"],
  ["--accounts", "0"],
  ["--prune-history", "32"],
  ["--hardfork", "cancun"],
  ["--host", "127.0.0.1"],
  // A page in a browser has no business with a port of this machine.
  ["--no-cors"]
].flat()

const mining = {
  "at once": [],
  "on request": ["--no-mining", "--order", "fifo"]
}

/** How long a given port may still be held by the chain that ran there before. */
const portWaitMillis = 3_000
const startMillis = 15_000

/** Starts anvil and resolves once it answers. Rejects with anvil's own words when it doesn't start. */
export const startAnvil = async (options: AnvilOptions): Promise<Anvil> => {
  const deadline = performance.now() + portWaitMillis
  for (;;) {
    const outcome = await launch(options)
    if ("process" in outcome) return outcome
    const portInUse = outcome.complaint.includes("in use")
    if (!portInUse || performance.now() > deadline) throw new Error(`anvil did not start: ${outcome.complaint}`)
    await sleep(50)
  }
}

const launch = async (options: AnvilOptions): Promise<Anvil | { readonly complaint: string }> => {
  const anvil = await spawnGuarded(anvilBinary(), [
    ...behaviour,
    ...mining[options.mining],
    "--chain-id",
    String(options.chainId),
    "--port",
    String(options.port),
    ...(options.stateFile === undefined ? [] : ["--load-state", options.stateFile])
  ])
  let complaint = ""
  anvil.stderr.on("data", (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-4_000)))
  const timeout = AbortSignal.timeout(startMillis)
  const port = await Promise.race([
    listeningPort(anvil.stdout),
    anvil.exited.then(() => undefined),
    new Promise<undefined>((resolve) => timeout.addEventListener("abort", () => resolve(undefined)))
  ])
  if (port === undefined) {
    anvil.kill("SIGKILL")
    await anvil.exited
    return { complaint: timeout.aborted ? `no answer within ${startMillis} ms` : complaint.trim() }
  }
  return { process: anvil, port, rpcUrl: `http://127.0.0.1:${port}` }
}

/** Reads the port off the line that anvil prints once it listens, and goes on emptying the stream after that. */
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
