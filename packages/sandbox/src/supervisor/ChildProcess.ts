import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, type ProcessExit, spawnGuarded } from "../process/GuardedProcess.ts"
import type { LogFile } from "./LogFile.ts"

/** A Node program that the supervisor runs. */
export interface ChildProgram {
  /** As people know it. */
  readonly name: string
  /** The path of its module. */
  readonly module: string
  readonly environment: NodeJS.ProcessEnv
  /** Options of Node's own. */
  readonly nodeOptions?: ReadonlyArray<string>
  /** Whether it ends by itself when its stdin does. One that does not is killed when the supervisor is gone. */
  readonly watchesStdin: boolean
}

/** A program that serves. */
export interface ServingProcess {
  /** Of the process that serves, which may be a child of the program's. */
  readonly pid: number
  readonly exited: Promise<ProcessExit>
}

/** A program ended, or took too long, before it served. */
export class ChildFailed extends Error {
  readonly log: LogFile
  constructor(name: string, what: string, log: LogFile) {
    super(`The ${name} ${what}`)
    this.log = log
  }
}

/** A busy machine takes its time; only what hangs takes longer. */
const readyMillisMax = 120_000

/**
 * Starts a program; once it serves it says so in one line of JSON on stdout that has its `pid`. Whatever else it
 * prints goes to its log. Calls `onSpawn` as soon as there is something to end.
 */
export const serve = async (
  program: ChildProgram,
  log: LogFile,
  onSpawn: (process: GuardedProcess) => void
): Promise<ServingProcess> => {
  const child = await launch(program)
  onSpawn(child)
  child.stderr.on("data", log.write)
  const timeout = new AbortController()
  const outcome = await Promise.race([
    readyPid(child.stdout, log),
    child.exited,
    sleep(readyMillisMax, undefined, { signal: timeout.signal }).catch(() => undefined)
  ])
  timeout.abort()
  if (typeof outcome === "number") return { pid: outcome, exited: child.exited }
  child.kill("SIGKILL")
  await child.exited
  const what = outcome === undefined ? `did not serve within ${readyMillisMax / 1_000} s` : describeExit(outcome)
  throw new ChildFailed(program.name, what, log)
}

export const describeExit = ({ code, signal }: ProcessExit): string =>
  signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`

const launch = ({ environment, module, nodeOptions = [], watchesStdin }: ChildProgram): Promise<GuardedProcess> => {
  const args = [...nodeOptions, module]
  return watchesStdin ? spawnWithStdin(args, environment) : spawnGuarded(process.execPath, args, { env: environment })
}

/** In a process group of its own, so that Ctrl-C in a terminal leaves it to the supervisor to end it in order. */
const spawnWithStdin = async (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): Promise<GuardedProcess> => {
  const child = spawn(process.execPath, args, { env, detached: true, stdio: ["pipe", "pipe", "pipe"] })
  child.stdin.on("error", () => undefined)
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  const pid = await new Promise<number>((resolve, reject) => {
    child.on("error", reject)
    child.once("spawn", () => resolve(child.pid as number))
  })
  const { stderr, stdout } = child
  return { pid, stdout, stderr, exited, kill: (signal = "SIGTERM") => void child.kill(signal) }
}

const readyPid = (stdout: Readable, log: LogFile): Promise<number> =>
  new Promise((resolve) => {
    createInterface({ input: stdout }).on("line", (line) => {
      const pid = pidOf(line)
      if (pid === undefined) log.write(`${line}\n`)
      else resolve(pid)
    })
  })

/** The pid in a line by which a program says that it serves: `{"ready":…}`, or the server's `{"event":"listening"}`. */
const pidOf = (line: string): number | undefined => {
  if (!line.startsWith("{")) return undefined
  try {
    const message = JSON.parse(line) as Record<string, unknown>
    const serves = "ready" in message || message["event"] === "listening"
    return serves && typeof message["pid"] === "number" ? message["pid"] : undefined
  } catch {
    return undefined
  }
}
