import { fileURLToPath } from "node:url"
import type { ChainDescription } from "../chain/ChainDescription.ts"
import type { ChildProgram } from "./ChildProcess.ts"
import { compileCacheDir } from "./CompileCache.ts"
import type { DataDirectory } from "./DataDirectory.ts"
import type { SandboxProcesses } from "./SandboxFile.ts"
import { dkimSelector, type ServerFiles } from "./ServerFiles.ts"

/** Whose names are reserved for tests (RFC 6761), so that no mail for it can go anywhere else. */
export const emailDomain = "sandbox.agentos.test"

/** Where everything of one run is. It all listens on this machine alone. */
export interface RunLayout {
  readonly data: DataDirectory
  readonly host: string
  readonly ports: Readonly<Record<"http" | "smtp" | "chain" | "facilitator" | "relay" | "relayFaults", number>>
  readonly chain: ChainDescription
  /** Whether nothing is deployed there yet. */
  readonly isNewChain: boolean
  readonly files: ServerFiles
}

export type ChildName = keyof SandboxProcesses

const module = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
/**
 * The server is found by its package's name, and started as anybody would. A test that wants another one around it
 * (say, one that stops at a certain step) names its entry module's path in AGENTOS_SANDBOX_SERVER_MODULE.
 */
const serverModule = (): string =>
  process.env["AGENTOS_SANDBOX_SERVER_MODULE"] ??
  fileURLToPath(new URL("main.ts", import.meta.resolve("@agentos/http-server")))

/** The processes of a run. They can be started at once, but for a new chain: each waits for those that it needs. */
export const programs = (run: RunLayout): Readonly<Record<ChildName, ChildProgram>> => ({
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
      service: { host: run.host, port: run.ports.smtp }
    }),
    watchesStdin: true
  },
  server: {
    name: "server",
    module: serverModule(),
    environment: { ...inherited(), ...serverEnvironment(run) },
    // Optimizing the WebAssembly of the embedded database takes V8 half a gigabyte for a moment, at every start, and
    // makes it faster by a fifth. A sandbox had rather stay small.
    nodeOptions: usesOwnDatabase() ? ["--liftoff-only"] : [],
    watchesStdin: false
  }
})

/** The supervisor's own environment, for the processes that it starts. */
export const inherited = (): NodeJS.ProcessEnv => ({ NODE_COMPILE_CACHE: compileCacheDir, ...process.env })

const configured = (name: string, configuration: object): NodeJS.ProcessEnv => ({
  ...inherited(),
  [name]: JSON.stringify(configuration)
})

export const baseUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.http}`
export const relayFaultsUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.relayFaults}`
export const facilitatorUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.facilitator}`

/** Short-lived memory is collected early: on one machine, 40 MB less are worth more than a little speed. */
const NODE_FLAGS = "--max-semi-space-size=4"

const serverEnvironment = (run: RunLayout): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: [process.env["NODE_OPTIONS"], NODE_FLAGS].filter(Boolean).join(" "),
  AGENTOS_ENVIRONMENT: "sandbox",
  AGENTOS_HOST: run.host,
  AGENTOS_PORT: String(run.ports.http),
  AGENTOS_PUBLIC_URL: baseUrl(run),
  AGENTOS_KEYS: run.files.keyRing,
  // A database that the supervisor's own environment names is the server's by inheritance.
  AGENTOS_DATA_DIR: usesOwnDatabase() ? run.data.database : "",
  AGENTOS_EMAIL_DOMAIN: emailDomain,
  AGENTOS_SMTP_HOST: run.host,
  AGENTOS_SMTP_PORT: String(run.ports.smtp),
  AGENTOS_SMTP_KEY_FILE: run.files.smtpKeyFile,
  AGENTOS_SMTP_CERT_FILE: run.files.smtpCertificateFile,
  AGENTOS_SMTP_RELAY_HOST: run.host,
  AGENTOS_SMTP_RELAY_PORT: String(run.ports.relay),
  AGENTOS_SMTP_RELAY_TLS: "none",
  AGENTOS_DKIM_SELECTOR: dkimSelector,
  AGENTOS_DKIM_KEY_FILE: run.files.dkimKeyFile,
  AGENTOS_DNS_ZONE_FILE: run.files.zoneFile,
  AGENTOS_NETWORKS: JSON.stringify([network(run)])
})

/** Whether the server keeps its data in the data directory, and not in a PostgreSQL of somebody's. */
export const usesOwnDatabase = (): boolean => (process.env["DATABASE_URL"] ?? "").trim() === ""

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
