import { readdirSync, readFileSync } from "node:fs"

/** The resources that a process has used, by proc(5). */
export interface ProcessUsage {
  /** Resident memory, in bytes. */
  readonly residentBytes: number
  /** The part of it that no file backs: heaps and buffers. */
  readonly privateBytes: number
  /** The most resident memory so far: VmHWM. */
  readonly peakBytes: number
  /** Processor time since its start. */
  readonly cpuMillis: number
}

/** Clock ticks a second: fixed at 100 on every Linux that Node runs on. */
const MILLIS_PER_TICK = 10

interface Stat {
  readonly parent: number
  readonly cpuMillis: number
  /** Of the children that have ended. */
  readonly endedCpuMillis: number
}

const statOf = (pid: number | string): Stat => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const millis = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) * MILLIS_PER_TICK
  return { parent: Number(fields[1]), cpuMillis: millis(11), endedCpuMillis: millis(13) }
}

export const usageOf = (pid: number): ProcessUsage => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const bytesOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? Number.NaN) * 1024
  return {
    residentBytes: bytesOf("VmRSS"),
    privateBytes: bytesOf("RssAnon"),
    peakBytes: bytesOf("VmHWM"),
    cpuMillis: statOf(pid).cpuMillis
  }
}

/** The processes of this machine, by their ids. */
const allStats = (): ReadonlyMap<number, Stat> => {
  const stats = new Map<number, Stat>()
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue
    try {
      stats.set(Number(entry), statOf(entry))
    } catch (error) {
      // It ended in the meantime.
      if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")))
        throw error
    }
  }
  return stats
}

/** Processor time of a process and its siblings, for example all processes of a database server. */
export const familyCpuMillis = (member: number): number => {
  const { parent } = statOf(member)
  return [...allStats().values()].reduce((sum, stat) => sum + (stat.parent === parent ? stat.cpuMillis : 0), 0)
}

/** Processor time of a process and of those that it started: the workers of a server, and the readers of its mail. */
export const treeCpuMillis = (pid: number): number => {
  const stats = allStats()
  const sum = (of: number): number => {
    const { cpuMillis = 0, endedCpuMillis = 0 } = stats.get(of) ?? {}
    return [...stats].reduce(
      (millis, [id, { parent }]) => millis + (parent === of ? sum(id) : 0),
      cpuMillis + endedCpuMillis
    )
  }
  return sum(pid)
}
