import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { SandboxDescription } from "@agentos/sandbox"
import { copyPrepared } from "./PreparedData.ts"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/sandbox/main"))

export interface Sandbox {
  readonly directory: string
  readonly process: ChildProcess
  /** What it printed so far. */
  readonly output: () => string
  readonly describe: () => Promise<SandboxDescription>
  /** Ends it as a person does, and answers its exit status. */
  readonly stop: () => Promise<number | null>
}

export interface SandboxOptions {
  /** Reused, and left alone at the end, when given. */
  readonly directory?: string
  /** Whether a new directory begins with what was prepared: unless said, one of its own does, and a given one does not. */
  readonly isPrepared?: boolean
  readonly arguments?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a sandbox of its own on free ports, and waits until it says that it is ready. */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "agentos-")))
  if (options.isPrepared ?? options.directory === undefined) {
    const embedded = (options.environment?.["DATABASE_URL"] ?? "") === ""
    await copyPrepared(directory, embedded ? ["chain", "server", "database"] : ["chain", "server"])
  }
  const child = spawn(
    process.execPath,
    [MAIN, "--port", "0", "--data", directory, ...(options.arguments ?? ["--no-tour"])],
    // By the channel it learns that whoever started it is gone, however that ended.
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
