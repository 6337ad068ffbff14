import { builtProgram } from "@agentos/cli/testing"
import type { SandboxDescription } from "@agentos/sandbox"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { copyPrepared } from "../support/PreparedData.ts"
import { useProgramBundle } from "../support/ProgramBundle.ts"

/** `agentctl dev`, with a home and data of its own, on free ports. */
export class DevProgram {
  /** Where the sandbox keeps its data. */
  readonly directory: string
  /** Where the profile is. */
  readonly home: string
  readonly process: ChildProcess
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number | null>
  /** The document that it printed when the sandbox served. */
  readonly document: Promise<Readonly<Record<string, unknown>>>
  #said = ""

  private constructor(program: string, directory: string, home: string) {
    this.directory = directory
    this.home = home
    const child = spawn(process.execPath, [program, "dev", "--port", "0", "--data", directory, "--json"], {
      env: { ...process.env, AGENTOS_HOME: home },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.process = child
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject)
      child.once("close", resolve)
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#said += text))
    this.document = new Promise((resolve, reject) => {
      let printed = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text
        if (printed.endsWith("}\n")) resolve(JSON.parse(printed) as Readonly<Record<string, unknown>>)
      })
      child.once("close", () => reject(new Error(`agentctl dev ended before it was ready:\n${this.#said}`)))
    })
  }

  /** Starts it, and waits until the sandbox serves. */
  static async start(): Promise<DevProgram> {
    await useProgramBundle()
    const directory = await mkdtemp(join(tmpdir(), "agentos-"))
    await copyPrepared(directory, ["chain", "server", "database"])
    const dev = new DevProgram(await builtProgram(), directory, await mkdtemp(join(tmpdir(), "agentctl-")))
    await dev.document
    return dev
  }

  /** What it said on standard error so far. */
  get said(): string {
    return this.#said
  }

  async describe(): Promise<SandboxDescription> {
    return JSON.parse(await readFile(join(this.directory, "sandbox.json"), "utf8")) as SandboxDescription
  }

  /** Presses Ctrl-C, if it still runs, and answers its exit code. */
  interrupt(): Promise<number | null> {
    if (this.process.exitCode === null) this.process.kill("SIGINT")
    return this.ended
  }

  /** Ends it, and takes away what it has written. */
  async stop(): Promise<void> {
    await this.interrupt()
    await rm(this.directory, { recursive: true, force: true })
    await rm(this.home, { recursive: true, force: true })
  }
}
