import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, renameSync, statSync } from "node:fs"
import { basename } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type GuardedProcess, type ProcessExit, spawnGuarded } from "../shared/GuardedProcess.ts"

/** A Node program that the supervisor runs. */
export interface ChildProgram {
  /** The name in messages. */
  readonly name: string
  readonly module: string
  readonly arguments?: ReadonlyArray<string>
  readonly environment: NodeJS.ProcessEnv
  /** Options of Node itself. */
  readonly nodeOptions?: ReadonlyArray<string>
  /** Whether it stops when its stdin closes. Other programs are killed when the supervisor ends. */
  readonly watchesStdin: boolean
}

/** A program that is ready. */
export interface ServingProcess {
  /** The pid of the process that serves, which can be a child of the program. */
  readonly pid: number
  readonly exited: Promise<ProcessExit>
}

/** A program ended or timed out before it was ready. */
export class ChildFailed extends Error {
  readonly log: LogFile
  constructor(name: string, problem: string, log: LogFile) {
    super(`The ${name} ${problem}`)
    this.log = log
  }
}

/** Generous, because a busy machine can be slow. */
const readyMillisMax = 120_000

/**
 * Starts a program and resolves when it prints its ready line: one line of JSON on stdout with its `pid`. Other output
 * goes to the log. Calls `onSpawn` as soon as the process exists.
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
  await outputRead(child)
  const problem = outcome === undefined ? `was not ready within ${readyMillisMax / 1_000} s` : describeExit(outcome)
  throw new ChildFailed(program.name, problem, log)
}

/** How long the output of an ended program may take to arrive. A process that it left behind keeps the pipes open. */
const outputMillisMax = 1_000

/** Resolves when the output of an ended program has arrived in its log, which may be after its exit. */
export const outputRead = async ({ stderr, stdout }: GuardedProcess): Promise<void> => {
  const pipes = [stderr, stdout].filter((pipe) => !pipe.closed)
  const read = Promise.all(pipes.map((pipe) => once(pipe, "close")))
  await Promise.race([read, sleep(outputMillisMax, undefined, { ref: false })])
}

export const describeExit = ({ code, signal }: ProcessExit): string =>
  signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`

const launch = (program: ChildProgram): Promise<GuardedProcess> => {
  const { environment, module, nodeOptions = [], watchesStdin } = program
  const args = [...nodeOptions, module, ...(program.arguments ?? [])]
  return watchesStdin ? spawnWithStdin(args, environment) : spawnGuarded(process.execPath, args, { env: environment })
}

/** Uses a separate process group, so that Ctrl-C reaches only the supervisor, which stops the child in order. */
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

/** Returns the pid in a ready line: `{"ready":…}` of a stand-in, or `{"event":"listening"}` of the server. */
const pidOf = (line: string): number | undefined => {
  if (!line.startsWith("{")) return undefined
  try {
    const message = JSON.parse(line) as Record<string, unknown>
    const isReady = "ready" in message || message["event"] === "listening"
    return isReady && typeof message["pid"] === "number" ? message["pid"] : undefined
  } catch {
    return undefined
  }
}

/** The log of one child. It holds at most twice `bytesMax`: the current file and the one before. */
export type LogFile = ReturnType<typeof openLog>

const bytesMax = 8 * 1_024 * 1_024
const tailCharactersMax = 4_000
const tailLinesMax = 20

/** Starts a new log and renames the previous one to `.1`. */
export const openLog = (path: string) => {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let last = ""
  const rotate = () => {
    if (size > 0) renameSync(path, `${path}.1`)
    size = 0
  }
  rotate()
  return {
    path,
    write: (text: string | Uint8Array): void => {
      if (size > bytesMax) rotate()
      size += text.length
      last = (last + (typeof text === "string" ? text : Buffer.from(text).toString())).slice(-tailCharactersMax)
      try {
        appendFileSync(path, text, { mode: 0o600 })
      } catch (error) {
        // A full disk or a removed directory must not stop the sandbox.
        last = `${last}\n${basename(path)} could not be written: ${String(error)}\n`
      }
    },
    /** Returns the last lines of this run. */
    tail: (): string => last.trimEnd().split("\n").slice(-tailLinesMax).join("\n")
  }
}
