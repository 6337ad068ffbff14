import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"

/** The processes that serve, by what they do. */
export interface SandboxProcesses {
  /** The first one. */
  readonly server: number
  readonly chain: number
  readonly facilitator: number
  readonly relay: number
  readonly carrier: number
  /** The sandbox's own agent, which talks. */
  readonly agent: number
  /** Where the sandbox runs a PostgreSQL itself. */
  readonly postgres?: number
}

/** One of the servers, as it is reached by itself. */
export interface SandboxServer {
  readonly baseUrl: string
  readonly websocketUrl: string
  /** Where it takes mail for the domain. */
  readonly mail: { readonly host: string; readonly port: number }
  readonly pid: number
}

/** What a running sandbox says of itself in `sandbox.json`: all that a client, or a test, needs to know. */
export interface SandboxDescription {
  /** Of the first server, like all that is said of a server outside `servers`. */
  readonly baseUrl: string
  readonly websocketUrl: string
  /** The domain of every mailbox. */
  readonly emailDomain: string
  readonly mail: {
    readonly host: string
    /** Where the service takes mail for its domain. */
    readonly port: number
    /** Where the service hands in mail for everybody else. */
    readonly relayPort: number
    /** Where that relay is made to fail: `/sandbox/faults` follows, as it does on the facilitator. */
    readonly relayFaultsUrl: string
    /** Where that mail ends: one file each. */
    readonly outboxDir: string
    /** A domain of the outside world. Mail that is signed with its key, or comes from this machine, proves it. */
    readonly outside: { readonly domain: string; readonly dkimSelector: string; readonly dkimKeyFile: string }
  }
  readonly chain: {
    readonly rpcUrl: string
    readonly network: `eip155:${number}`
    readonly asset: `0x${string}`
    readonly assetName: string
    readonly assetVersion: string
    readonly decimals: number
    readonly payTo: `0x${string}`
    /** Whose money goes back to customers. */
    readonly refundWallet: `0x${string}`
  }
  readonly facilitatorUrl: string
  /** Where people are told how to behave, and calls begun: `/sandbox/people` and `/sandbox/calls` follow. */
  readonly carrier: { readonly url: string }
  /** An agent that answers each turn by repeating it. Numbers can be bought with this address. */
  readonly agentWebhookUrl: string
  /** The path of a PEM file: the authority behind that agent's certificate. */
  readonly agentWebhookCa: string
  /** Customers with play money. */
  readonly wallets: ReadonlyArray<{ readonly address: `0x${string}`; readonly privateKey: `0x${string}` }>
  readonly processes: SandboxProcesses
  /** Of the PostgreSQL that the servers share; null where the database is embedded in the one server. */
  readonly databaseUrl: string | null
  /** The first one too. */
  readonly servers: ReadonlyArray<SandboxServer>
}

/** Puts the description in its place, readable by its owner alone: it holds private keys. */
export const writeSandboxFile = (path: string, description: SandboxDescription): Promise<void> =>
  replaceFile(path, `${JSON.stringify(description, undefined, 2)}\n`, 0o600)

/** The description of the sandbox that runs, or of one that was killed; undefined where there is none. */
export const readSandboxFile = async (path: string): Promise<SandboxDescription | undefined> => {
  const text = await readFileIfAny(path)
  return text === undefined ? undefined : (JSON.parse(text.toString()) as SandboxDescription)
}
