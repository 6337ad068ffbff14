import { startPostgres } from "@agentos/postgres/testing"
import {
  baseUrl,
  carrierUrl,
  type ChainDescription,
  chainsOf,
  type ChildProgram,
  emailDomain,
  facilitatorUrl,
  type GuardedProcess,
  layOut,
  type NetworkCount,
  openDataDirectory,
  openLog,
  outputRead,
  paymentNetwork,
  type ProcessExit,
  programs,
  relayFaultsUrl,
  type RunLayout,
  serve
} from "@agentos/sandbox"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { privateKeyToAddress } from "viem/accounts"
import { PAYMENT_METHODS, type PaymentMethod } from "./Authorization.ts"
import { databaseUrl, execute } from "./ClusterDatabase.ts"
import { startForwarder } from "./Forwarder.ts"
import { copyPrepared } from "./PreparedData.ts"
import { threadsOf } from "./Processes.ts"
import { useProgramBundle } from "./ProgramBundle.ts"
import { WITHOUT_LIMITS } from "./WithoutLimits.ts"

export interface ClusterServer {
  readonly baseUrl: string
  /** Where it accepts mail. */
  readonly mail: { readonly host: string; readonly port: number }
  /** Environment variables of its process. */
  readonly environment: () => Readonly<Record<string, string | undefined>>
  /** Process id of the running server. */
  readonly pid: () => number
  /** Stops the process by SIGSTOP, like a machine that swaps or a hypervisor that migrates it. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Changes environment variables of later starts, and the entry module if one is given. */
  readonly configure: (environment: Readonly<Record<string, string>>, module?: string) => void
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Sends SIGTERM and waits for the end. After a minute, ends it with SIGKILL and fails with what its threads did. */
  readonly terminate: () => Promise<Termination>
  /** Ends it with SIGKILL. */
  readonly kill: () => Promise<void>
  /** Returns the last lines of its log. */
  readonly log: () => string
}

/** The end of a server that got SIGTERM. */
export interface Termination {
  readonly exit: ProcessExit
  /** Time since the signal. */
  readonly millis: number
}

/** Several servers on one PostgreSQL, with one or two chains, one facilitator and one mail relay. */
export interface Cluster {
  /** The data directory of its sandbox. */
  readonly directory: string
  readonly servers: ReadonlyArray<ClusterServer>
  /** The chain of the servers' first network, on which customers pay. */
  readonly chain: ChainDescription
  /** The chains of the networks, in their order. */
  readonly chains: ReadonlyArray<ChainDescription>
  /** Address that refunds are paid from. */
  readonly refundWallet: `0x${string}`
  readonly facilitatorUrl: string
  /** URL that sets the faults of the relay. */
  readonly relayFaultsUrl: string
  readonly emailDomain: string
  /** Directory of mail to other domains. */
  readonly outboxDir: string
  readonly database: {
    /** URL of the database that the servers use. */
    readonly url: string
    /** Copies the database. The servers must be stopped. */
    readonly backUp: () => Promise<void>
    /** Replaces the database by the copy. The servers must be stopped. */
    readonly restore: () => Promise<void>
  }
  /** Fails unless the cluster was started with `telephones`. */
  readonly phones: ClusterPhones
  /** Stops every process and deletes all files. */
  readonly stop: () => Promise<void>
}

export interface ClusterPhones {
  /** The control API of the carrier. */
  readonly carrier: { readonly url: string }
  /** The servers' account at the carrier. */
  readonly account: { readonly accountSid: string; readonly authToken: string }
  /** URL of an agent that answers calls. */
  readonly agentWebhookUrl: string
  /** URL at which the carrier reaches the servers, which take connections in turn. */
  readonly publicUrl: string
  /** Sends new connections of the carrier to one server, by its index, or to the servers in turn again. */
  readonly routeTo: (server: number | undefined) => void
}

/** The payment network of a sandbox. */
export type PlannedNetwork = ReturnType<typeof paymentNetwork>

