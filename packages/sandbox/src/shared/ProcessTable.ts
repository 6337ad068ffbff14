import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** A running process in the system's process table. */
export interface ProcessEntry {
  readonly parent: number
  readonly command: ReadonlyArray<string>
}

/** Returns undefined if the process does not exist or is a zombie. */
export const lookUpProcess = (pid: number): ProcessEntry | undefined =>
  process.platform === "linux" ? readProc(pid) : askPs(pid)

/** Cheaper than `lookUpProcess`. */
export const isRunning = (pid: number): boolean => {
  if (process.platform === "linux") return readStat(pid) !== undefined
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Returns the fields after the command, which is in parentheses and can contain any character; see proc(5). */
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
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
    return { parent: Number(fields[1]), command }
  } catch {
    return undefined
  }
}

const askPs = (pid: number): ProcessEntry | undefined => {
  try {
    const options = { encoding: "utf8", stdio: "pipe" } as const
    const line = execFileSync("ps", ["-o", "ppid=,stat=,command=", "-p", `${pid}`], options)
    const [parent, state, ...command] = line.trim().split(/\s+/)
    return state === undefined || state.startsWith("Z") ? undefined : { parent: Number(parent), command }
  } catch {
    return undefined
  }
}
