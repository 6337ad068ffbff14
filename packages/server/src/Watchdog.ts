import { url } from "node:inspector"
import { extname } from "node:path"
import { Worker } from "node:worker_threads"

/** The part of the time between two checks. */
const BEATS_PER_CHECK = 2

/** When a process counts as blocked. */
export interface WatchdogLimits {
  readonly checkEveryMillis: number
  /** Counted in checks, so that the time in which the whole process was stopped does not count. */
  readonly checks: number
  /** A busy machine prolongs a turn, but not by processor time. */
  readonly processorSeconds: number
}

const LIMITS: WatchdogLimits = { checkEveryMillis: 1_000, checks: 30, processorSeconds: 10 }

export interface WatchdogData {
  /** Its first number grows with the turns of the event loop. */
  readonly beats: Int32Array<SharedArrayBuffer>
  /** The number of this process among the workers of a server. */
  readonly worker: number | undefined
  readonly limits: WatchdogLimits
}

/**
 * Starts a thread that ends this process when its event loop makes no turn for 30 s, or for 10 s of processor time, after
 * it has logged the stack of the code that blocks it. Nothing else could: a blocked process answers no signal either.
 */
export const startWatchdog = (worker?: number, limits = LIMITS): void => {
  // A debugger may hold the event loop at a breakpoint.
  if (url() !== undefined) return
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: WatchdogData = { beats, worker, limits }
  setInterval(() => Atomics.add(beats, 0, 1), limits.checkEveryMillis / BEATS_PER_CHECK).unref()
  new Worker(new URL(`watchdogMain${extname(import.meta.url)}`, import.meta.url), { workerData }).unref()
}