export interface ClusterOptions {
  readonly servers: number
  /** Path of the servers' entry module, in place of the real one. */
  readonly serverModule?: string
  /** Whether to start a carrier and an agent. */
  readonly telephones?: boolean
  /** Overrides the server's environment variables. */
  readonly environment?: Readonly<Record<string, string>>
  /** Overrides the environment variables of one server, by its index. */
  readonly environmentOf?: (server: number) => Readonly<Record<string, string>>
  /**
   * How customers pay, by default `eip3009`. With `permit2` the servers have two networks, each on a chain of its own, and that
   * of Permit2 is the first. With `sponsored` a token on that chain, whose payers sign their allowance, comes before them.
   */
  readonly paymentMethod?: PaymentMethod
  /** Changes each payment network of the servers, which has the form of AGENTOS_NETWORKS. */
  readonly network?: (planned: PlannedNetwork) => object
  /** Settings of PostgreSQL. The defaults prefer speed to durability. */
  readonly database?: Readonly<Record<string, string>>
  /** Directory of the programs of another version of PostgreSQL. */
  readonly databaseBinaries?: string
  /** A PostgreSQL of the caller in place of one of its own. */
  readonly databaseServer?: DatabaseServer | undefined
  /** Fills the data directory, in place of the prepared keys and chain. */
  readonly data?: (directory: string) => Promise<void>
  /** Uses one server with an embedded database and no PostgreSQL; prepares the directory of the database. */
  readonly embedded?: (directory: string) => Promise<void>
}

export interface DatabaseServer {
  readonly url: string
  /** The URL by which the servers reach it, through a pooler for example. */
  readonly servedUrl: string
  /** Creates the database in place of a superuser. */
  readonly create?: () => Promise<void>
}

/** A server may finish requests under way; the other processes have nothing to finish. */
const SERVER_GRACE_MILLIS = 9_000
const GRACE_MILLIS = 1_500
const TERMINATION_MILLIS_MAX = 60_000

/** Name of the database of the servers. */
const DATABASE = "agentos"

/** Tests of clusters create their own wallets. */
const WALLETS = 1

