import { rm } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { startChildren } from "./Children.ts"
import { type DataDirectory, describeUnseen, openDataDirectory, type Storage } from "./DataDirectory.ts"
import { explain, StartRefused } from "./Failure.ts"
import { isRunning } from "./ProcessTable.ts"
import { layOut } from "./RunLayout.ts"
import { readSandboxFile, type SandboxDescription } from "./SandboxFile.ts"
import type { StartOptions } from "./StartOptions.ts"
import { lockData } from "./SupervisorLock.ts"
import { checkAllowedWebhook } from "./Telephony.ts"

/** A sandbox that runs. */
export interface Supervisor {
  readonly data: DataDirectory
  readonly description: SandboxDescription
  /** Ends everything that was started: the servers first, while all that they work with is still there. */
  readonly stop: () => Promise<void>
}

const wallets = 5

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
  if (options.allowWebhook !== undefined) await checkAllowedWebhook(options.allowWebhook)
  const storage = storageOf(options)
  const data = await openDataDirectory(options.dataDir, storage).catch((error: unknown) => {
    throw new StartRefused(`${options.dataDir} can't hold the data: ${explain(error)}`)
  })
  const unlock = lockData(data.lockFile, data.root)
  try {
    await leftoversGone(data)
    for (const sentence of describeUnseen(data.root, storage)) report(sentence)
    const run = await layOut(data, { ...options, wallets })
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

/** An embedded database has one server. */
const storageOf = ({ databaseUrl, servers }: Pick<StartOptions, "databaseUrl" | "servers">): Storage => {
  if (databaseUrl !== undefined) return "given"
  return servers === 1 ? "embedded" : "own"
}

const leftoverMillisMax = 10_000

/** After a supervisor was killed, its children need a moment to end. They hold files and ports until then. */
const leftoversGone = async (data: DataDirectory): Promise<void> => {
  const before = await readSandboxFile(data.sandboxFile).catch(() => undefined)
  const pids = [...Object.values(before?.processes ?? {}), ...(before?.servers ?? []).map(({ pid }) => pid)]
  const deadline = performance.now() + leftoverMillisMax
  while (pids.some(isRunning) && performance.now() < deadline) await sleep(50)
  await rm(data.sandboxFile, { force: true })
}
