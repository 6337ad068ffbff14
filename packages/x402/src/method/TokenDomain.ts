import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import { type Hex, parseAbi } from "viem"
import { readContract } from "viem/actions"
import type { EvmChain } from "../chain/EvmChain.ts"
import { misconfigured, type OfferedNetwork } from "../network/PaymentNetwork.ts"
import type { TypedDomain } from "../network/TypedDomain.ts"

/** Returns the EIP-712 domain of the network's token. */
export const domainOf = ({
  asset,
  chainId,
  config: { name, version }
}: Pick<OfferedNetwork, "config" | "chainId" | "asset">): TypedDomain => ({
  name,
  ...(version === undefined ? {} : { version }),
  chainId,
  verifyingContract: asset
})

/** EIP-712's DOMAIN_SEPARATOR as EIP-2612 names it. */
const domainAbi = parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"])

/**
 * Compares the EIP-712 domain, recomputed from name, version, chain and address, with that of the contract. A payment signed
 * for a domain that is wrong by one letter cannot be settled, and every client would run into that.
 */
export const domainCheck = Effect.fnUntraced(function* (
  { asset, config }: OfferedNetwork,
  chain: EvmChain,
  expected: Hex
): Effect.fn.Return<void, ProviderError> {
  const separator = yield* Effect.catchIf(
    chain.ask((client) => readContract(client, { address: asset, abi: domainAbi, functionName: "DOMAIN_SEPARATOR" })),
    (error) => error.reason === "Misconfigured",
    () =>
      misconfigured(
        `Payment network ${config.network}: ${asset} is not a token with DOMAIN_SEPARATOR, or the node denies access.`
      )
  )
  if (separator !== expected) {
    return yield* misconfigured(
      `Payment network ${config.network}: name ${JSON.stringify(config.name)} and version ` +
        `${JSON.stringify(config.version)} do not match the EIP-712 domain of ${asset}: its DOMAIN_SEPARATOR is ` +
        `${separator}, not ${expected}.`
    )
  }
})
