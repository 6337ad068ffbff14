import { privateKeyToAddress } from "viem/accounts"
import type { ChainDescription } from "../chain/ChainDescription.ts"
import { usdt0Network } from "../chain/SandboxNetwork.ts"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"
import { clockModule } from "../clock/shiftedDate.ts"
import {
  baseUrl,
  canMoveTime,
  carrierUrl,
  chainsOf,
  facilitatorUrl,
  type paymentNetwork,
  paymentNetworks,
  relayFaultsUrl
} from "./Programs.ts"
import { emailDomain, type RunLayout, type ServerPorts } from "./RunLayout.ts"
import { dkimSelector, outsideDomain } from "./ServerFiles.ts"

/** The pids of the serving processes. */
export interface SandboxProcesses {
  /** The first server. */
  readonly server: number
  readonly chain: number
  readonly facilitator: number
  readonly relay: number
  readonly carrier: number
  /** The test agent. */
  readonly agent: number
  /** Present if the sandbox runs a PostgreSQL. */
  readonly postgres?: number
}

/** The addresses of one server. */
export interface SandboxServer {
  readonly baseUrl: string
  readonly websocketUrl: string
  /** The base URL of its operator routes, which it serves if AGENTOS_OPERATOR_TOKEN is set. */
  readonly operatorUrl: string
  /** The SMTP server for inbound mail. */
  readonly mail: { readonly host: string; readonly port: number }
  readonly pid: number
}

/** A payment network with its chain. */
export interface SandboxChain {
  readonly rpcUrl: string
  readonly network: `eip155:${number}`
  readonly asset: `0x${string}`
  readonly assetName: string
  /** With the name, the EIP-712 domain of the token. Absent if the token verifies no signatures. */
  readonly assetVersion?: string
  /** Absent if it is USDT. */
  readonly assetSymbol?: string
  readonly decimals: number
  readonly payTo: `0x${string}`
  /** Pays refunds. */
  readonly refundWallet: `0x${string}`
  /** How payers authorize a transfer of the token. By `permit2`, they allow Permit2 the token first. */
  readonly transferMethod: "eip3009" | "permit2"
  /** How that allowance comes with a payment, without gas. Absent if the payer must send a transaction. */
  readonly gasSponsoring?: "eip2612"
}

/** The content of `sandbox.json`: everything that a client or a test needs to know about a running sandbox. */
export interface SandboxDescription {
  /** The first server. The other fields outside `servers` refer to it too. */
  readonly baseUrl: string
  readonly websocketUrl: string
  /** The base URL of the operator routes, which are served if AGENTOS_OPERATOR_TOKEN is set. */
  readonly operatorUrl: string
  /** The domain of all mailboxes. */
  readonly emailDomain: string
  readonly mail: {
    readonly host: string
    /** The service's SMTP server for inbound mail. */
    readonly port: number
    /** The mail relay, which receives the service's outbound mail. */
    readonly relayPort: number
    /** The base URL of the relay's `/sandbox/faults`, `/sandbox/mail` and `/sandbox/reports`. */
    readonly relayFaultsUrl: string
    /** The directory of outbound mail, one file per mail. */
    readonly outboxDir: string
    /** An external domain. Mail that is signed with its key or sent from this machine passes authentication. */
    readonly outside: { readonly domain: string; readonly dkimSelector: string; readonly dkimKeyFile: string }
  }
  /** The chain of the first payment network. */
  readonly chain: SandboxChain & { readonly assetVersion: string }
  /** The chains of all payment networks, the first included. */
  readonly chains: ReadonlyArray<SandboxChain>
  readonly facilitatorUrl: string
  /** Moves the time of the sandbox; null where time cannot be moved. */
  readonly clock: {
    /** The URL of `/sandbox/clock`. */
    readonly url: string
    /** A module that gives a Node process the time of the sandbox: `node --import MODULE client.js`. */
    readonly module: string
  } | null
  /** Payment networks in the form of AGENTOS_NETWORKS, for a server or host of your own. The sandbox uses others. */
  readonly networks: ReadonlyArray<ReturnType<typeof paymentNetwork>>
  /** The base URL of `/sandbox/people` and `/sandbox/calls`, which control simulated people and their calls. */
  readonly carrier: { readonly url: string }
  /** The webhook URL of the test agent, which repeats the caller's words. */
  readonly agentWebhookUrl: string
  /** The path of the PEM file of the certificate authority of that agent. */
  readonly agentWebhookCa: string
  /** Customers with test USDT. */
  readonly wallets: ReadonlyArray<{ readonly address: `0x${string}`; readonly privateKey: `0x${string}` }>
  readonly processes: SandboxProcesses
  /** The PostgreSQL that the servers share; null if the database is embedded in the server. */
  readonly databaseUrl: string | null
  /** All servers, the first included. */
  readonly servers: ReadonlyArray<SandboxServer>
}

