import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"
import type { StandInName } from "../../src/supervisor/standInMain.ts"

/** A child process that has printed its ready line. */
export interface Child<Ready> {
  readonly process: ChildProcess
  readonly ready: Ready
  readonly exitCode: () => Promise<number | null>
}

/** Starts a module with open stdin, as a supervisor does. The process is killed after the test. */
export const startChild = async <Ready>(
  entry: URL,
  args: ReadonlyArray<string> = [],
  env: Record<string, string> = {}
): Promise<Child<Ready>> => {
  const child = spawn(process.execPath, [fileURLToPath(entry), ...args], {
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

/** Starts a stand-in in a child process. It is killed after the test. */
export const startStandIn = <Ready>(name: StandInName, options: object): Promise<Child<Ready>> =>
  startChild<Ready>(new URL("../../src/supervisor/standInMain.ts", import.meta.url), [name], {
    [`AGENTOS_SANDBOX_${name.toUpperCase()}`]: JSON.stringify(options)
  })

/** Returns the running processes of a group, without zombies. */
export const runningInGroup = (group: number): ReadonlyArray<number> =>
  spawnSync("ps", ["-A", "-o", "pid=,pgid=,stat="])
    .stdout.toString()
    .split("\n")
    .map((row) => row.trim().split(/\s+/))
    .filter(([, pgid, stat]) => Number(pgid) === group && !stat?.startsWith("Z"))
    .map(([pid]) => Number(pid))

/** Waits until all processes of a group have ended. */
export const untilGone = (group: number): Promise<void> =>
  vi.waitFor(
    () => {
      const running = runningInGroup(group)
      if (running.length > 0) throw new Error(`still running: ${running.join(", ")}`)
    },
    { timeout: 60_000, interval: 20 }
  )
