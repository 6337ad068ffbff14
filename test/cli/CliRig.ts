import { builtProgram, compileCache, runHere } from "@agentos/cli/testing"
import { readChainDescription, type SandboxDescription } from "@agentos/sandbox"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll } from "vitest"
import { TokenLog } from "../support/TokenLog.ts"
import { Treasury } from "../support/Treasury.ts"
import { DevProgram } from "./DevProgram.ts"

/** Runs the sources of agentctl, and can kill it at a step of a payment. */
export const STEP_MAIN = fileURLToPath(new URL("stepMain.ts", import.meta.url))

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** The working directory. By default the home. */
  readonly cwd?: string
  /** The step of a payment at which the process is killed. */
  readonly killAt?: string
}

/** Waits for a process to exit and returns its output. */
export const outcomeOf = (child: ChildProcess): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    let stdout = ""
    let stderr = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.once("error", reject)
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }))
  })

/** Starts the program. Standard input is empty by default. */
const begin = (
  file: string,
  args: ReadonlyArray<string>,
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  stdin?: string
): { readonly child: ChildProcess; readonly outcome: Promise<Outcome> } => {
  const child = spawn(process.execPath, [file, ...args], { ...place, stdio: ["pipe", "pipe", "pipe"] })
  const outcome = outcomeOf(child)
  // A program that reads nothing may exit before this is written.
  child.stdin.on("error", () => undefined)
  child.stdin.end(stdin ?? "")
  return { child, outcome }
}

/** Runs the built program with its own environment. */
export const runCli = async (
  args: ReadonlyArray<string>,
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
): Promise<Outcome> => begin(await builtProgram(), args, place).outcome

/** Proxies between a customer and the sandbox. */
export interface Lines {
  readonly baseUrl?: string
  readonly rpcUrl?: string
}

/** A user with their own wallet, 100 USDT and an empty home. The first payment makes them a tenant. */
export class CliCustomer {
  readonly home: string
  readonly address: `0x${string}`
  readonly env: Readonly<Record<string, string>>
  private readonly program: string
  private readonly log: TokenLog

  constructor(home: string, program: string, sandbox: SandboxDescription, lines: Lines) {
    const key = generatePrivateKey()
    this.home = home
    this.program = program
    this.address = privateKeyToAccount(key).address
    this.log = new TokenLog(sandbox.chain)
    this.env = {
      // For `agentctl` in a shell, and for its Node.
      PATH: [dirname(program), dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
      ...compileCache(),
      HOME: home,
      AGENTOS_HOME: home,
      AGENTOS_BASE_URL: lines.baseUrl ?? sandbox.baseUrl,
      AGENTOS_RPC_URL: lines.rpcUrl ?? sandbox.chain.rpcUrl,
      AGENTOS_PRIVATE_KEY: key
    }
  }

  run(args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Outcome> {
    return this.follow(args, options).outcome
  }

  /** Runs a command through pipes in this process. */
  async runHere(
    args: ReadonlyArray<string>,
    options: Pick<RunOptions, "stdin" | "env" | "cwd"> = {}
  ): Promise<Outcome> {
    const place = { ...options, cwd: options.cwd ?? this.home, env: { ...this.env, ...options.env } }
    return { ...(await runHere(args, place)), signal: null }
  }

  /** Starts the program without waiting for its end. */
  follow(args: ReadonlyArray<string>, { cwd = this.home, env = {}, killAt, stdin }: RunOptions = {}) {
    const killing =
      killAt === undefined ? {} : { AGENTOS_CLI_KILL_AT: killAt, NODE_OPTIONS: process.env["NODE_OPTIONS"] ?? "" }
    const place = { cwd, env: { ...this.env, ...env, ...killing } }
    return begin(killAt === undefined ? this.program : STEP_MAIN, args, place, stdin)
  }

  /** Returns the ids of the payments in the journal. */
  payments(): ReadonlyArray<string> {
    return this.files().map(({ id }) => id)
  }

  /** Returns the file of a payment. */
  journalPath(id: string): string {
    return join(this.home, "journal", `${id}.json`)
  }

  /** Returns the states of the payments in the journal. */
  states(): ReadonlyArray<string> {
    return this.files().map(({ state }) => state.tag)
  }

  private files(): ReadonlyArray<{ readonly id: string; readonly state: { readonly tag: string } }> {
    const folder = join(this.home, "journal")
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
    return names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as never)
  }

  /** Returns the amounts that this wallet paid, read from the chain. */
  async charges(): Promise<ReadonlyArray<bigint>> {
    const movements = await this.log.read()
    return movements.filter(({ from }) => from === this.address.toLowerCase()).map(({ value }) => value)
  }
}

/** A sandbox for all suites of agentctl, and its customers. */
export interface CliRig {
  readonly sandbox: SandboxDescription
  /** The process that runs the sandbox. */
  readonly dev: DevProgram
  readonly customer: (lines?: Lines) => Promise<CliCustomer>
}

const FUNDS = 100

export const useCliRig = (): CliRig => {
  let running: DevProgram | undefined
  let started: { readonly sandbox: SandboxDescription; readonly treasury: Treasury } | undefined
  const homes: Array<string> = []
  beforeAll(async () => {
    running = await DevProgram.start()
    const chain = await readChainDescription(join(running.directory, "chain"))
    if (chain === undefined) throw new Error("no chain in the data folder of the sandbox")
    started = { sandbox: await running.describe(), treasury: new Treasury(chain) }
  })
  afterAll(async () => {
    await running?.stop()
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })
  const host = () => {
    if (started === undefined || running === undefined) throw new Error("the sandbox is not running")
    return { ...started, dev: running }
  }
  return {
    get sandbox() {
      return host().sandbox
    },
    get dev() {
      return host().dev
    },
    customer: async (lines = {}) => {
      const { sandbox, treasury } = host()
      const home = mkdtempSync(join(tmpdir(), "agentctl-"))
      homes.push(home)
      const customer = new CliCustomer(home, await builtProgram(), sandbox, lines)
      await treasury.fund([customer.address], FUNDS)
      return customer
    }
  }
}
