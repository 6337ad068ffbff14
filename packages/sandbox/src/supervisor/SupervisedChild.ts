import { setTimeout as sleep } from "node:timers/promises"
import type { GuardedProcess } from "../shared/GuardedProcess.ts"
import { type ChildProgram, describeExit, type LogFile, serve, type ServingProcess } from "./ChildProcess.ts"

/** Events of a child that the supervisor did not stop. */
export interface ChildEvents {
  readonly onExit: (description: string) => void
  /** A restart failed for the first time since the child was ready. Further attempts follow. */
  readonly onRestartFailed: (error: unknown) => void
  readonly onReady: (pid: number) => void
}

/** The minimum time between two starts of a program. */
const startIntervalMillis = 1_000

/** Returns a program that is restarted with the same options whenever it ends. */
export const superviseChild = (program: ChildProgram, log: LogFile, events: ChildEvents) => {
  const stopping = new AbortController()
  let running: GuardedProcess | undefined
  let startedAt = 0
  let pid = 0
  let supervision: Promise<void> = Promise.resolve()

  const startOnce = async (): Promise<ServingProcess> => {
    startedAt = performance.now()
    const serving = await serve(program, log, (process) => {
      running = process
      if (stopping.signal.aborted) process.kill("SIGKILL")
    })
    pid = serving.pid
    return serving
  }

  const restartOnExit = async (first: ServingProcess): Promise<void> => {
    for (let serving = first; ;) {
      const exit = await serving.exited
      if (stopping.signal.aborted) return
      events.onExit(describeExit(exit))
      const next = await restart()
      if (next === undefined) return
      serving = next
      events.onReady(serving.pid)
    }
  }

  /** Retries until the program is ready. Returns undefined after `stop`. */
  const restart = async (): Promise<ServingProcess | undefined> => {
    for (let failures = 0; ; failures++) {
      const delay = Math.max(0, startedAt + startIntervalMillis - performance.now())
      await sleep(delay, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return undefined
      try {
        return await startOnce()
      } catch (error) {
        log.write(`${String(error)}\n`)
        if (failures === 0 && !stopping.signal.aborted) events.onRestartFailed(error)
      }
    }
  }

  return {
    /** Starts the program and resolves with the pid of the serving process. Rejects with `ChildFailed`. */
    start: async (): Promise<number> => {
      if (stopping.signal.aborted) throw new Error(`The ${program.name} was stopped before it was started`)
      const first = startOnce()
      supervision = first.then(restartOnExit, () => undefined)
      return (await first).pid
    },
    /** Returns the pid of the serving process; 0 before the first start. */
    pid: () => pid,
    /** Sends SIGTERM, and SIGKILL after the grace period. Can be called at any time. */
    stop: async (graceMillis: number): Promise<void> => {
      stopping.abort()
      if (running !== undefined) await stopProcess(running, graceMillis)
      await supervision
    }
  }
}

const stopProcess = async (running: GuardedProcess, graceMillis: number): Promise<void> => {
  running.kill("SIGTERM")
  const timer = setTimeout(() => running.kill("SIGKILL"), graceMillis)
  await running.exited
  clearTimeout(timer)
}
