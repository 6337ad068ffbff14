import { builtProgram } from "@agentos/cli/testing"
import type { SandboxDescription } from "@agentos/sandbox"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { copyPrepared } from "../support/PreparedData.ts"
import { useProgramBundle } from "../support/ProgramBundle.ts"

/** The operator token of the sandbox. */
export const OPERATOR_TOKEN = "operator-of-the-sandbox-of-agentctl"

/** Runs `agentctl dev` with its own home and data, on free ports. */
export class DevProgram {
  /** The data folder of the sandbox. */
  readonly directory: string
  /** The AGENTOS_HOME of the process. */
  readonly home: string
  readonly process: ChildProcess
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** The JSON document that it prints when the sandbox is ready. */
  readonly document: Promise<Readonly<Record<string, unknown>>>
  #said = ""

  private constructor(program: string, directory: string, home: string) {
    this.directory = directory
    this.home = home
    const child = spawn(process.execPath, [program, "dev", "--port", "0", "--data", directory, "--json"], {
      env: { ...process.env, AGENTOS_HOME: home, AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN },
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

  /** Starts the process and waits until the sandbox is ready. */
  static async start(): Promise<DevProgram> {
    await useProgramBundle()
    const directory = await mkdtemp(join(tmpdir(), "agentos-"))
    await copyPrepared(directory, ["chain", "server", "database"])
    const dev = new DevProgram(await builtProgram(), directory, await mkdtemp(join(tmpdir(), "agentctl-")))
    await dev.document
    return dev
  }

  /** The standard error so far. */
  get said(): string {
    return this.#said
  }

  async describe(): Promise<SandboxDescription> {
    return JSON.parse(await readFile(join(this.directory, "sandbox.json"), "utf8")) as SandboxDescription
  }

  /** Sends SIGINT if the process still runs, and returns its exit code. */
  interrupt(): Promise<number | null> {
    if (this.process.exitCode === null) this.process.kill("SIGINT")
    return this.ended
  }

  /** Ends the process and deletes its files. */
  async stop(): Promise<void> {
    await this.interrupt()
    await rm(this.directory, { recursive: true, force: true })
    await rm(this.home, { recursive: true, force: true })
  }
}
