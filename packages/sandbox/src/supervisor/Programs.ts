import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import type { ChildProgram } from "./ChildProcess.ts"
import { clockModule } from "../clock/shiftedDate.ts"
import { compileCacheDir } from "./Installation.ts"
import type { StandInName } from "./standInMain.ts"
import type { ChainDescription } from "../chain/ChainDescription.ts"
import { sandboxAccountFactory } from "../chain/SandboxAccount.ts"
import { emailDomain, type RunDatabase, type RunLayout, type ServerPorts } from "./RunLayout.ts"
import { dkimSelector } from "./ServerFiles.ts"

/**
 * Each stand-in is a Node process. They import effect module by module, which saves each of them 20 MB and over 100 ms
 * compared to its root. Stand-ins have short-lived objects only; with half of this size, signing takes 25 % longer.
 */
const smallHeap = ["--max-semi-space-size=2"]

const standIn = (name: StandInName, options: object, nodeOptions: ReadonlyArray<string> = smallHeap): ChildProgram => ({
  name: standInTitles[name],
  module: fileURLToPath(new URL(`standInMain${extname(import.meta.url)}`, import.meta.url)),
  arguments: [name],
  environment: { ...inheritedEnvironment(), [`AGENTOS_SANDBOX_${name.toUpperCase()}`]: JSON.stringify(options) },
  nodeOptions,
  watchesStdin: true
})

const standInTitles: Readonly<Record<StandInName, string>> = {
  chain: "chain",
  facilitator: "facilitator",
  relay: "mail relay",
  carrier: "carrier",
  agent: "test agent",
  postgres: "database"
}

/**
 * Resolves the server by its package name. A test that needs a modified server names the path of its entry module in
 * AGENTOS_SANDBOX_SERVER_MODULE.
 */
const serverModule = (): string =>
  process.env["AGENTOS_SANDBOX_SERVER_MODULE"] ?? fileURLToPath(import.meta.resolve("@agentos/server/main"))

/**
 * Returns the programs of a run. They can start concurrently, except that servers need the token of a new chain and a
 * managed database; they wait for everything else.
 */
export const programs = (run: RunLayout) => {
  const { clockFile } = run.data
  const clocked = canMoveTime(run) ? ["--import", clockModule(clockFile)] : []
  const small = [...smallHeap, ...clocked]
  return {
    chain: standIn(
      "chain",
      {
        dataDir: run.data.chain,
        port: run.ports.chain,
        clockFile,
        ...(run.tetherChain && {
          tether: {
            dataDir: run.data.tetherChain,
            port: run.ports.tetherChain,
            ...(run.usdcChain && { usdcDir: run.data.usdcToken })
          }
        })
      },
      clocked
    ),
    facilitator: standIn(
      "facilitator",
      {
        ...facilitated(run.chain),
        others: chainsOf(run).slice(1).map(facilitated),
        privateKey: run.chain.facilitatorKey,
        faucetKey: run.chain.faucetKey,
        port: run.ports.facilitator,
        ...(canMoveTime(run)
          ? {
              clock: {
                file: clockFile,
                rpcUrls: [...new Set(chainsOf(run).map(({ rpcUrl }) => rpcUrl))],
                readyUrl: `${baseUrl(run, run.servers[0])}/health/ready`
              }
            }
          : {})
      },
      small
    ),
    relay: standIn(
      "relay",
      {
        outboxDir: run.data.outbox,
        port: run.ports.relay,
        faultsPort: run.ports.relayFaults,
        domain: emailDomain,
        service: { host: run.host, port: run.servers[0].smtp }
      },
      small
    ),
    carrier: standIn(
      "carrier",
      {
        dataDir: run.data.carrier,
        accountSid: run.telephony.accountSid,
        authToken: run.telephony.authToken,
        port: run.ports.carrier
      },
      small
    ),
    agent: standIn("agent", { dataDir: run.data.agent, port: run.ports.agent }, small),
    /** Undefined if the database is embedded or external. */
    postgres: run.database._tag === "Managed" ? postgresProgram(run, run.database) : undefined,
    /** In the order of `RunLayout.servers`. */
    servers: run.servers.map((ports, index): ChildProgram => ({
      name: run.servers.length === 1 ? "server" : `${ordinals[index]} server`,
      module: serverModule(),
      arguments: ["start"],
      environment: { ...inheritedEnvironment(), ...serverEnvironment(run, ports) },
      // Keeps a server with an embedded database small. Optimizing the database's WebAssembly costs V8 half a gigabyte at
      // every start for a fifth more speed. A heap that may double before a collection costs 100 MB.
      nodeOptions: run.database._tag === "Embedded" ? ["--liftoff-only", "--heap-growing-percent=20", ...clocked] : [],
      watchesStdin: false
    }))
  }
}

