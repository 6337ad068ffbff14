import { readdirSync, readFileSync } from "node:fs"

/** The resources that a process has used, by proc(5). */
export interface ProcessUsage {
  /** Resident memory, in bytes. */
  readonly residentBytes: number
  /** Processor time since its start. */
  readonly cpuMillis: number
}

/** Clock ticks a second: fixed at 100 on every Linux that Node runs on. */
const MILLIS_PER_TICK = 10

interface Stat {
  readonly parent: number
  readonly cpuMillis: number
}

const statOf = (pid: number | string): Stat => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { parent: Number(fields[1]), cpuMillis: (Number(fields[11]) + Number(fields[12])) * MILLIS_PER_TICK }
}

export const usageOf = (pid: number): ProcessUsage => {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return { residentBytes: Number(resident?.[1] ?? Number.NaN) * 1024, cpuMillis: statOf(pid).cpuMillis }
}

/** Processor time of a process and its siblings, for example all processes of a database server. */
export const familyCpuMillis = (member: number): number => {
  const { parent } = statOf(member)
  let millis = 0
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = statOf(entry)
      if (stat.parent === parent) millis += stat.cpuMillis
    } catch (error) {
      // It ended in the meantime.
      if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")))
        throw error
    }
  }
  return millis
}
