import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { vi } from "vitest"

interface Row {
  readonly pid: number
  readonly parent: number
}

/** The running processes of this machine, without zombies. */
const running = (): ReadonlyArray<Row> =>
  spawnSync("ps", ["-A", "-o", "pid=,ppid=,stat="])
    .stdout.toString()
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }))

/** Returns the ids of a process and its descendants. */
export const familyOf = (pid: number): ReadonlyArray<number> => {
  const rows = running()
  const family = rows.filter((row) => row.pid === pid).map((row) => row.pid)
  for (const member of family) family.push(...rows.filter(({ parent }) => parent === member).map((row) => row.pid))
  return family
}

/** Returns the ids of the processes that a process has started. */
export const childrenOf = (pid: number): ReadonlyArray<number> =>
  running()
    .filter(({ parent }) => parent === pid)
    .map((row) => row.pid)

/** Returns the threads of a process and of its descendants, each with its state and where the kernel holds it. Linux. */
export const threadsOf = (pid: number): string =>
  familyOf(pid)
    .flatMap((member) => readdirSync(`/proc/${member}/task`).map((thread) => `/proc/${member}/task/${thread}`))
    .map((thread) => {
      const [state] = /^State:.*$/m.exec(readFileSync(`${thread}/status`, "utf8")) ?? []
      const [name, heldIn] = ["comm", "wchan"].map((file) => readFileSync(`${thread}/${file}`, "utf8").trim())
      return `${thread} ${name}, ${state}, ${heldIn}`
    })
    .join("\n")

export const isRunning = (pid: number): boolean => running().some((row) => row.pid === pid)

/** Waits until all of them have ended. */
export const untilGone = (pids: ReadonlyArray<number>, timeoutMillis: number): Promise<void> =>
  vi.waitFor(
    () => {
      const rows = running()
      const left = pids.filter((pid) => rows.some((row) => row.pid === pid))
      if (left.length > 0) throw new Error(`still running: ${left.join(", ")}`)
    },
    { timeout: timeoutMillis, interval: 100 }
  )
