import { Effect, Redacted } from "effect"
import { getBlock } from "viem/actions"
import type { PaymentNetwork } from "../network/PaymentNetwork.ts"
import { rpcClient } from "./RpcTransport.ts"

const TIMEOUT_MILLIS = 10_000

/**
 * Reads the time of a network's newest block, in milliseconds since the Unix epoch. The present is not before it; how far
 * after it depends on how often the chain makes blocks.
 */
export const newestBlockTime = ({ rpcUrl }: Pick<PaymentNetwork, "rpcUrl">): Effect.Effect<number, unknown> =>
  Effect.map(
    Effect.tryPromise(() => getBlock(rpcClient(Redacted.value(rpcUrl), TIMEOUT_MILLIS), { blockTag: "latest" })),
    ({ timestamp }) => Number(timestamp) * 1_000
  )
