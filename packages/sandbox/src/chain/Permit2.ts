import type { Hex } from "viem"
import { startAnvil } from "./Anvil.ts"
import { permit2Address, sandboxClient, tetherNetwork } from "./SandboxNetwork.ts"

/**
 * Reads the code of Permit2, which comes with anvil: the genesis block of a Tempo chain has it. Takes 0.1 s.
 *
 * A chain's own id and EIP-712 domain, which a deployment stores in the code, are 0 in this one. The contract computes the
 * domain for each signature where the stored id is not that of the chain, so the same code is right on every chain.
 */
export const permit2Code = async (): Promise<Hex> => {
  const { chainId } = tetherNetwork
  const anvil = await startAnvil({ chainId, family: "tempo", port: 0, mining: "manual" })
  try {
    const code = await sandboxClient(anvil.rpcUrl, chainId).getCode({ address: permit2Address })
    if (code === undefined) throw new Error("This version of anvil has no Permit2")
    return code
  } finally {
    anvil.process.kill("SIGKILL")
    await anvil.process.exited
  }
}