/** Starts a cluster on free ports; resolves once every server accepts requests. */
export const startCluster = async (options: ClusterOptions): Promise<Cluster> => {
  await useProgramBundle()
  const cleanup: Array<() => Promise<void>> = []
  const stop = async () => {
    for (let end = cleanup.pop(); end !== undefined; end = cleanup.pop()) await end()
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), "agentos-cluster-"))
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const postgres = options.embedded === undefined ? await startDatabase(options, cleanup) : undefined
    await (options.data?.(directory) ?? copyPrepared(directory, ["chain", "server"]))
    const layout = {
      port: 0,
      servers: options.servers,
      networks: (PAYMENT_METHODS.indexOf(options.paymentMethod ?? "eip3009") + 1) as NetworkCount,
      wallets: WALLETS,
      databaseUrl: postgres?.url
    } as const
    const run = await layOut(
      await openDataDirectory(directory, postgres === undefined ? "embedded" : "external"),
      layout
    )
    await options.embedded?.(run.data.database)

    const planned = programs(run)
    const chains = chainsOf(run).toReversed()
    const offered = chains.map((chain) => paymentNetwork(run, run.chain, chain))
    const chain = makeProcess(planned.chain, join(run.data.logs, "chain.log"), GRACE_MILLIS)
    const others = [planned.facilitator, planned.relay].map((program) =>
      makeProcess(program, join(run.data.logs, `${program.name}.log`), GRACE_MILLIS)
    )
    cleanup.push(() => ended(chain, ...others))
    await chain.start()
    await Promise.all(others.map(({ start }) => start()))
    const phones = options.telephones === true ? await startPhones(run, cleanup) : undefined

    const servers = planned.servers.map((program, index): ClusterServer => {
      const environment = {
        ...program.environment,
        ...WITHOUT_LIMITS,
        ...(options.databaseServer && { DATABASE_URL: databaseUrl(options.databaseServer.servedUrl, DATABASE) }),
        ...(phones && { AGENTOS_PUBLIC_URL: phones.publicUrl }),
        AGENTOS_NETWORKS: JSON.stringify(options.network === undefined ? offered : offered.map(options.network)),
        ...options.environment,
        ...options.environmentOf?.(index)
      }
      const server = { ...program, environment, module: options.serverModule ?? program.module }
      const child = makeProcess(server, join(run.data.logs, `server-${index}.log`), SERVER_GRACE_MILLIS)
      const ports = run.servers[index]!
      return { baseUrl: baseUrl(run, ports), mail: { host: run.host, port: ports.smtp }, ...child }
    })
    cleanup.push(() => ended(...servers))
    await Promise.all(servers.map(({ start }) => start()))
    return {
      directory,
      servers,
      chain: chains[0]!,
      chains,
      refundWallet: privateKeyToAddress(run.chain.refundKey),
      facilitatorUrl: facilitatorUrl(run),
      relayFaultsUrl: relayFaultsUrl(run),
      emailDomain,
      outboxDir: run.data.outbox,
      get phones() {
        if (phones === undefined) throw new Error("the cluster was started without telephones")
        return phones
      },
      get database() {
        if (postgres === undefined) throw new Error("the cluster's database is embedded in its server")
        return postgres
      },
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const startDatabase = async (
  { database, databaseBinaries, databaseServer }: ClusterOptions,
  cleanup: Array<() => Promise<void>>
): Promise<Cluster["database"]> => {
  const start = async () => {
    const started = await startPostgres({
      settings: { max_connections: "200", ...database },
      ...(databaseBinaries !== undefined && { binaries: databaseBinaries })
    })
    cleanup.push(started.stop)
    return started
  }
  const postgres = databaseServer ?? (await start())
  await (databaseServer?.create?.() ?? execute(postgres.url, `create database ${DATABASE}`))
  return {
    url: databaseUrl(postgres.url, DATABASE),
    backUp: async () => void (await execute(postgres.url, ...copied("agentos", "agentos_backup"))),
    restore: async () => void (await execute(postgres.url, ...copied("agentos_backup", "agentos")))
  }
}

/** Starts a carrier, an agent, and a balancer through which the carrier reaches every server. */
const startPhones = async (run: RunLayout, cleanup: Array<() => Promise<void>>): Promise<ClusterPhones> => {
  const ports = run.servers.map(({ http }) => http)
  let connections = 0
  let only: number | undefined
  const balancer = await startForwarder(() => ports[only ?? connections++ % ports.length])
  cleanup.push(balancer.stop)
  const planned = programs(run)
  const processes = [planned.carrier, planned.agent].map((program) =>
    makeProcess(program, join(run.data.logs, `${program.name}.log`), GRACE_MILLIS)
  )
  cleanup.push(() => ended(...processes))
  await Promise.all(processes.map(({ start }) => start()))
  return {
    carrier: { url: carrierUrl(run) },
    account: { accountSid: run.telephony.accountSid, authToken: run.telephony.authToken },
    agentWebhookUrl: `https://${run.host}:${run.ports.agent}/`,
    publicUrl: balancer.url,
    routeTo: (server) => void (only = server)
  }
}

/** Statements that make `to` a copy of `from`. Neither may be in use. */
const copied = (from: string, to: string): ReadonlyArray<string> => [
  `drop database if exists ${to}`,
  `create database ${to} template ${from}`
]

type ClusterProcess = Omit<ClusterServer, "baseUrl" | "mail">

/** A program that can be started and stopped repeatedly. */
const makeProcess = (planned: ChildProgram, logPath: string, graceMillis: number): ClusterProcess => {
  const log = openLog(logPath)
  let program = planned
  let running: GuardedProcess | undefined
  let pid = 0
  return {
    pid: () => pid,
    log: log.tail,
    freeze: () => void process.kill(pid, "SIGSTOP"),
    thaw: () => void process.kill(pid, "SIGCONT"),
    kill: async () => {
      const child = running
      running = undefined
      child?.kill("SIGKILL")
      await child?.exited
    },
    environment: () => program.environment,
    configure: (environment, module = program.module) => {
      program = { ...program, module, environment: { ...program.environment, ...environment } }
    },
    start: async () => {
      const starting = serve(program, log, (child) => (running = child))
      const serving = await starting.catch((error: unknown) => {
        throw new Error(`${program.name} did not start:\n${log.tail()}`, { cause: error })
      })
      pid = serving.pid
    },
    terminate: async () => {
      const child = running
      if (child === undefined) throw new Error(`${program.name} does not run`)
      running = undefined
      const signaledAt = performance.now()
      child.kill("SIGTERM")
      const waiting = new AbortController()
      const exit = await Promise.race([
        child.exited,
        sleep(TERMINATION_MILLIS_MAX, undefined, { signal: waiting.signal }).catch(() => undefined)
      ])
      waiting.abort()
      const millis = performance.now() - signaledAt
      if (exit !== undefined) {
        await outputRead(child)
        return { exit, millis }
      }
      const threads = threadsOf(child.pid)
      child.kill("SIGKILL")
      throw new Error(`${program.name} did not end after SIGTERM:\n${threads}\n${log.tail()}`)
    },
    stop: async () => {
      const child = running
      if (child === undefined) return
      running = undefined
      // A frozen process would not receive the signal.
      child.kill("SIGCONT")
      child.kill("SIGTERM")
      const done = new AbortController()
      const killing = sleep(graceMillis, undefined, { signal: done.signal }).then(
        () => child.kill("SIGKILL"),
        () => undefined
      )
      await child.exited
      done.abort()
      await killing
      await outputRead(child)
    }
  }
}

const ended = async (...processes: ReadonlyArray<{ readonly stop: () => Promise<void> }>): Promise<void> => {
  await Promise.all(processes.map(({ stop }) => stop()))
}
