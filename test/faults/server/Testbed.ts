import { copyDatabase } from "@agentos/postgres/testing"
import { MailService, sandboxClient } from "@agentos/sandbox"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseEther } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { CarrierLog } from "../../support/CarrierLog.ts"
import { type Cluster, type ClusterOptions, startCluster } from "../../support/Cluster.ts"
import { PhoneCarrier } from "../../support/PhoneCarrier.ts"
import { RelayLog } from "../../support/RelayLog.ts"
import { TokenLog } from "../../support/TokenLog.ts"
import { Treasury } from "../../support/Treasury.ts"
import type { DefectName } from "./Defects.ts"
import { StepGate } from "./StepGate.ts"
import { testServer } from "./TestServer.ts"

export const DATABASES = ["pglite", "postgres"] as const
export type DatabaseKind = (typeof DATABASES)[number]

export interface TestbedOptions {
  /** PGlite is embedded in the one server. */
  readonly database: DatabaseKind
  readonly servers?: number
  readonly defect?: DefectName | undefined
  readonly environment?: ClusterOptions["environment"]
  readonly network?: ClusterOptions["network"]
  /** Whether the servers submit payments themselves, from a gas wallet that they share. */
  readonly hasOwnFacilitator?: boolean
  readonly paymentMethod?: ClusterOptions["paymentMethod"] | undefined
  /** Whether to start agentos-server as users do. Its operations can't be held at steps. */
  readonly isReal?: boolean
  readonly databaseServer?: ClusterOptions["databaseServer"]
  /** Puts the directory of the embedded database elsewhere, and returns its path. */
  readonly placeDirectory?: (directory: string) => string
}

/** A PostgreSQL that loses no commit when it is killed. */
const POSTGRES_SETTINGS = { synchronous_commit: "on" }

/** Servers with everything around them: they can be held at steps, killed, paused and observed from outside. */
export class Testbed {
  readonly cluster: Cluster
  readonly database: DatabaseKind
  readonly gate: StepGate
  readonly treasury: Treasury
  readonly token: TokenLog
  readonly relay: RelayLog
  readonly carrier: PhoneCarrier
  readonly carrierLog: CarrierLog
  /** Asks the first server which mailboxes exist. */
  readonly mail: MailService
  readonly stop: () => Promise<void>

  private constructor(cluster: Cluster, database: DatabaseKind, gate: StepGate, stop: () => Promise<void>) {
    const { carrier } = cluster.phones
    const { host, port } = cluster.servers[0]!.mail
    this.cluster = cluster
    this.database = database
    this.gate = gate
    this.treasury = new Treasury(cluster.chain)
    this.token = new TokenLog(cluster.chain)
    this.relay = new RelayLog(cluster.outboxDir)
    this.carrier = new PhoneCarrier({ carrier })
    this.carrierLog = new CarrierLog(carrier.url)
    this.mail = new MailService(host, port)
    this.stop = stop
  }

  private static starting: Promise<unknown> = Promise.resolve()

  /** Starts everything on free ports, one testbed after the other, because a start uses all of a small machine. */
  static start(options: TestbedOptions): Promise<Testbed> {
    const started = Testbed.starting.then(() => Testbed.startNow(options))
    Testbed.starting = started.catch(() => undefined)
    return started
  }

  private static async startNow(options: TestbedOptions): Promise<Testbed> {
    const {
      database,
      databaseServer,
      defect,
      environment,
      hasOwnFacilitator = false,
      isReal = false,
      network,
      paymentMethod,
      placeDirectory,
      servers = 1
    } = options
    const directory = await mkdtemp(join(tmpdir(), "agentos-faults-"))
    const remove = () => rm(directory, { recursive: true, force: true })
    try {
      const gate = new StepGate(directory)
      const gasKey = generatePrivateKey()
      const server = testServer({ steps: gate.files, ...(defect === undefined ? {} : { defect }) })
      const embedded = (path: string) => copyDatabase(placeDirectory?.(path) ?? path)
      const cluster = await startCluster({
        servers,
        telephones: true,
        ...(!isReal && { serverModule: server.serverModule }),
        environment: { ...server.environment, ...environment },
        ...(network && { network }),
        ...(hasOwnFacilitator && {
          network: (planned) => ({ ...planned, facilitator: { kind: "self", privateKey: gasKey } })
        }),
        ...(paymentMethod && { paymentMethod }),
        databaseServer,
        ...(database === "pglite" ? { embedded } : { database: POSTGRES_SETTINGS })
      })
      const wallet = { address: privateKeyToAddress(gasKey), value: parseEther("1000") }
      await Promise.all(cluster.chains.map((chain) => sandboxClient(chain.rpcUrl, chain.chainId).setBalance(wallet)))
      return new Testbed(cluster, database, gate, async () => {
        await cluster.stop()
        await remove()
      })
    } catch (error) {
      await remove()
      throw error
    }
  }

  /** Kills the first server, and resolves once it serves again. */
  async killServer(): Promise<void> {
    const [server] = this.cluster.servers
    await server!.kill()
    await server!.start()
  }

  /** The last lines of the servers' logs. */
  serverLogs(): string {
    return this.cluster.servers.map(({ log }) => log()).join("\n")
  }

  /** Keeps an answered call up at the carrier, so that it needs no server until its end. */
  async holdCall(toNumber: string): Promise<void> {
    const calls = (await this.carrierLog.read()).dialled.get(toNumber) ?? []
    const call = calls.find(({ state }) => state === "in-progress")
    if (call === undefined) throw new Error(`no call to ${toNumber} is in progress`)
    const { account, carrier } = this.cluster.phones
    const response = await fetch(`${carrier.url}/2010-04-01/Accounts/${account.accountSid}/Calls/${call.id}.json`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${account.accountSid}:${account.authToken}`).toString("base64")}`
      },
      body: new URLSearchParams({ Twiml: '<Response><Pause length="3600"/></Response>' })
    })
    if (!response.ok) throw new Error(`the call was not updated: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
}
