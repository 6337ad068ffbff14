import { rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { privateKeyToAddress } from "viem/accounts"
import { describeChain, readChainDescription } from "../chain/ChainDescription.ts"
import { createChainKeys, readChainKeys } from "../chain/ChainKeys.ts"
import { openDataDirectory, type DataDirectory } from "./DataDirectory.ts"
import { explain, StartRefused } from "./Failure.ts"
import { findFreePorts, isPortFree } from "./FreePort.ts"
import { openLog } from "./LogFile.ts"
import { isRunning } from "./ProcessTable.ts"
import {
  baseUrl,
  type ChildName,
  emailDomain,
  facilitatorUrl,
  programs,
  relayFaultsUrl,
  type RunLayout
} from "./Programs.ts"
import { readSandboxFile, type SandboxDescription, type SandboxProcesses, writeSandboxFile } from "./SandboxFile.ts"
import { prepareServerFiles } from "./ServerFiles.ts"
import type { StartOptions } from "./StartOptions.ts"
import { superviseChild, type SupervisedChild } from "./SupervisedChild.ts"
import { lockData } from "./SupervisorLock.ts"

/** A sandbox that runs. */
export interface Supervisor {
  readonly data: DataDirectory
  readonly description: SandboxDescription
  /** Ends everything that was started: the server first, while all that it works with is still there. */
  readonly stop: () => Promise<void>
}

const host = "127.0.0.1"
const walletCount = 5

/** The server may finish what it is at; the rest has nothing to finish. Together they stay under ten seconds. */
const serverGraceMillis = 8_500
const graceMillis = 1_200

/**
 * Starts the sandbox of a data directory, and resolves once all of it serves and `sandbox.json` says so. What dies
 * later is started again with the same data and ports, and `report` hears of it. An abort of `signal` ends a start
 * that is under way, with a rejection.
 */
export const startSandbox = async (
  options: Omit<StartOptions, "tour">,
  report: (line: string) => void,
  signal: AbortSignal
): Promise<Supervisor> => {
  const data = await openDataDirectory(options.dataDir).catch((error: unknown) => {
    throw new StartRefused(`${options.dataDir} can't hold the data: ${explain(error)}`)
  })
  const unlock = lockData(data.lockFile, data.root)
  try {
    await leftoversGone(data)
    const run = await layOut(data, options.port)
    const sandbox = await startChildren(run, report, signal)
    return {
      data,
      description: sandbox.description,
      stop: async () => {
        await sandbox.stop()
        unlock()
      }
    }
  } catch (error) {
    unlock()
    throw error
  }
}

const leftoverMillisMax = 10_000

/** After a supervisor was killed, its children need a moment to end. They hold files and ports until then. */
const leftoversGone = async (data: DataDirectory): Promise<void> => {
  const before = await readSandboxFile(data.sandboxFile).catch(() => undefined)
  const pids = Object.values(before?.processes ?? {})
  const deadline = performance.now() + leftoverMillisMax
  while (pids.some(isRunning) && performance.now() < deadline) await sleep(50)
  await rm(data.sandboxFile, { force: true })
}

/** Decides where everything will be, before any of it runs. */
const layOut = async (data: DataDirectory, httpPort: number): Promise<RunLayout> => {
  if (httpPort !== 0 && !(await isPortFree(httpPort))) {
    throw new StartRefused(`Port ${httpPort} is taken. Choose another with --port N; 0 takes a free one.`)
  }
  const [http = 0, smtp = 0, chain = 0, facilitator = 0, relay = 0, relayFaults = 0] = await findFreePorts(6, httpPort)
  const [keys, files, deployed] = await Promise.all([
    readChainKeys(data.chain).then((kept) => kept ?? createChainKeys(data.chain, walletCount)),
    prepareServerFiles(data.server, emailDomain),
    readChainDescription(data.chain)
  ])
  return {
    data,
    host,
    ports: { http: httpPort === 0 ? http : httpPort, smtp, chain, facilitator, relay, relayFaults },
    chain: describeChain(keys, `http://${host}:${chain}`),
    isNewChain: deployed === undefined,
    files
  }
}

const startChildren = async (run: RunLayout, report: (line: string) => void, signal: AbortSignal) => {
  const { data } = run
  let processes: SandboxProcesses = { server: 0, chain: 0, facilitator: 0, relay: 0 }
  let announced = false
  let written: Promise<void> = Promise.resolve()
  const describe = () => descriptionOf(run, processes)
  const announce = (): Promise<void> =>
    (written = written.then(() => (announced ? writeSandboxFile(data.sandboxFile, describe()) : undefined)))

  const supervised = Object.entries(programs(run)).map(([key, program]) => {
    const name = key as ChildName
    const child = superviseChild(program, openLog(join(data.logs, `${name}.log`)), {
      onDied: (how) => report(`The ${program.name} ${how}; starting it again.`),
      onStuck: (error) => report(`${explain(error)}\nIt is tried again every second.`),
      onServing: (pid) => {
        processes = { ...processes, [name]: pid }
        void announce().then(
          () => report(`The ${program.name} serves again, as process ${pid}.`),
          (error: unknown) => report(String(error))
        )
      }
    })
    return { name, child }
  })
  const childOf = (name: ChildName): SupervisedChild => supervised.find((one) => one.name === name)!.child

  const stop = async (): Promise<void> => {
    await childOf("server").stop(serverGraceMillis)
    await Promise.all(supervised.map(({ child }) => child.stop(graceMillis)))
    await written.catch(() => undefined)
    await rm(data.sandboxFile, { force: true })
  }

  try {
    const aborted = new Promise<never>((_, reject) => {
      const abort = () => reject(new StartRefused("Stopped before it was ready."))
      if (signal.aborted) abort()
      signal.addEventListener("abort", abort)
    })
    const start = async (name: ChildName): Promise<void> => {
      const pid = await childOf(name).start()
      processes = { ...processes, [name]: pid }
    }
    const chain = start("chain")
    const others = [start("facilitator"), start("relay")]
    // A new chain answers before it has a token, and the server looks for that once.
    const server = run.isNewChain ? chain.then(() => start("server")) : start("server")
    await Promise.race([aborted, Promise.all([chain, ...others, server])])
    announced = true
    await announce()
    return { description: describe(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const descriptionOf = (run: RunLayout, processes: SandboxProcesses): SandboxDescription => {
  const { asset, assetName, assetVersion, decimals, network, payTo, refundKey, rpcUrl, wallets } = run.chain
  return {
    baseUrl: baseUrl(run),
    websocketUrl: `ws://${host}:${run.ports.http}/api/v1/events/socket`,
    emailDomain,
    mail: {
      host,
      port: run.ports.smtp,
      relayPort: run.ports.relay,
      relayFaultsUrl: relayFaultsUrl(run),
      outboxDir: run.data.outbox
    },
    chain: {
      rpcUrl,
      network,
      asset,
      assetName,
      assetVersion,
      decimals,
      payTo,
      refundWallet: privateKeyToAddress(refundKey)
    },
    facilitatorUrl: facilitatorUrl(run),
    wallets,
    processes
  }
}
