import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** What the system knows of a process that runs. */
export interface ProcessEntry {
  readonly parent: number
  /** Differs from that of every other process with the same number. */
  readonly startedAt: string
  readonly command: ReadonlyArray<string>
}

/** Looks a process up; undefined when there is none, or only its remains. */
export const lookUpProcess = (pid: number): ProcessEntry | undefined =>
  process.platform === "linux" ? readProc(pid) : askPs(pid)

/** Whether there is a process of this number, at little cost. */
export const isRunning = (pid: number): boolean => {
  if (process.platform === "linux") return readStat(pid) !== undefined
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** proc(5): what follows the command, which stands in parentheses and may hold anything. Begins with the state. */
const readStat = (pid: number): ReadonlyArray<string> | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields
  } catch {
    return undefined
  }
}

const readProc = (pid: number): ProcessEntry | undefined => {
  const fields = readStat(pid)
  if (fields === undefined) return undefined
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
    return { parent: Number(fields[1]), startedAt: `${boot} ${fields[19]}`, command }
  } catch {
    return undefined
  }
}

const askPs = (pid: number): ProcessEntry | undefined => {
  try {
    const line = execFileSync("ps", ["-o", "ppid=,stat=,lstart=,command=", "-p", `${pid}`], {
      encoding: "utf8",
      stdio: "pipe"
    })
    // lstart is five words, as in `Sat Nov 21 08:57:23 2026`.
    const [parent, state, ...rest] = line.trim().split(/\s+/)
    if (state === undefined || state.startsWith("Z")) return undefined
    return { parent: Number(parent), startedAt: rest.slice(0, 5).join(" "), command: rest.slice(5) }
  } catch {
    return undefined
  }
}
