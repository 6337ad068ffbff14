import { type ChildProcess, spawn } from "node:child_process"
import { childEnvironment } from "../host/ChildEnvironment.ts"
import type { Host } from "../host/Host.ts"
import { plainJson } from "../output/Plain.ts"
import type { TailEvent } from "./Delivery.ts"
import type { Handled } from "./Worker.ts"

/** How long a command may take to end once it is told to. */
const GRACE_MILLIS = 5_000

/**
 * Runs a command line of the shell for an event: the event as one line of JSON on its standard input, its id and type in
 * the environment, which holds no secrets of this program. It is handled when the command ends with 0. An interruption ends the command, and whatever it
 * answers then counts for nothing.
 */
export const runCommand = async (host: Host, command: string, event: TailEvent): Promise<Handled> => {
  if (host.signal.aborted) return { _tag: "Interrupted" }
  const child = spawn(command, {
    shell: true,
    cwd: host.workingDirectory,
    env: { ...childEnvironment(host), AGENTOS_EVENT_ID: event.eventId, AGENTOS_EVENT_TYPE: event.type },
    // In a group of its own, so that Ctrl-C in the terminal reaches it by way of this program alone, with all that it has started.
    detached: process.platform !== "win32",
    stdio: ["pipe", "inherit", "inherit"]
  })
  let killing: NodeJS.Timeout | undefined
  const end = (): void => {
    signal(child, "SIGTERM")
    killing = setTimeout(() => signal(child, "SIGKILL"), GRACE_MILLIS)
  }
  host.signal.addEventListener("abort", end, { once: true })
  try {
    // A command that does not read its input may be gone before it is written.
    child.stdin.on("error", () => {})
    child.stdin.end(`${plainJson(event)}\n`)
    const why = await outcomeOf(child)
    if (host.signal.aborted) return { _tag: "Interrupted" }
    return why === undefined ? { _tag: "Done" } : { _tag: "Failed", why }
  } finally {
    host.signal.removeEventListener("abort", end)
    clearTimeout(killing)
  }
}

const outcomeOf = (child: ChildProcess): Promise<string | undefined> =>
  new Promise((resolve) => {
    child.once("error", (error) => resolve(`the command could not be run (${error.message})`))
    child.once("exit", (code, killedBy) =>
      resolve(code === 0 ? undefined : `the command ended ${killedBy === null ? `with ${code}` : `by ${killedBy}`}`)
    )
  })

const signal = (child: ChildProcess, name: NodeJS.Signals): void => {
  if (child.pid === undefined || child.exitCode !== null) return
  if (process.platform === "win32") return void child.kill(name)
  try {
    process.kill(-child.pid, name)
  } catch (error) {
    // All of the group may be gone by now.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
  }
}
