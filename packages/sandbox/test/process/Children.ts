import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"

/** An entry point that runs as a process of its own, and the line by which it said that it is ready. */
export interface Child<Ready> {
  readonly process: ChildProcess
  readonly ready: Ready
  readonly exitCode: () => Promise<number | null>
}

/** Starts an entry point with its stdin held open, as a supervisor would. It ends with the test. */
export const startChild = async <Ready>(entry: URL, env: Record<string, string> = {}): Promise<Child<Ready>> => {
  const child = spawn(process.execPath, [fileURLToPath(entry)], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const exited = once(child, "exit") as Promise<[number | null]>
  onTestFinished(() => void child.kill("SIGKILL"))
  let output = ""
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      const end = output.indexOf("\n")
      if (end >= 0) resolve(output.slice(0, end))
    })
  })
  const line = await Promise.race([firstLine, exited.then(() => undefined)])
  if (line === undefined) throw new Error(`${entry.href} ended before it was ready`)
  return { process: child, ready: JSON.parse(line) as Ready, exitCode: () => exited.then(([code]) => code) }
}

/** The processes of a group that run. One that has ended and waits for its parent to notice doesn't. */
export const runningInGroup = (group: number): ReadonlyArray<number> =>
  spawnSync("ps", ["-A", "-o", "pid=,pgid=,stat="])
    .stdout.toString()
    .split("\n")
    .map((row) => row.trim().split(/\s+/))
    .filter(([, pgid, stat]) => Number(pgid) === group && !stat?.startsWith("Z"))
    .map(([pid]) => Number(pid))

/** Waits until nothing of a process group runs any more. */
export const untilGone = (group: number): Promise<void> =>
  vi.waitFor(
    () => {
      const running = runningInGroup(group)
      if (running.length > 0) throw new Error(`still running: ${running.join(", ")}`)
    },
    { timeout: 5_000, interval: 20 }
  )
