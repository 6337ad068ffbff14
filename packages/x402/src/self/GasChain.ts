import { ProviderError } from "@agentos/core"
import { misconfigured, type OfferedNetwork, PROVIDER } from "../network/PaymentNetwork.ts"
import { Effect, Option, Redacted } from "effect"
import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  type HttpTransport,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError
} from "viem"
import type { GasMarket } from "./GasPrice.ts"
import { type BroadcastRefusal, kindOf, refusalIn } from "./NodeRefusal.ts"

/** The chain's state of a wallet's account nonces. */
export interface AccountNonces {
  /** The next account nonce that the chain accepts: all below it are used. */
  readonly taken: number
  /** All account nonces below this one are used in final blocks. */
  readonly final: number
}

/** The requests of a gas wallet to a chain, by JSON-RPC. A failed request is a `ProviderError`. */
export interface GasChain {
  readonly client: PublicClient<HttpTransport>
  /** Returns the next account nonce that the chain accepts, as of the newest block. */
  readonly nextNonce: (wallet: Address) => Effect.Effect<number, ProviderError>
  readonly accountNonces: (wallet: Address) => Effect.Effect<AccountNonces, ProviderError>
  readonly market: Effect.Effect<GasMarket, ProviderError>
  readonly balance: (wallet: Address) => Effect.Effect<bigint, ProviderError>
  /** Returns the receipt of a transaction; none while no block contains it. */
  readonly receipt: (hash: Hex) => Effect.Effect<Option.Option<TransactionReceipt>, ProviderError>
  /**
   * Sends a signed transaction to the node; undefined if the node accepted it. Never fails: if the answer is
   * unclear, the node may have accepted it.
   */
  readonly broadcast: (bytes: Hex) => Effect.Effect<BroadcastRefusal | undefined>
}

const DEFAULT_TIMEOUT_MILLIS = 10_000
/** Size limit of a node's response. */
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024

/**
 * Depth in blocks at which a transaction counts as final if the chain's tag `finalized` is further behind.
 * Rollups finalize a block when the chain beneath includes it, a quarter of an hour later, while full nodes
 * keep the state of only 128 blocks.
 */
const DEPTH = 64n

/** Makes a client of the network's node for its gas wallet. */
export const make = ({ config }: OfferedNetwork): GasChain => {
  const timeoutMillis = config.rpcTimeoutMillis ?? DEFAULT_TIMEOUT_MILLIS
  const client = createPublicClient({
    transport: http(Redacted.value(config.rpcUrl), {
      batch: false,
      retryCount: 0,
      timeout: timeoutMillis,
      maxResponseBodySize: ANSWER_BYTES_MAX
    }),
    cacheTime: 0
  })
  const failed = (cause: unknown) =>
    new ProviderError({
      provider: PROVIDER,
      reason: "Temporary",
      message: `The chain ${config.network} could not be read for the gas wallet: ${kindOf(cause)}.`
    })
  const ask = <A>(question: () => Promise<A>): Effect.Effect<A, ProviderError> =>
    Effect.tryPromise({ try: question, catch: failed })

  const nonceAt = (wallet: Address, blockNumber: bigint) =>
    ask(() => client.getTransactionCount({ address: wallet, blockNumber }))

  return {
    client,
    nextNonce: (wallet) => ask(() => client.getTransactionCount({ address: wallet, blockTag: "latest" })),
    accountNonces: Effect.fnUntraced(function* (wallet) {
      const latest = yield* ask(async () => BigInt(await client.request({ method: "eth_blockNumber" })))
      const finalized = (yield* ask(() => client.getBlock({ blockTag: "finalized" }))).number
      const deep = latest - DEPTH
      const final = yield* deep > finalized
        ? // A node that keeps little state may have dropped that of a deep block; it keeps that of the finalized one.
          Effect.catch(nonceAt(wallet, deep), () => nonceAt(wallet, finalized))
        : nonceAt(wallet, finalized)
      const taken = yield* nonceAt(wallet, latest)
      return { taken, final: Math.min(final, taken) }
    }),
    market: Effect.gen(function* () {
      const block = yield* ask(() => client.getBlock({ blockTag: "latest" }))
      if (block.baseFeePerGas === null) {
        return yield* misconfigured(
          `Payment network ${config.network} has no base fee (EIP-1559). Configure a facilitator of another kind.`
        )
      }
      const priorityFeePerGas = yield* ask(() => client.estimateMaxPriorityFeePerGas())
      return { baseFeePerGas: block.baseFeePerGas, priorityFeePerGas, blockTimestamp: block.timestamp }
    }),
    balance: (wallet) => ask(() => client.getBalance({ address: wallet })),
    receipt: (hash) =>
      ask(() =>
        client.getTransactionReceipt({ hash }).catch((cause: unknown) => {
          if (cause instanceof TransactionReceiptNotFoundError) return undefined
          throw cause
        })
      ).pipe(Effect.map(Option.fromUndefinedOr)),
    broadcast: (bytes) =>
      Effect.tryPromise({
        try: () => client.request({ method: "eth_sendRawTransaction", params: [bytes] }),
        catch: refusalIn
      }).pipe(Effect.match({ onSuccess: () => undefined, onFailure: (refusal) => refusal }))
  }
}
