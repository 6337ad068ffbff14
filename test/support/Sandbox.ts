import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { SandboxDescription } from "@agentos/sandbox"
import { copyPrepared } from "./PreparedData.ts"
import { useProgramBundle } from "./ProgramBundle.ts"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/sandbox/main"))

export interface Sandbox {
  readonly directory: string
  readonly process: ChildProcess
  /** Returns its output so far. */
  readonly output: () => string
  readonly describe: () => Promise<SandboxDescription>
  /** Ends it by SIGTERM and returns its exit status. */
  readonly stop: () => Promise<number | null>
}

export interface SandboxOptions {
  /** An existing directory, which is not deleted at the end. By default a new one. */
  readonly directory?: string
  /** Whether to copy prepared data into the directory. By default only into a new one. */
  readonly isPrepared?: boolean
  readonly arguments?: ReadonlyArray<string>
  /** The number of payment networks. By default 1: most tests need no second chain. */
  readonly networks?: 1 | 2 | 3
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a sandbox on free ports and waits until it is ready. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  await useProgramBundle()
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "agentos-")))
  if (options.isPrepared ?? options.directory === undefined) {
    const embedded = (options.environment?.["DATABASE_URL"] ?? "") === ""
    await copyPrepared(directory, embedded ? ["chain", "server", "database"] : ["chain", "server"])
  }
  const child = spawn(
    process.execPath,
    [
      MAIN,
      "--port",
      "0",
      "--data",
      directory,
      `--networks=${options.networks ?? 1}`,
      ...(options.arguments ?? ["--no-tour"])
    ],
    // The channel tells it when this process has ended for any reason.
    { stdio: ["ignore", "pipe", "pipe", "ipc"], detached: true, env: { ...process.env, ...options.environment } }
  )
  let output = ""
  const exited = once(child, "exit")
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
        if (/^ready /m.test(output)) resolve()
      })
    }
  })
  await Promise.race([
    ready,
    exited.then(() => {
      throw new Error(`the sandbox ended before it was ready:\n${output}`)
    })
  ])
  return {
    directory,
    process: child,
    output: () => output,
    describe: async () => JSON.parse(await readFile(join(directory, "sandbox.json"), "utf8")) as SandboxDescription,
    stop: async () => {
      child.kill("SIGTERM")
      await exited
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true })
      return child.exitCode
    }
  }
}
