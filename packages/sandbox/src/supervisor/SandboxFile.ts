import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"

/** The processes that serve, by what they do. */
export type SandboxProcesses = Readonly<Record<"server" | "chain" | "facilitator" | "relay", number>>

/** What a running sandbox says of itself in `sandbox.json`: all that a client, or a test, needs to know. */
export interface SandboxDescription {
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
  /** Customers with play money. */
  readonly wallets: ReadonlyArray<{ readonly address: `0x${string}`; readonly privateKey: `0x${string}` }>
  readonly processes: SandboxProcesses
}

/** Puts the description in its place, readable by its owner alone: it holds private keys. */
export const writeSandboxFile = (path: string, description: SandboxDescription): Promise<void> =>
  replaceFile(path, `${JSON.stringify(description, undefined, 2)}\n`, 0o600)

/** The description of the sandbox that runs, or of one that was killed; undefined where there is none. */
export const readSandboxFile = async (path: string): Promise<SandboxDescription | undefined> => {
  const text = await readFileIfAny(path)
  return text === undefined ? undefined : (JSON.parse(text.toString()) as SandboxDescription)
}
