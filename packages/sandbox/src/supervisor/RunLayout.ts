import { randomBytes, X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { openCertificateAuthority } from "../agent/CertificateAuthority.ts"
import { type ChainDescription, describeChain, isDeployed, openChainKeys } from "../chain/ChainDescription.ts"
import { type SandboxNetwork, tetherNetwork, usdcNetwork } from "../chain/SandboxNetwork.ts"
import { readOrCreateFile } from "../shared/AtomicFile.ts"
import type { DataDirectory } from "./DataDirectory.ts"
import { isPortFree, nextFreePort, reusePort, reusePorts } from "./FreePort.ts"
import { prepareServerFiles, type ServerFiles } from "./ServerFiles.ts"
import { describeError, StartError } from "./StartError.ts"

/** The domain of all mailboxes, in a top-level domain reserved for tests (RFC 6761), so no mail for it can leave. */
export const emailDomain = "sandbox.agentos.test"

export interface ServerPorts {
  readonly http: number
  readonly smtp: number
  readonly operator: number
}

export type RunDatabase =
  | { readonly _tag: "Embedded" }
  | {
      readonly _tag: "Managed"
      readonly url: string
      readonly port: number
      readonly user: string
      readonly password: string
    }
  | { readonly _tag: "External"; readonly url: string }

/** An agent on this machine that the servers may call although its address is not public. */
export interface AllowedWebhook {
  /** The host of the agent's URL, without brackets. */
  readonly host: string
  readonly port: number
  /** The path of a PEM file with the agent's certificate or its authority. */
  readonly caFile: string
}

/** The data that servers, carrier and agents share. */
export interface Telephony {
  /** The servers' account at the carrier. */
  readonly accountSid: string
  readonly authToken: string
  /** The path of the certificate authority of the test agent. */
  readonly agentCaFile: string
  /** The test agent and the user's agent. */
  readonly allowed: ReadonlyArray<AllowedWebhook>
}

/** The addresses, files and secrets of one run. Everything listens on the loopback address only. */
export interface RunLayout {
  readonly data: DataDirectory
  readonly host: string
  readonly ports: Readonly<
    Record<"chain" | "tetherChain" | "facilitator" | "relay" | "relayFaults" | "carrier" | "agent", number>
  >
  /** At least one. All have the public URL of the first. */
  readonly servers: readonly [ServerPorts, ...ReadonlyArray<ServerPorts>]
  readonly database: RunDatabase
  readonly chain: ChainDescription
  /** The second chain; undefined in a run with one network. */
  readonly tetherChain: ChainDescription | undefined
  /** The second chain with its further token; undefined in a run with one or two networks. */
  readonly usdcChain: ChainDescription | undefined
  /** Whether a token still has to be deployed. */
  readonly isNewChain: boolean
  readonly files: ServerFiles
  readonly telephony: Telephony
}

export type NetworkCount = 1 | 2 | 3

export interface LayoutOptions {
  /** The port of the first server's HTTP interface; 0 selects a free one. By default `defaultPort`, or the next free one. */
  readonly port: number | undefined
  /** The number of servers, at least 1. */
  readonly servers: number
  /** The number of payment networks: a token each, the third on the chain of the second. By default 1. */
  readonly networks?: NetworkCount
  /** The number of funded wallets on a new chain. */
  readonly wallets: number
  /** An external PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** The user's own agent. */
  readonly allowWebhook?: AllowedWebhook | undefined
}

const host = "127.0.0.1"

export const defaultPort = 8402

/** Chooses all ports and creates missing files and keys before any process starts. */
export const layOut = async (
  data: DataDirectory,
  { allowWebhook, databaseUrl, networks = 1, port: wanted, servers: count, wallets }: LayoutOptions
): Promise<RunLayout> => {
  const port = wanted ?? (await nextFreePort(defaultPort))
  if (port !== 0 && !(await isPortFree(port))) {
    throw new StartError(`Port ${port} is in use. Choose another one with --port N; 0 selects a free port.`)
  }
  // Phone numbers store the URLs of the first server and often of the agent, so their ports should not change.
  const reserved = [port, ...(allowWebhook === undefined ? [] : [allowWebhook.port])]
  const firstHttp = port === 0 ? await reusePort(join(data.server, "port"), reserved) : port
  const agent = await reusePort(join(data.agent, "port"), [...reserved, firstHttp])
  const indexes = Array.from({ length: count }, (_, index) => index)
  const ofServers = indexes.flatMap((index) => [`http-${index}`, `smtp-${index}`, `operator-${index}`] as const)
  const parts = ["chain", "tetherChain", "facilitator", "relay", "relayFaults", "carrier", "postgres"] as const
  const ports = await reusePorts(data.portsFile, [...parts, ...ofServers], [...reserved, firstHttp, agent])
  const { carrier, chain, facilitator, postgres, relay, relayFaults, tetherChain } = ports
  const portsOf = (index: number): ServerPorts => ({
    http: index === 0 ? firstHttp : ports[`http-${index}`]!,
    smtp: ports[`smtp-${index}`]!,
    operator: ports[`operator-${index}`]!
  })
  const tokenFolders = [data.chain, data.tetherChain, data.usdcToken].slice(0, networks)
  const [keys, files, deployed, database, telephony] = await Promise.all([
    openChainKeys(data.chain, wallets),
    prepareServerFiles(data.server, emailDomain),
    Promise.all(tokenFolders.map(isDeployed)),
    layOutDatabase(data, databaseUrl, count, postgres),
    layOutTelephony(data, { host, port: agent }, allowWebhook)
  ])
  const onSecond = (network: SandboxNetwork) => describeChain(keys, `http://${host}:${tetherChain}`, network)
  return {
    data,
    host,
    ports: { chain, tetherChain, facilitator, relay, relayFaults, carrier, agent },
    servers: [portsOf(0), ...Array.from({ length: count - 1 }, (_, index) => portsOf(index + 1))],
    database,
    chain: describeChain(keys, `http://${host}:${chain}`),
    tetherChain: networks < 2 ? undefined : onSecond(tetherNetwork),
    usdcChain: networks < 3 ? undefined : onSecond(usdcNetwork),
    isNewChain: deployed.includes(false),
    files,
    telephony
  }
}

/** An embedded database serves only one server. */
const layOutDatabase = async (
  data: DataDirectory,
  databaseUrl: string | undefined,
  servers: number,
  port: number
): Promise<RunDatabase> => {
  if (databaseUrl !== undefined) return { _tag: "External", url: databaseUrl }
  if (servers === 1) return { _tag: "Embedded" }
  const password = await readOrCreateFile(join(data.server, "database-password"), async () =>
    randomBytes(24).toString("hex")
  )
  const user = "agentos"
  return { _tag: "Managed", url: `postgres://${user}:${password}@${host}:${port}/postgres`, port, user, password }
}

/** Creates the account and the certificate authority once, so that later runs use the same. */
export const layOutTelephony = async (
  data: DataDirectory,
  agent: Pick<AllowedWebhook, "host" | "port">,
  allowed: AllowedWebhook | undefined
): Promise<Telephony> => {
  const account = readOrCreateFile(
    join(data.carrier, "account"),
    async () => `AC${randomBytes(16).toString("hex")}:${randomBytes(16).toString("hex")}`
  )
  // Created here because the servers may read the authority before the agent has started.
  const { caFile } = await openCertificateAuthority(data.agent)
  const [accountSid = "", authToken = ""] = (await account).split(":")
  return {
    accountSid,
    authToken,
    agentCaFile: caFile,
    allowed: [{ ...agent, caFile }, ...(allowed === undefined ? [] : [allowed])]
  }
}

/** Fails with `StartError` unless the file holds a certificate, without which the servers would not start. */
export const checkAllowedWebhook = async ({ caFile }: AllowedWebhook): Promise<void> => {
  const pem = await readFile(caFile).catch((error: unknown) => {
    throw new StartError(`--allow-webhook-ca: the file could not be read: ${describeError(error)}`)
  })
  try {
    void new X509Certificate(pem)
  } catch {
    throw new StartError(`--allow-webhook-ca: the file does not contain a PEM certificate: ${caFile}`)
  }
}
