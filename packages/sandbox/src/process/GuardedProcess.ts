import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"

/** How a process ended: by its own exit code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running program that can't outlive the process that started it. */
export interface GuardedProcess {
  /** The id of the program itself, not of a wrapper around it. */
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves once the program has ended. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Sends a signal (SIGTERM unless told). Does nothing once the program has ended. */
  readonly kill: (signal?: NodeJS.Signals) => void
}

export interface GuardOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Who the program runs as; by default who this process does. */
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  /** How the program is ended when its parent is gone. Another signal than SIGKILL must be sure to end it too. */
  readonly orphanSignal?: "SIGKILL" | "SIGINT"
}

/**
 * The shell leaves a watcher behind and turns into the program, which therefore has the shell's own pid.
 * The watcher holds the far end of a pipe that only the parent writes to. A line means that the program has
 * ended and nothing is to be done; an end without a line means that the parent is gone, however that came about.
 */
const script = (signal: string) =>
  `{ read -r _ <&3 || kill -${signal.replace(/^SIG/, "")} $$; } >/dev/null 2>&1 & exec "$@" 3<&-`

/**
 * Starts a program that doesn't watch for its parent's end itself, such as a foreign binary, and sees to it that
 * it is killed when this process ends by any means, SIGKILL included. Needs a POSIX shell.
 *
 * The program gets no stdin, and a process group of its own, so that Ctrl-C in a terminal reaches only its parent,
 * which can then end it in order. Its stdout and stderr have to be read, or it stalls when they are full.
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
  // The watcher may be gone before the line below is written.
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
