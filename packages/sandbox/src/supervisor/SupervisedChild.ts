import { setTimeout as sleep } from "node:timers/promises"
import type { GuardedProcess } from "../process/GuardedProcess.ts"
import { type ChildProgram, describeExit, serve, type ServingProcess } from "./ChildProcess.ts"
import type { LogFile } from "./LogFile.ts"

/** What the supervisor hears of a child that it did not stop itself. */
export interface ChildEvents {
  readonly onDied: (how: string) => void
  /** An attempt to start it again came to nothing: the first after it served. The attempts go on. */
  readonly onStuck: (error: unknown) => void
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

  /** Waits for the end of what serves, and starts it again, over and over. */
  const keepServing = async (first: ServingProcess): Promise<void> => {
    for (let serving = first; ;) {
      const exit = await serving.exited
      if (stopping.signal.aborted) return
      events.onDied(describeExit(exit))
      const next = await startAgain()
      if (next === undefined) return
      serving = next
      events.onServing(serving.pid)
    }
  }

  /** Tries until it serves; undefined once it is not to serve any more. */
  const startAgain = async (): Promise<ServingProcess | undefined> => {
    for (let failures = 0; ; failures++) {
      const pause = Math.max(0, startedAt + startMillisMin - performance.now())
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return undefined
      try {
        return await startOnce()
      } catch (error) {
        log.write(`${String(error)}\n`)
        if (failures === 0 && !stopping.signal.aborted) events.onStuck(error)
      }
    }
  }

  return {
    start: async () => {
      if (stopping.signal.aborted) throw new Error(`The ${program.name} was stopped before it was started`)
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
