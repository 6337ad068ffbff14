import { Effect, Redacted } from "effect"
import { createClient } from "viem"
import { getBlock } from "viem/actions"
import type { PaymentNetwork } from "../network/PaymentNetwork.ts"
import { rpcTransport } from "./RpcTransport.ts"

const TIMEOUT_MILLIS = 10_000
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024

/**
 * Reads the time of a network's newest block, in milliseconds since the Unix epoch. The present is not before it; how far
 * after it depends on how often the chain makes blocks.
 */
export const newestBlockTime = ({ rpcUrl }: Pick<PaymentNetwork, "rpcUrl">): Effect.Effect<number, unknown> => {
  const client = createClient({
    transport: rpcTransport({
      url: Redacted.value(rpcUrl),
      timeoutMillis: TIMEOUT_MILLIS,
      answerBytesMax: ANSWER_BYTES_MAX
    }),
    cacheTime: 0
  })
  return Effect.map(
    Effect.tryPromise(() => getBlock(client, { blockTag: "latest" })),
    ({ timestamp }) => Number(timestamp) * 1_000
  )
}
