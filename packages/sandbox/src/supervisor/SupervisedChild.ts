import { setTimeout as sleep } from "node:timers/promises"
import type { GuardedProcess } from "../process/GuardedProcess.ts"
import { type ChildProgram, describeExit, serve, type ServingProcess } from "./ChildProcess.ts"
import type { LogFile } from "./LogFile.ts"

/** What the supervisor hears of a child that it did not stop itself. */
export interface ChildEvents {
  readonly onDied: (how: string) => void
  readonly onServing: (pid: number) => void
}

/** A program that is started again, just as it was, whenever it dies. */
export interface SupervisedChild {
  /** Starts it for the first time, and resolves with the serving process's id. Rejects with `ChildFailed`. */
  readonly start: () => Promise<number>
  /** Asks it to end, and makes it end once the time is over. May be called at any moment. */
  readonly stop: (graceMillis: number) => Promise<void>
}

/** Starts of one program are at least so far apart. */
const startMillisMin = 1_000

export const superviseChild = (program: ChildProgram, log: LogFile, events: ChildEvents): SupervisedChild => {
  const stopping = new AbortController()
  let running: GuardedProcess | undefined
  let startedAt = 0
  let watch: Promise<void> = Promise.resolve()

  const startOnce = (): Promise<ServingProcess> => {
    startedAt = performance.now()
    return serve(program, log, (process) => {
      running = process
      if (stopping.signal.aborted) process.kill("SIGKILL")
    })
  }

  const noteFailure = (error: unknown): undefined => {
    log.write(`${String(error)}\n`)
  }

  /** Waits for the end of what serves, and starts it again, over and over. */
  const keepServing = async (first: ServingProcess): Promise<void> => {
    let serving: ServingProcess | undefined = first
    for (;;) {
      const exit = await serving?.exited
      if (stopping.signal.aborted) return
      if (exit !== undefined) events.onDied(describeExit(exit))
      const pause = Math.max(0, startedAt + startMillisMin - performance.now())
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      serving = await startOnce().catch(noteFailure)
      if (serving !== undefined) events.onServing(serving.pid)
    }
  }

  return {
    start: async () => {
      const first = startOnce()
      watch = first.then(keepServing, () => undefined)
      return (await first).pid
    },
    stop: async (graceMillis) => {
      stopping.abort()
      if (running !== undefined) await end(running, graceMillis)
      await watch
    }
  }
}

const end = async (running: GuardedProcess, graceMillis: number): Promise<void> => {
  running.kill("SIGTERM")
  const timer = setTimeout(() => running.kill("SIGKILL"), graceMillis)
  await running.exited
  clearTimeout(timer)
}
