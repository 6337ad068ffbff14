import { fileURLToPath } from "node:url"
import type { ChildProgram } from "./ChildProcess.ts"
import { compileCacheDir } from "./CompileCache.ts"
import { emailDomain, type RunDatabase, type RunLayout, type ServerPorts } from "./RunLayout.ts"
import { dkimSelector } from "./ServerFiles.ts"

/** The processes of a run. */
export interface RunPrograms {
  readonly chain: ChildProgram
  readonly facilitator: ChildProgram
  readonly relay: ChildProgram
  readonly carrier: ChildProgram
  readonly agent: ChildProgram
  /** Undefined where the database is in the server, or somebody's. */
  readonly postgres: ChildProgram | undefined
  /** In the order of `RunLayout.servers`. */
  readonly servers: ReadonlyArray<ChildProgram>
}

/**
 * Each is one more of Node for as long as the sandbox runs: what they import of effect they import module by module,
 * which takes each of them 20 MB less than its root, and a good tenth of a second less to start.
 */
const module = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
/** They have little to do, and need little room for what is soon forgotten; with half of this, a signature takes a quarter longer. */
const smallProgram = ["--max-semi-space-size=2"]

/**
 * The server is found by its package's name, and started as anybody would. A test that wants another one around it
 * (say, one that stops at a certain step) names its entry module's path in AGENTOS_SANDBOX_SERVER_MODULE.
 */
const serverModule = (): string =>
  process.env["AGENTOS_SANDBOX_SERVER_MODULE"] ??
  fileURLToPath(new URL("main.ts", import.meta.resolve("@agentos/http-server")))

/**
 * The processes of a run. They can be started at once, but for a new chain and a database of the run's own, which
 * servers need to be there: everything else is waited for.
 */
export const programs = (run: RunLayout): RunPrograms => ({
  chain: {
    name: "chain",
    module: module("../chain/chainMain.ts"),
    environment: configured("AGENTOS_SANDBOX_CHAIN", { dataDir: run.data.chain, port: run.ports.chain }),
    watchesStdin: true
  },
  facilitator: {
    name: "facilitator",
    module: module("../facilitator/facilitatorMain.ts"),
    environment: configured("AGENTOS_SANDBOX_FACILITATOR", {
      rpcUrl: run.chain.rpcUrl,
      chainId: run.chain.chainId,
      asset: run.chain.asset,
      privateKey: run.chain.facilitatorKey,
      port: run.ports.facilitator
    }),
    nodeOptions: smallProgram,
    watchesStdin: true
  },
  relay: {
    name: "mail relay",
    module: module("../relay/relayMain.ts"),
    environment: configured("AGENTOS_SANDBOX_RELAY", {
      outboxDir: run.data.outbox,
      port: run.ports.relay,
      faultsPort: run.ports.relayFaults,
      domain: emailDomain,
      service: { host: run.host, port: run.servers[0].smtp }
    }),
    nodeOptions: smallProgram,
    watchesStdin: true
  },
  carrier: {
    name: "carrier",
    module: module("../carrier/carrierMain.ts"),
    environment: configured("AGENTOS_SANDBOX_CARRIER", {
      dataDir: run.data.carrier,
      accountSid: run.telephony.accountSid,
      authToken: run.telephony.authToken,
      port: run.ports.carrier
    }),
    nodeOptions: smallProgram,
    watchesStdin: true
  },
  agent: {
    name: "talking agent",
    module: module("../webhook/agentMain.ts"),
    environment: configured("AGENTOS_SANDBOX_AGENT", { dataDir: run.data.agent, port: run.ports.agent }),
    nodeOptions: smallProgram,
    watchesStdin: true
  },
  postgres: run.database._tag === "Own" ? postgresProgram(run, run.database) : undefined,
  servers: run.servers.map((ports, index) => ({
    name: run.servers.length === 1 ? "server" : `${ordinals[index]} server`,
    module: serverModule(),
    environment: { ...inherited(), ...serverEnvironment(run, ports) },
    // A server with an embedded database stays small. Optimizing the database's WebAssembly takes V8 half a gigabyte
    // at every start and makes it faster by a fifth; a heap that may double before it is collected takes 100 MB more.
    nodeOptions: run.database._tag === "Embedded" ? ["--liftoff-only", "--heap-growing-percent=20"] : [],
    watchesStdin: false
  }))
})

