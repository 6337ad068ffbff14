import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"

/** The end of a process: an exit code or a signal. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running program that ends when the process that started it ends. */
export interface GuardedProcess {
  /** The pid of the program itself, not of a wrapper. */
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program has ended. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Sends a signal, by default SIGTERM. Does nothing after the program has ended. */
  readonly kill: (signal?: NodeJS.Signals) => void
}

export interface GuardOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The account that runs the program; by default that of this process. */
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  /** The signal that ends the program when its parent has ended. A signal other than SIGKILL must end it too. */
  readonly orphanSignal?: "SIGKILL" | "SIGINT"
}

/**
 * The shell starts a watcher in the background and then replaces itself with the program, which therefore keeps the
 * shell's pid. The watcher reads from a pipe that only the parent writes to. A line means that the program has ended;
 * end of file without a line means that the parent has ended.
 */
const script = (signal: string) =>
  `{ read -r _ <&3 || kill -${signal.replace(/^SIG/, "")} $$; } >/dev/null 2>&1 & exec "$@" 3<&-`

/**
 * Starts a program that does not watch its parent, such as a foreign binary. The program is killed when this process
 * ends by any means, SIGKILL included. Requires a POSIX shell.
 *
 * The program has no stdin. It has its own process group, so Ctrl-C in a terminal reaches only the parent, which can
 * then stop it gracefully. Read its stdout and stderr, or it blocks when the pipes are full.
 */
export const spawnGuarded = async (
  command: string,
  args: ReadonlyArray<string>,
  { orphanSignal = "SIGKILL", ...options }: GuardOptions = {}
): Promise<GuardedProcess> => {
  const child = spawn("/bin/sh", ["-c", script(orphanSignal), "sh", command, ...args], {
    ...options,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"]
  })
  const lifeline = child.stdio[3] as Writable
  // The watcher may end before the line below is written.
  lifeline.on("error", () => undefined)
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (code, signal) => {
      lifeline.end("\n")
      resolve({ code, signal })
    })
  })
  const pid = await new Promise<number>((resolve, reject) => {
    child.on("error", reject)
    child.once("spawn", () => resolve(child.pid as number))
  })
  return {
    pid,
    stdout: child.stdio[1] as Readable,
    stderr: child.stdio[2] as Readable,
    exited,
    kill: (signal = "SIGTERM") => void child.kill(signal)
  }
}

/**
 * Resolves when this process should stop: on SIGINT or SIGTERM, or when its stdin closes. A supervisor keeps that stdin
 * open while it runs, so its children also stop after its SIGKILL. With `</dev/null` the process stops at once.
 */
export const stopRequested = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve())
    for (const event of ["end", "close", "error"]) process.stdin.once(event, () => resolve())
    process.stdin.resume()
  })
