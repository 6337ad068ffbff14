import { readFileSync } from "node:fs"
import type { Hex } from "viem"

/** Returns the creation code of a compiled contract in `contracts`. */
export const creationCode = (
  contract: "SandboxUsdt" | "SandboxAccount" | "SandboxAccountFactory" | "Multicall3"
): Hex => {
  const artifact = readFileSync(new URL(`../../contracts/${contract}.json`, import.meta.url), "utf8")
  return (JSON.parse(artifact) as { readonly bytecode: Hex }).bytecode
}