/** There are no more servers than this names. */
export const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] as const

const postgresProgram = ({ data }: RunLayout, { password, port, user }: RunDatabase & { readonly _tag: "Own" }) => ({
  name: "database",
  module: module("../postgres/postgresMain.ts"),
  environment: configured("AGENTOS_SANDBOX_POSTGRES", { root: data.root, home: data.database, port, user, password }),
  watchesStdin: true
})

/** The supervisor's own environment, for the processes that it starts. */
export const inherited = (): NodeJS.ProcessEnv => ({ NODE_COMPILE_CACHE: compileCacheDir, ...process.env })

const configured = (name: string, configuration: object): NodeJS.ProcessEnv => ({
  ...inherited(),
  [name]: JSON.stringify(configuration)
})

/** Where one of its servers is reached. */
export const baseUrl = ({ host }: Pick<RunLayout, "host">, { http }: ServerPorts): string => `http://${host}:${http}`
export const relayFaultsUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.relayFaults}`
export const facilitatorUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.facilitator}`
export const carrierUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.carrier}`

/** Short-lived memory is collected early: on one machine, 40 MB less are worth more than a little speed. */
const NODE_FLAGS = "--max-semi-space-size=4"

const serverEnvironment = (run: RunLayout, ports: ServerPorts): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: [process.env["NODE_OPTIONS"], NODE_FLAGS].filter(Boolean).join(" "),
  AGENTOS_ENVIRONMENT: "sandbox",
  AGENTOS_HOST: run.host,
  AGENTOS_PORT: String(ports.http),
  // All are one service to the outside: what is bound to its address holds for each.
  AGENTOS_PUBLIC_URL: baseUrl(run, run.servers[0]),
  AGENTOS_KEYS: run.files.keyRing,
  DATABASE_URL: run.database._tag === "Embedded" ? "" : run.database.url,
  AGENTOS_DATA_DIR: run.database._tag === "Embedded" ? run.data.database : "",
  AGENTOS_EMAIL_DOMAIN: emailDomain,
  AGENTOS_SMTP_HOST: run.host,
  AGENTOS_SMTP_PORT: String(ports.smtp),
  AGENTOS_SMTP_KEY_FILE: run.files.smtpKeyFile,
  AGENTOS_SMTP_CERT_FILE: run.files.smtpCertificateFile,
  AGENTOS_SMTP_RELAY_HOST: run.host,
  AGENTOS_SMTP_RELAY_PORT: String(run.ports.relay),
  AGENTOS_SMTP_RELAY_TLS: "none",
  AGENTOS_DKIM_SELECTOR: dkimSelector,
  AGENTOS_DKIM_KEY_FILE: run.files.dkimKeyFile,
  AGENTOS_DNS_ZONE_FILE: run.files.zoneFile,
  AGENTOS_TWILIO_ACCOUNT_SID: run.telephony.accountSid,
  AGENTOS_TWILIO_AUTH_TOKEN: run.telephony.authToken,
  AGENTOS_TWILIO_LABEL: "agentos-sandbox",
  AGENTOS_TWILIO_API_URL: carrierUrl(run),
  AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify(run.telephony.allowed),
  AGENTOS_NETWORKS: JSON.stringify([network(run)])
})

const network = (run: RunLayout) => ({
  network: run.chain.network,
  rpcUrl: run.chain.rpcUrl,
  asset: run.chain.asset,
  name: run.chain.assetName,
  version: run.chain.assetVersion,
  decimals: run.chain.decimals,
  payTo: run.chain.payTo,
  facilitator: { url: facilitatorUrl(run) },
  refund: { privateKey: run.chain.refundKey },
  confirmations: 0,
  maxTimeoutSeconds: 30
})
