import { readFileSync } from "node:fs"
import type { Hex } from "viem"

/** The contracts with creation code in `contracts`. */
export type Contract =
  | "SandboxUsdt"
  | "SandboxTether"
  | "SandboxUsdc"
  | "SandboxPermit2Proxy"
  | "SandboxAccount"
  | "SandboxAccountFactory"
  | "Multicall3"

export const creationCode = (contract: Contract): Hex => {
  const artifact = readFileSync(new URL(`../../contracts/${contract}.json`, import.meta.url), "utf8")
  return (JSON.parse(artifact) as { readonly bytecode: Hex }).bytecode
}
