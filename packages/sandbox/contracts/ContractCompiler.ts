import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"

/** A compiled contract, committed beside its source. */
export interface ContractArtifact {
  readonly contract: string
  /** The full version of the compiler. */
  readonly compiler: string
  readonly settings: CompilerSettings
  /** Hex SHA-256 of the source's bytes. */
  readonly sourceSha256: string
  readonly abi: ReadonlyArray<unknown>
  /** Creation code: 0x and hex digits. */
  readonly bytecode: `0x${string}`
}

interface CompilerSettings {
  readonly evmVersion: string
  readonly optimizer: { readonly enabled: boolean; readonly runs: number }
  readonly metadata: { readonly appendCBOR: boolean; readonly bytecodeHash: string }
}

/** The used part of the solc package, which has no types. */
interface Solc {
  readonly version: () => string
  readonly compile: (input: string) => string
}

interface SolcOutput {
  readonly errors?: ReadonlyArray<{ readonly severity: string; readonly formattedMessage: string }>
  readonly contracts?: Record<
    string,
    Record<string, { readonly abi: ReadonlyArray<unknown>; readonly evm: { readonly bytecode: { object: string } } }>
  >
}

/** The sandbox chain runs Cancun. Without metadata, the same source always compiles to the same bytes. */
const settings: CompilerSettings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" }
}

/** Returns the location of a compiled contract. */
export const artifactUrl = (contract: string): URL => new URL(`./${contract}.json`, import.meta.url)

/** The contracts that are compiled, and the files that define them. */
export const CONTRACTS = {
  SandboxUsdt: "SandboxUsdt.sol",
  SandboxTether: "SandboxTether.sol",
  SandboxUsdc: "SandboxUsdc.sol",
  SandboxPermit2Proxy: "SandboxPermit2Proxy.sol",
  SandboxAccount: "SandboxAccount.sol",
  SandboxAccountFactory: "SandboxAccount.sol"
} as const
export type ContractName = keyof typeof CONTRACTS
export const contractNames = Object.keys(CONTRACTS) as ReadonlyArray<ContractName>

/** Compiles a contract of this folder. Throws the compiler's messages, also for warnings. Takes a few seconds. */
export const compileContract = async (contract: ContractName): Promise<ContractArtifact> => {
  const file = CONTRACTS[contract]
  const source = await readFile(new URL(file, import.meta.url), "utf8")
  const solc = createRequire(import.meta.url)("solc") as Solc
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: "Solidity",
        sources: { [file]: { content: source } },
        settings: { ...settings, outputSelection: { [file]: { [contract]: ["abi", "evm.bytecode.object"] } } }
      })
    )
  ) as SolcOutput
  const messages = output.errors ?? []
  if (messages.length > 0) throw new Error(messages.map(({ formattedMessage }) => formattedMessage).join("\n"))
  const compiled = output.contracts?.[file]?.[contract]
  if (compiled === undefined) throw new Error(`${file} does not define the contract ${contract}`)
  return {
    contract,
    compiler: solc.version(),
    settings,
    sourceSha256: createHash("sha256").update(source).digest("hex"),
    abi: compiled.abi,
    bytecode: `0x${compiled.evm.bytecode.object}`
  }
}
