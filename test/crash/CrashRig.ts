import { MailService, readChainDescription, type SandboxDescription } from "@agentos/sandbox"
import { startPostgres } from "@agentos/postgres/testing"
import { Schema } from "effect"
import { renameSync, writeFileSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { RelayLog } from "../support/RelayLog.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { Treasury } from "../support/Treasury.ts"
import { WITHOUT_LIMITS } from "../support/WithoutLimits.ts"
import { CarrierSide } from "./CarrierSide.ts"
import { REFUND_STEPS } from "./Cell.ts"
import type { PlannedFault } from "./PlannedFault.ts"
import type { Purchase } from "./Purchase.ts"
import { ARMED_VARIABLE, type ArmedFile, PARKED_VARIABLE, ParkedLine } from "./Parking.ts"

export const DATABASES = ["pglite", "postgres"] as const
export type DatabaseKind = (typeof DATABASES)[number]

export interface RigOptions {
  readonly database: DatabaseKind
  /** The server's entry module, in place of the real server's with its steps. */
  readonly server?: string
  /** Runs on the database once the server has made its tables: the URL of a PostgreSQL. */
  readonly prepareDatabase?: (url: string) => Promise<void>
}

/** A database that is killed keeps what it has committed, as one does that is run as this service asks for it. */
const DATABASE_SETTINGS = { max_connections: "200", synchronous_commit: "on" }

const REAL_SERVER = fileURLToPath(new URL("crashServerMain.ts", import.meta.url))
const SERVING_MILLIS_MAX = 90_000
const PARKED_MILLIS_MAX = 40_000
const POLL_MILLIS = 50
const COMPLAINTS_MAX = 200
/** Steps to which the server's own job carries an operation, after its client was answered. */
const WATCHED_STEPS: ReadonlySet<string> = new Set(REFUND_STEPS)

/** A sandbox whose server can be stopped at every step, killed, and looked at from outside. */
export class CrashRig {
  readonly description: SandboxDescription
  readonly database: DatabaseKind
  /** Of the PostgreSQL that the server uses; undefined for an embedded one. */
  readonly databaseUrl: string | undefined
  readonly treasury: Treasury
  readonly token: TokenLog
  readonly relay: RelayLog
  readonly carrier: CarrierSide
  /** The service's own door for mail, which says what mailboxes there are. */
  readonly door: MailService
  /** All that was ever wished for here: money that moved for anything else is a stray. */
  readonly purchases: Array<Purchase> = []
  private readonly sandbox: Sandbox
  private readonly files: { readonly armed: string; readonly parked: string }
  private readonly cleanup: () => Promise<void>

  private constructor(parts: Pick<CrashRig, "description" | "database" | "databaseUrl" | "treasury"> & RigParts) {
    this.description = parts.description
    this.database = parts.database
    this.databaseUrl = parts.databaseUrl
    this.treasury = parts.treasury
    this.sandbox = parts.sandbox
    this.files = parts.files
    this.cleanup = parts.cleanup
    this.token = new TokenLog(parts.description.chain)
    this.relay = new RelayLog(parts.description.mail.outboxDir)
    this.carrier = new CarrierSide(parts.description.carrier.url, join(parts.sandbox.directory, "carrier", "account"))
    this.door = new MailService(parts.description.mail.host, parts.description.mail.port)
  }

  private static starting: Promise<unknown> = Promise.resolve()

  /** Starts everything on free ports; one rig after the other, since a start takes all that a small machine has. */
  static start(options: RigOptions): Promise<CrashRig> {
    const started = CrashRig.starting.then(() => CrashRig.startNow(options))
    CrashRig.starting = started.catch(() => undefined)
    return started
  }

  private static async startNow(options: RigOptions): Promise<CrashRig> {
    const ends: Array<() => Promise<unknown>> = []
    const cleanup = async () => {
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
    }
    try {
      const directory = await mkdtemp(join(tmpdir(), "agentos-crash-"))
      ends.push(() => rm(directory, { recursive: true, force: true }))
      const files = { armed: join(directory, "armed.json"), parked: join(directory, "parked.log") }
      await Promise.all([writeFile(files.armed, "{}"), writeFile(files.parked, "")])
      const postgres =
        options.database === "postgres" ? await startPostgres({ settings: DATABASE_SETTINGS }) : undefined
      if (postgres !== undefined) ends.push(postgres.stop)
      const sandbox = await startSandbox({
        directory: join(directory, "sandbox"),
        isPrepared: true,
        environment: {
          DATABASE_URL: postgres?.url ?? "",
          ...WITHOUT_LIMITS,
          AGENTOS_SANDBOX_SERVER_MODULE: options.server ?? REAL_SERVER,
          [ARMED_VARIABLE]: files.armed,
          [PARKED_VARIABLE]: files.parked
        }
      })
      ends.push(sandbox.stop)
      if (postgres !== undefined) await options.prepareDatabase?.(postgres.url)
      const chain = await readChainDescription(join(directory, "sandbox", "chain"))
      if (chain === undefined) throw new Error("the sandbox runs without a chain")
      return new CrashRig({
        description: await sandbox.describe(),
        database: options.database,
        databaseUrl: postgres?.url,
        treasury: new Treasury(chain),
        sandbox,
        files,
        cleanup
      })
    } catch (error) {
      await cleanup()
      throw error
    }
  }

  /** Ends everything, and leaves nothing behind. */
  stop(): Promise<void> {
    return this.cleanup()
  }

  /** Says which operations are stopped where, from now on. */
  arm(armed: ArmedFile): void {
    // Whoever arms last is not to be overtaken by one who armed before.
    writeFileSync(`${this.files.armed}.new`, JSON.stringify(armed))
    renameSync(`${this.files.armed}.new`, this.files.armed)
  }

  /** The operations that were stopped so far, by any process. */
  async parked(): Promise<ReadonlyArray<ParkedLine>> {
    const text = await readFile(this.files.parked, "utf8")
    const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ParkedLine))
    return text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => decode(line))
  }

  /** Waits until each of the operations is stopped where it was said to be. */
  async untilParked(expected: ArmedFile): Promise<void> {
    const deadline = performance.now() + PARKED_MILLIS_MAX
    for (;;) {
      const seen = new Set((await this.parked()).map(({ nonce, step }) => `${nonce} ${step}`))
      const missing = Object.entries(expected).filter(([nonce, { step }]) => !seen.has(`${nonce} ${step}`))
      if (missing.length === 0) return
      if (performance.now() > deadline) {
        const where = missing.map(([nonce, { step }]) => `${nonce} at ${step}`).join(", ")
        throw new Error(`${missing.length} operations never came where they should stop: ${where}`)
      }
      await sleep(POLL_MILLIS)
    }
  }

  /** Whether an operation comes to stand at a step before its client has done all that it does. */
  async isParked(nonce: string, step: string, client: Promise<unknown>): Promise<boolean> {
    let isOver = false
    const over = () => (isOver = true)
    client.then(over, over)
    const deadline = performance.now() + PARKED_MILLIS_MAX
    for (;;) {
      const wasOver = isOver
      if ((await this.parked()).some((line) => line.nonce === nonce && line.step === step)) return true
      // A client that has done all may have an operation that others carry to the step: a refusal that is watched.
      if (performance.now() > deadline || (wasOver && !WATCHED_STEPS.has(step))) return false
      await sleep(POLL_MILLIS)
    }
  }

  /** Kills the server with SIGKILL. The supervisor starts it again. Answers the process that was killed. */
  async kill(): Promise<number> {
    const { server } = (await this.sandbox.describe()).processes
    process.kill(server, "SIGKILL")
    return server
  }

  /** Waits until another process than the one that was killed serves. */
  async untilServing(killed: number): Promise<void> {
    const deadline = performance.now() + SERVING_MILLIS_MAX
    for (;;) {
      const { server } = (await this.sandbox.describe()).processes
      if (server !== killed && (await this.isServing())) return
      if (performance.now() > deadline) throw new Error(`the server does not come back:\n${await this.serverLog()}`)
      await sleep(POLL_MILLIS)
    }
  }

  private async isServing(): Promise<boolean> {
    return fetch(`${this.description.baseUrl}/api/v1`).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false
    )
  }

  /** The last things that the servers of this rig logged as warnings or errors. */
  async serverComplaints(): Promise<string> {
    const text = await readFile(join(this.sandbox.directory, "logs", "server.log"), "utf8").catch(() => "")
    const complaints = text.split("\n").filter((line) => /"level":"(warn|error|fatal)"/i.test(line))
    return complaints.slice(-COMPLAINTS_MAX).join("\n")
  }

  /** The end of what the server logged. */
  async serverLog(): Promise<string> {
    const text = await readFile(join(this.sandbox.directory, "logs", "server.log"), "utf8").catch(() => "")
    return text.slice(-8_000)
  }

  /** Makes the facilitator, the relay or the carrier fail. */
  async plan(fault: PlannedFault): Promise<void> {
    const response = await fetch(`${this.faultsUrl(fault.operation)}/sandbox/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fault)
    })
    if (!response.ok) throw new Error(`no fault could be planned: ${response.status} ${await response.text()}`)
  }

  private faultsUrl(operation: PlannedFault["operation"]): string {
    const { carrier, facilitatorUrl, mail } = this.description
    if (operation === "send") return mail.relayFaultsUrl
    return operation === "settle" ? facilitatorUrl : carrier.url
  }

  /** Forgets the faults that nothing met. */
  async clearFaults(): Promise<void> {
    for (const operation of ["settle", "send", "call"] as const) {
      await fetch(`${this.faultsUrl(operation)}/sandbox/faults`, { method: "DELETE" })
    }
  }
}

interface RigParts {
  readonly sandbox: Sandbox
  readonly files: { readonly armed: string; readonly parked: string }
  readonly cleanup: () => Promise<void>
}
