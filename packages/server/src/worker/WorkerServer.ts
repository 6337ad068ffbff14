import type { CommandContext } from "@agentos/node/command-line"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { log, logWritten, relayLines } from "../output/ProgramOutput.ts"
import { reportReady } from "../output/ServiceManager.ts"
import { startWatchdog } from "../Watchdog.ts"
import { ClusterWorkers } from "./ClusterWorkers.ts"
import { WorkerGroup, type WorkerGroupHost } from "./WorkerGroup.ts"

/** How long the server waits for the last lines of its workers' logs, in milliseconds. */
const LOGS_WITHIN = 1_000

const logLine: WorkerGroupHost["log"] = (level, message, fields) =>
  Effect.runSync(Effect.logWithLevel(level)(message).pipe(Effect.annotateLogs({ ...fields }), Effect.provide(log)))

/**
 * Runs a server of several workers until SIGTERM or SIGINT, and returns its exit status. SIGHUP replaces the workers.
 * `ownVariables` are those that each worker reads again.
 */
export const superviseWorkers = async (
  { host }: CommandContext,
  count: number,
  ownVariables: ReadonlyArray<string>
): Promise<number> => {
  const workers = new ClusterWorkers({ ownVariables, relay: relayLines })
  const group = new WorkerGroup(count, {
    fork: (number, onMessage) => workers.fork(number, onMessage),
    log: logLine,
    now: host.now,
    onReady: (listening) => {
      host.stdout.write(`${JSON.stringify({ event: "listening", ...listening, pid: process.pid })}\n`)
      reportReady()
    }
  })
  const roll = () => {
    logLine("Info", "reading the settings again", {})
    void group.roll()
  }
  process.on("SIGHUP", roll)
  // The second signal ends this process at once.
  process.on("exit", group.kill)
  host.signal.addEventListener("abort", group.stop, { once: true })
  if (host.signal.aborted) return 0
  startWatchdog()
  const status = await group.run()
  process.off("SIGHUP", roll)
  await Promise.race([workers.relayed(), sleep(LOGS_WITHIN, undefined, { ref: false })])
  await logWritten()
  return status
}
