import { readFileSync } from "node:fs"

/** What a process of this machine has used, as Linux counts it (proc(5)). */
export interface ProcessUsage {
  /** Resident memory, in bytes. */
  readonly residentBytes: number
  /** Of processor time since its start. */
  readonly cpuMillis: number
}

/** Clock ticks a second: fixed at 100 on every Linux that Node runs on. */
const MILLIS_PER_TICK = 10

export const usageOf = (pid: number): ProcessUsage => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return {
    residentBytes: Number(resident?.[1] ?? Number.NaN) * 1024,
    cpuMillis: (Number(fields[11]) + Number(fields[12])) * MILLIS_PER_TICK
  }
}
