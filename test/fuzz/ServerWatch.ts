import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { type ProcessUsage, usageOf } from "../bench/ProcessUsage.ts"
import type { DefenseRig } from "./DefenseRig.ts"

/** The resources that the server used while it was watched, by proc(5). */
export interface ServerUsage {
  /** Largest resident memory of the server process (VmHWM, cleared when the watch begins). */
  readonly residentMaxBytes: number
  /** Largest resident memory of one mail parser process. */
  readonly parserMaxBytes: number
  readonly parserStarts: number
  /** Processor time of the server process, in percent of one core. */
  readonly cpuPercent: number
  readonly restarts: number
  /** Median resident memory early and late in the watch. */
  readonly residentEarlyBytes: number
  readonly residentLateBytes: number
}

const SAMPLE_MILLIS = 500

/** Samples the server's memory and processor time until it is stopped. */
export class ServerWatch {
  readonly #rig: Pick<DefenseRig, "serverPid">
  readonly #startedAt = performance.now()
  readonly #resident: Array<number> = []
  readonly #parsers = new Set<number>()
  #pid: number
  #restarts = 0
  #cpuBeforeMillis: number
  #cpuMillis = 0
  #residentMax = 0
  #parserMax = 0
  readonly #stopped = new AbortController()
  #sampling: Promise<void> = Promise.resolve()

  private constructor(rig: Pick<DefenseRig, "serverPid">, pid: number) {
    this.#rig = rig
    this.#pid = pid
    this.#cpuBeforeMillis = usageOf(pid).cpuMillis
    clearPeak(pid)
  }

  static async start(rig: Pick<DefenseRig, "serverPid">): Promise<ServerWatch> {
    const watch = new ServerWatch(rig, await rig.serverPid())
    watch.#sampling = watch.#sampleUntilStopped()
    // `stop` reports the failure.
    watch.#sampling.catch(() => undefined)
    return watch
  }

  async stop(): Promise<ServerUsage> {
    this.#stopped.abort()
    await this.#sampling
    const elapsed = performance.now() - this.#startedAt
    const part = (from: number, to: number) =>
      medianOf(this.#resident.slice(Math.floor(this.#resident.length * from), Math.ceil(this.#resident.length * to)))
    return {
      residentMaxBytes: this.#residentMax,
      parserMaxBytes: this.#parserMax,
      parserStarts: this.#parsers.size,
      cpuPercent: (100 * this.#cpuMillis) / elapsed,
      restarts: this.#restarts,
      residentEarlyBytes: part(0.2, 0.4),
      residentLateBytes: part(0.8, 1)
    }
  }

  /** The last sample is taken after the stop. */
  async #sampleUntilStopped(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      await sleep(SAMPLE_MILLIS, undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      await this.#sample()
    }
  }

  async #sample(): Promise<void> {
    const pid = await this.#rig.serverPid()
    if (pid !== this.#pid) {
      this.#restarts += 1
      this.#pid = pid
      this.#cpuBeforeMillis = 0
    }
    const usage = usageIfRunning(pid)
    if (usage === undefined) return
    this.#resident.push(usage.residentBytes)
    this.#residentMax = Math.max(this.#residentMax, peakOf(pid), usage.residentBytes)
    this.#cpuMillis += usage.cpuMillis - this.#cpuBeforeMillis
    this.#cpuBeforeMillis = usage.cpuMillis
    for (const child of childrenOf(pid)) {
      this.#parsers.add(child)
      this.#parserMax = Math.max(this.#parserMax, usageIfRunning(child)?.residentBytes ?? 0)
    }
  }
}

/** A process may end while it is read. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")

const ifRunning = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

const usageIfRunning = (pid: number): ProcessUsage | undefined =>
  ifRunning(() => {
    const usage = usageOf(pid)
    return Number.isNaN(usage.residentBytes) ? undefined : usage
  })

/** Since the process started, or since its peak was cleared. */
const peakOf = (pid: number): number => {
  const status = ifRunning(() => readFileSync(`/proc/${pid}/status`, "utf8")) ?? ""
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}

/** Resets VmHWM to the current resident memory. */
const clearPeak = (pid: number): void => ifRunning(() => writeFileSync(`/proc/${pid}/clear_refs`, "5"))

const childrenOf = (pid: number): ReadonlyArray<number> =>
  (ifRunning(() => readdirSync(`/proc/${pid}/task`)) ?? []).flatMap((thread) =>
    (ifRunning(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")) ?? "")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number)
  )

const medianOf = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