/** Returns the content of `sandbox.json` for a run with the given pids. */
export const describeRun = (
  run: RunLayout,
  serverPids: ReadonlyArray<number>,
  processes: SandboxProcesses
): SandboxDescription => {
  const { chain, data, database, host, ports, servers, telephony } = run
  const [first] = servers
  return {
    baseUrl: baseUrl(run, first),
    websocketUrl: websocketUrl(run, first),
    operatorUrl: operatorUrl(run, first),
    emailDomain,
    mail: {
      host,
      port: first.smtp,
      relayPort: ports.relay,
      relayFaultsUrl: relayFaultsUrl(run),
      outboxDir: data.outbox,
      outside: { domain: outsideDomain, dkimSelector, dkimKeyFile: run.files.outsideDkimKeyFile }
    },
    chain: { ...describeNetwork(chain), assetVersion: usdt0Network.assetVersion },
    chains: chainsOf(run).map(describeNetwork),
    facilitatorUrl: facilitatorUrl(run),
    clock: canMoveTime(run)
      ? { url: `${facilitatorUrl(run)}/sandbox/clock`, module: clockModule(data.clockFile) }
      : null,
    networks: paymentNetworks(run, chain.host),
    carrier: { url: carrierUrl(run) },
    agentWebhookUrl: `https://${host}:${ports.agent}/`,
    agentWebhookCa: telephony.agentCaFile,
    wallets: chain.wallets,
    processes,
    databaseUrl: database._tag === "Embedded" ? null : database.url,
    servers: servers.map((server, index) => ({
      baseUrl: baseUrl(run, server),
      websocketUrl: websocketUrl(run, server),
      operatorUrl: operatorUrl(run, server),
      mail: { host, port: server.smtp },
      pid: serverPids[index] ?? 0
    }))
  }
}

const describeNetwork = (chain: ChainDescription): SandboxChain => ({
  rpcUrl: chain.rpcUrl,
  network: chain.network,
  asset: chain.asset,
  assetName: chain.assetName,
  ...(chain.assetVersion === undefined ? {} : { assetVersion: chain.assetVersion }),
  ...(chain.assetSymbol === undefined ? {} : { assetSymbol: chain.assetSymbol }),
  decimals: chain.decimals,
  payTo: chain.payTo,
  refundWallet: privateKeyToAddress(chain.refundKey),
  transferMethod: chain.transferMethod,
  ...(chain.gasSponsoring && { gasSponsoring: chain.gasSponsoring })
})

const operatorUrl = ({ host }: RunLayout, { operator }: ServerPorts): string => `http://${host}:${operator}`
const websocketUrl = ({ host }: RunLayout, { http }: ServerPorts): string => `ws://${host}:${http}/api/v1/events/socket`

/** Writes the description. Only its owner can read it, because it holds private keys. */
export const writeSandboxFile = (path: string, description: SandboxDescription): Promise<void> =>
  replaceFile(path, `${JSON.stringify(description, undefined, 2)}\n`, 0o600)

/** Reads the description of a running or killed sandbox; undefined if the file does not exist. */
export const readSandboxFile = async (path: string): Promise<SandboxDescription | undefined> => {
  const text = await readFileIfExists(path)
  return text === undefined ? undefined : (JSON.parse(text.toString()) as SandboxDescription)
}
