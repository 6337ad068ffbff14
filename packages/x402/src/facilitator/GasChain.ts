import { ProviderError } from "@agentos/core"
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
import { misconfigured, type OfferedNetwork, PROVIDER } from "../PaymentNetwork.ts"
import type { GasMarket } from "./GasPrice.ts"
import { type BroadcastRefusal, kindOf, refusalIn } from "./NodeFailure.ts"

/** How far the chain has come with a wallet's account nonces. */
export interface AccountNonces {
  /** The next one that the chain takes: all below it have been taken. */
  readonly taken: number
  /** All below it were taken so long ago that the chain will not give them back. */
  readonly final: number
}

/** What a gas wallet asks of a chain, by JSON-RPC. A question that fails is a `ProviderError`. */
export interface GasChain {
  readonly client: PublicClient<HttpTransport>
  /** The next account nonce that the chain takes, as of the newest block. */
  readonly nextNonce: (wallet: Address) => Effect.Effect<number, ProviderError>
  readonly accountNonces: (wallet: Address) => Effect.Effect<AccountNonces, ProviderError>
  readonly market: Effect.Effect<GasMarket, ProviderError>
  readonly balance: (wallet: Address) => Effect.Effect<bigint, ProviderError>
  /** None while no block has it. */
  readonly receipt: (hash: Hex) => Effect.Effect<Option.Option<TransactionReceipt>, ProviderError>
  /** Hands a signed transaction to the node; undefined when it took it. Never fails: what is unclear may have been taken. */
  readonly broadcast: (bytes: Hex) => Effect.Effect<BroadcastRefusal | undefined>
}

const DEFAULT_TIMEOUT_MILLIS = 10_000
/** Largest answer of a node that is read. */
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024

/**
 * How many blocks deep a transaction counts as final where the chain's own word for it comes later. Rollups call a
 * block final when the chain beneath has it, a quarter of an hour later, and full nodes keep the state of 128 blocks.
 */
const DEPTH = 64n

/** A client of the network's node for its gas wallet. */
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
      message: `The chain ${config.network} could not be asked about the gas wallet: ${kindOf(cause)}.`
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
        ? // The state of a deep block may be gone where a node keeps little; that of the finalized one is kept.
          Effect.catch(nonceAt(wallet, deep), () => nonceAt(wallet, finalized))
        : nonceAt(wallet, finalized)
      const taken = yield* nonceAt(wallet, latest)
      return { taken, final: Math.min(final, taken) }
    }),
    market: Effect.gen(function* () {
      const block = yield* ask(() => client.getBlock({ blockTag: "latest" }))
      if (block.baseFeePerGas === null) {
        return yield* misconfigured(
          `Payment network ${config.network} has no base fee (EIP-1559): settle there by a facilitator of another kind.`
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
