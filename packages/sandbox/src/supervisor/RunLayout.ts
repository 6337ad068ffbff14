import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { type ChainDescription, describeChain, readChainDescription } from "../chain/ChainDescription.ts"
import { createChainKeys, readChainKeys } from "../chain/ChainKeys.ts"
import type { DataDirectory } from "./DataDirectory.ts"
import { StartRefused } from "./Failure.ts"
import { findFreePorts, isPortFree, keepPort } from "./FreePort.ts"
import { keepOnce, prepareServerFiles, type ServerFiles } from "./ServerFiles.ts"
import { type AllowedWebhook, layOutTelephony, type Telephony } from "./Telephony.ts"

/** Whose names are reserved for tests (RFC 6761), so that no mail for it can go anywhere else. */
export const emailDomain = "sandbox.agentos.test"

/** Where a server listens. */
export interface ServerPorts {
  readonly http: number
  readonly smtp: number
}

/** Where the servers keep their data. */
export type RunDatabase =
  | { readonly _tag: "Embedded" }
  | {
      readonly _tag: "Own"
      readonly url: string
      readonly port: number
      readonly user: string
      readonly password: string
    }
  | { readonly _tag: "Given"; readonly url: string }

/** Where everything of one run is. It all listens on this machine alone. */
export interface RunLayout {
  readonly data: DataDirectory
  readonly host: string
  readonly ports: Readonly<Record<"chain" | "facilitator" | "relay" | "relayFaults" | "carrier" | "agent", number>>
  /** At least one; all are one service to the outside, under the address of the first. */
  readonly servers: readonly [ServerPorts, ...ReadonlyArray<ServerPorts>]
  readonly database: RunDatabase
  readonly chain: ChainDescription
  /** Whether nothing is deployed there yet. */
  readonly isNewChain: boolean
  readonly files: ServerFiles
  readonly telephony: Telephony
}

export interface LayoutOptions {
  /** Of the first server's HTTP interface; 0 takes a free one. */
  readonly port: number
  /** How many servers: 1 or more. */
  readonly servers: number
  /** Of wallets with money, where the chain is new. */
  readonly wallets: number
  /** A PostgreSQL of somebody's. */
  readonly databaseUrl: string | undefined
  /** An agent of the tester's own. */
  readonly allowWebhook?: AllowedWebhook | undefined
}

const host = "127.0.0.1"

/** Decides where everything will be, before any of it runs. */
export const layOut = async (
  data: DataDirectory,
  { allowWebhook, databaseUrl, port, servers: count, wallets }: LayoutOptions
): Promise<RunLayout> => {
  if (port !== 0 && !(await isPortFree(port))) {
    throw new StartRefused(`Port ${port} is taken. Choose another with --port N; 0 takes a free one.`)
  }
  // Numbers are bought with the address of the first server, at which the carrier asks, and often with the agent's.
  const theirs = [port, ...(allowWebhook === undefined ? [] : [allowWebhook.port])]
  const firstHttp = port === 0 ? await keepPort(join(data.server, "port"), theirs) : port
  const agent = await keepPort(join(data.agent, "port"), [...theirs, firstHttp])
  const free = await findFreePorts(6 + 2 * count, [...theirs, firstHttp, agent])
  const [chain = 0, facilitator = 0, relay = 0, relayFaults = 0, carrier = 0, postgres = 0, ...rest] = free
  const portsOf = (index: number): ServerPorts => {
    const [http = 0, smtp = 0] = rest.slice(2 * index)
    return { http: index === 0 ? firstHttp : http, smtp }
  }
  const [keys, files, deployed, database, telephony] = await Promise.all([
    readChainKeys(data.chain).then((kept) => kept ?? createChainKeys(data.chain, wallets)),
    prepareServerFiles(data.server, emailDomain),
    readChainDescription(data.chain),
    layOutDatabase(data, databaseUrl, count, postgres),
    layOutTelephony(data, { host, port: agent }, allowWebhook)
  ])
  return {
    data,
    host,
    ports: { chain, facilitator, relay, relayFaults, carrier, agent },
    servers: [portsOf(0), ...Array.from({ length: count - 1 }, (_, index) => portsOf(index + 1))],
    database,
    chain: describeChain(keys, `http://${host}:${chain}`),
    isNewChain: deployed === undefined,
    files,
    telephony
  }
}

/** An embedded database serves one server. */
const layOutDatabase = async (
  data: DataDirectory,
  databaseUrl: string | undefined,
  servers: number,
  port: number
): Promise<RunDatabase> => {
  if (databaseUrl !== undefined) return { _tag: "Given", url: databaseUrl }
  if (servers === 1) return { _tag: "Embedded" }
  const password = await keepOnce(join(data.server, "database-password"), async () => randomBytes(24).toString("hex"))
  const user = "agentos"
  return { _tag: "Own", url: `postgres://${user}:${password}@${host}:${port}/postgres`, port, user, password }
}
