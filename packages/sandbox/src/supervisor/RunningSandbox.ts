import { rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { isRunning } from "../shared/ProcessTable.ts"
import { type ChildProgram, openLog } from "./ChildProcess.ts"
import { type DataDirectory, describeUnusedData, lockData, openDataDirectory, type Storage } from "./DataDirectory.ts"
import { programs } from "./Programs.ts"
import { checkAllowedWebhook, defaultPort, layOut, type RunLayout } from "./RunLayout.ts"
import { describeRun, readSandboxFile, type SandboxDescription, writeSandboxFile } from "./SandboxFile.ts"
import { describeError, StartError } from "./StartError.ts"
import type { StartOptions } from "./StartOptions.ts"
import { superviseChild } from "./SupervisedChild.ts"

export interface RunningSandbox {
  readonly data: DataDirectory
  readonly description: SandboxDescription
  /** Stops all processes, the servers first, while the stand-ins that they use still run. */
  readonly stop: () => Promise<void>
}

const wallets = 5

/**
 * Starts the sandbox of a data directory, and resolves when all processes are ready and `sandbox.json` is written. A
 * process that ends later is restarted with the same data and ports, which `report` receives. If `signal` is aborted
 * during the start, the start rejects.
 */
export const startSandbox = async (
  options: Omit<StartOptions, "tour">,
  report: (line: string) => void,
  signal: AbortSignal
): Promise<RunningSandbox> => {
  if (options.allowWebhook !== undefined) await checkAllowedWebhook(options.allowWebhook)
  const storage = storageOf(options)
  const data = await openDataDirectory(options.dataDir, storage).catch((error: unknown) => {
    throw new StartError(`Data directory ${options.dataDir} is not usable: ${describeError(error)}`)
  })
  const lock = lockData(data.lockFile, data.root)
  try {
    await previousRunEnded(data)
    for (const notice of describeUnusedData(data.root, storage)) report(notice)
    const run = await layOut(data, { ...options, wallets })
    const { http } = run.servers[0]
    if (options.port === undefined && http !== defaultPort) report(`Port ${defaultPort} is in use. Using port ${http}.`)
    const { description, stop } = await startProcesses(run, report, signal)
    return {
      data,
      description,
      stop: async () => {
        await stop()
        lock.release()
      }
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** An embedded database serves only one server. */
const storageOf = ({ databaseUrl, servers }: Pick<StartOptions, "databaseUrl" | "servers">): Storage => {
  if (databaseUrl !== undefined) return "external"
  return servers === 1 ? "embedded" : "managed"
}

const previousRunMillisMax = 10_000

/** Waits for the children of a killed supervisor to end. They hold files and ports until then. */
const previousRunEnded = async (data: DataDirectory): Promise<void> => {
  const previous = await readSandboxFile(data.sandboxFile).catch(() => undefined)
  const pids = [...Object.values(previous?.processes ?? {}), ...(previous?.servers ?? []).map(({ pid }) => pid)]
  const deadline = performance.now() + previousRunMillisMax
  while (pids.some(isRunning) && performance.now() < deadline) await sleep(50)
  await rm(data.sandboxFile, { force: true })
}

/**
 * Grace periods. Servers complete requests, a database writes its memory to disk, the other stand-ins have nothing to
 * complete. Their sum is below ten seconds unless two processes use up theirs.
 */
const serverGraceMillis = 8_500
const databaseGraceMillis = 5_000
const standInGraceMillis = 1_200

const startProcesses = async (
  run: RunLayout,
  report: (line: string) => void,
  signal: AbortSignal
): Promise<Pick<RunningSandbox, "description" | "stop">> => {
  const { sandboxFile } = run.data
  let isReady = false
  let written: Promise<void> = Promise.resolve()
  const describe = () => describeProcesses(run, processes)
  const updateSandboxFile = (): Promise<void> =>
    (written = written.then(() => (isReady ? writeSandboxFile(sandboxFile, describe()) : undefined)))
  const processes = createProcesses(run, report, updateSandboxFile)

  const stop = async (): Promise<void> => {
    const { postgres, servers, standIns } = processes
    await Promise.all(servers.map((server) => server.stop()))
    await Promise.all([...Object.values(standIns), ...postgres].map((standIn) => standIn.stop()))
    await written.catch(() => undefined)
    await rm(sandboxFile, { force: true })
  }

  try {
    await Promise.race([rejectOnAbort(signal), startAll(run, processes)])
    isReady = true
    await updateSandboxFile()
    return { description: describe(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Processes = ReturnType<typeof createProcesses>

/** Creates the processes without starting them. `onRestart` is called after each restart. */
const createProcesses = (run: RunLayout, report: (line: string) => void, onRestart: () => Promise<void>) => {
  const create = (program: ChildProgram, log: string, graceMillis: number) => {
    const child = superviseChild(program, openLog(join(run.data.logs, `${log}.log`)), {
      onExit: (description) => report(`The ${program.name} ${description}. Restarting it.`),
      onRestartFailed: (error) => report(`${describeError(error)}\nRetrying every second.`),
      onReady: (pid) =>
        void onRestart().then(
          () => report(`The ${program.name} is ready again (process ${pid}).`),
          (error: unknown) => report(String(error))
        )
    })
    return { ...child, stop: () => child.stop(graceMillis) }
  }
  const { postgres, servers, ...standIns } = programs(run)
  return {
    standIns: mapped(standIns, (program, name) => create(program, name, standInGraceMillis)),
    /** Empty or one. */
    postgres: postgres === undefined ? [] : [create(postgres, "postgres", databaseGraceMillis)],
    servers: servers.map((program, index) =>
      create(program, index === 0 ? "server" : `server-${index + 1}`, serverGraceMillis)
    )
  }
}

/** Replaces the values of an object. */
const mapped = <Name extends string, From, To>(
  values: Readonly<Record<Name, From>>,
  to: (from: From, name: Name) => To
) =>
  Object.fromEntries(
    (Object.entries(values) as Array<[Name, From]>).map(([name, from]) => [name, to(from, name)])
  ) as Readonly<Record<Name, To>>

/** Starts everything concurrently, except the servers: they check the token and the database only once. */
const startAll = async (run: RunLayout, processes: Processes): Promise<void> => {
  const { chain, ...others } = mapped(processes.standIns, ({ start }) => start())
  const postgres = processes.postgres.map(({ start }) => start())
  const servers = Promise.all([run.isNewChain ? chain : undefined, ...postgres]).then(() =>
    Promise.all(processes.servers.map(({ start }) => start()))
  )
  await Promise.all([chain, ...Object.values(others), servers])
}

const describeProcesses = (run: RunLayout, { postgres, servers, standIns }: Processes): SandboxDescription => {
  const pids = servers.map(({ pid }) => pid())
  return describeRun(run, pids, {
    server: pids[0] ?? 0,
    ...mapped(standIns, ({ pid }) => pid()),
    ...(postgres[0] && { postgres: postgres[0].pid() })
  })
}

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = () => reject(new StartError("Stopped before it was ready."))
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort)
  })
