import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { builtProgram, compileCache } from "./BuiltProgram.ts"
import { type Outcome, runHere, skippingClock } from "./RunHere.ts"

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Standard input; empty by default. */
  readonly stdin?: string
  readonly cwd?: string
}

/** The program with an empty home. */
export interface Program {
  /** Creates an empty folder. */
  readonly folder: () => string
  /**
   * Runs a command through pipes. It runs in this process, since starting another one takes longer than most commands, with
   * a clock that each of its sleeps advances at once.
   */
  readonly run: (args: ReadonlyArray<string>, options?: RunOptions) => Promise<Outcome>
  /** Starts the published file, without input. */
  readonly start: (args: ReadonlyArray<string>, options?: RunOptions) => ChildProcess
  /** Runs the published file, for tests of the process itself, of files that processes share, and of signals. */
  readonly execute: (args: ReadonlyArray<string>, options?: RunOptions) => Promise<Outcome>
  /** Path of the published file. */
  readonly file: () => string
}

/** Waits for a process to exit and returns its output. */
export const outcomeOf = (child: ChildProcess): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    let stdout = ""
    let stderr = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Sets up the program for a test file, without the configuration of this machine. */
export const useProgram = (): Program => {
  let root = ""
  let built = ""
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "agentctl-"))
    built = await builtProgram()
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const file = () => built
  const folder = () => mkdtempSync(join(root, "folder-"))
  const place = ({ cwd, env = {} }: RunOptions) => ({
    cwd: cwd ?? folder(),
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: join(root, "nobody"),
      AGENTOS_HOME: folder(),
      ...compileCache(),
      ...env
    }
  })
  const start = (args: ReadonlyArray<string>, options: RunOptions = {}) =>
    spawn(process.execPath, [file(), ...args], { ...place(options), stdio: ["pipe", "pipe", "pipe"] })
  return {
    file,
    folder,
    start,
    run: (args, options = {}) => runHere(args, { ...place(options), clock: skippingClock(), stdin: options.stdin }),
    execute: (args, options = {}) => {
      const child = start(args, options)
      const outcome = outcomeOf(child)
      // A program that reads nothing may exit before this is written.
      child.stdin?.on("error", () => {})
      child.stdin?.end(options.stdin ?? "")
      return outcome
    }
  }
}