/** The payment networks of a run with their chains, the first one first. */
export const chainsOf = ({ chain, tetherChain, usdcChain }: RunLayout): ReadonlyArray<ChainDescription> =>
  [chain, tetherChain, usdcChain].filter((one) => one !== undefined)

const facilitated = ({ asset, chainId, gasSponsoring, rpcUrl, transferMethod }: ChainDescription) => ({
  rpcUrl,
  chainId,
  asset,
  transferMethod,
  ...(gasSponsoring && { gasSponsoring })
})

/** Whether the time of a sandbox can be moved: a PostgreSQL server has that of this machine. */
export const canMoveTime = ({ database }: Pick<RunLayout, "database">): boolean => database._tag === "Embedded"

/** Bounds the number of servers. */
const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] as const

const postgresProgram = ({ data }: RunLayout, { password, port, user }: RunDatabase & { readonly _tag: "Managed" }) =>
  standIn("postgres", { root: data.root, home: data.database, port, user, password }, [])

export const inheritedEnvironment = (): NodeJS.ProcessEnv => ({ NODE_COMPILE_CACHE: compileCacheDir, ...process.env })

export const baseUrl = ({ host }: Pick<RunLayout, "host">, { http }: ServerPorts): string => `http://${host}:${http}`
export const relayFaultsUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.relayFaults}`
export const facilitatorUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.facilitator}`
export const carrierUrl = (run: RunLayout): string => `http://${run.host}:${run.ports.carrier}`

/** Collects short-lived objects early, which saves 40 MB and costs little speed. */
const NODE_FLAGS = "--max-semi-space-size=4"

/**
 * Returns the memory of large blocks to the system when they are freed. glibc raises this threshold to the size of each
 * block that is freed, up to 32 MB, and keeps such blocks from then on (mallopt(3), M_MMAP_THRESHOLD).
 */
const MALLOC_MMAP_THRESHOLD = "131072"

const serverEnvironment = (run: RunLayout, ports: ServerPorts): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: [process.env["NODE_OPTIONS"], NODE_FLAGS].filter(Boolean).join(" "),
  MALLOC_MMAP_THRESHOLD_: MALLOC_MMAP_THRESHOLD,
  AGENTOS_ENVIRONMENT: "sandbox",
  AGENTOS_HOST: run.host,
  AGENTOS_PORT: String(ports.http),
  AGENTOS_OPERATOR_LISTEN: `${run.host}:${ports.operator}`,
  // All servers have the same public URL, so each accepts the challenges and tokens of the others.
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
  AGENTOS_TWILIO_MACHINE_DETECTION: "on",
  AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify([...run.telephony.allowed, { loopback: "http" }]),
  AGENTOS_NETWORKS: JSON.stringify(paymentNetworks(run, run.chain))
})

/** A service on the chains: its treasury and its refund wallet. */
type ChainService = Pick<ChainDescription, "payTo" | "refundKey">

/** The payment networks of a run in the form of AGENTOS_NETWORKS, the first one first. */
export const paymentNetworks = (run: RunLayout, service: ChainService) =>
  chainsOf(run).map((chain) => paymentNetwork(run, service, chain))

/** A payment network in the form of AGENTOS_NETWORKS, by default the first one. */
export const paymentNetwork = (run: RunLayout, service: ChainService, chain: ChainDescription = run.chain) => ({
  network: chain.network,
  rpcUrl: chain.rpcUrl,
  asset: chain.asset,
  name: chain.assetName,
  ...(chain.assetVersion === undefined ? {} : { version: chain.assetVersion }),
  ...(chain.assetSymbol === undefined ? {} : { symbol: chain.assetSymbol }),
  decimals: chain.decimals,
  payTo: service.payTo,
  smartAccounts: true,
  ...(chain.transferMethod === "permit2"
    ? { transferMethod: chain.transferMethod, ...(chain.gasSponsoring && { gasSponsoring: chain.gasSponsoring }) }
    : { smartAccountFactories: [sandboxAccountFactory] }),
  facilitator: { url: facilitatorUrl(run) },
  refund: { privateKey: service.refundKey },
  confirmations: 0,
  maxTimeoutSeconds: 30
})
