import { ProviderError } from "@agentos/core"
import { Effect, Option, Redacted } from "effect"
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  type Hex,
  http,
  HttpRequestError,
  numberToHex,
  pad,
  parseAbi,
  toEventSelector,
  TransactionReceiptNotFoundError
} from "viem"
import { type OfferedNetwork, PROVIDER } from "./PaymentNetwork.ts"

/** What a token's log says of the use of an authorization's nonce. */
export interface AuthorizationUse {
  readonly transaction: string
  readonly block: bigint
  /** The nonce was given up by AuthorizationCanceled, and moved nothing. */
  readonly cancelled: boolean
  /** The Transfer that directly follows in the token's own log. Addresses in lower case. */
  readonly transfer: Option.Option<{ readonly from: string; readonly to: string; readonly value: bigint }>
}

/**
 * A chain as far as payments need it, read by JSON-RPC. Nothing is ever sent. A question that
 * fails is a `ProviderError`: `Misconfigured` where the node refuses us or the contract does
 * not have what was asked for, else `Temporary`.
 *
 * Payers and nonces are given in lower case.
 */
export interface EvmChain {
  readonly chainId: Effect.Effect<bigint, ProviderError>
  readonly latestBlock: Effect.Effect<bigint, ProviderError>
  /** The newest block that the chain will not take back; its time is in unix seconds. */
  readonly finalizedBlock: Effect.Effect<{ readonly number: bigint; readonly timestamp: bigint }, ProviderError>
  /** Whether the nonce is used or cancelled as of a block (EIP-3009, authorizationState). */
  readonly isUsed: (payer: Hex, nonce: Hex, block: bigint) => Effect.Effect<boolean, ProviderError>
  /** The use of the nonce in a transaction that has been mined; none when it has not been, or did not use it. */
  readonly readUse: (
    transaction: Hex,
    payer: Hex,
    nonce: Hex
  ) => Effect.Effect<Option.Option<AuthorizationUse>, ProviderError>
  /** The first use of the nonce from one block to another, both included. Searches `LOG_QUESTIONS_MAX` ranges at most. */
  readonly findUse: (
    payer: Hex,
    nonce: Hex,
    from: bigint,
    to: bigint
  ) => Effect.Effect<Option.Option<AuthorizationUse>, ProviderError>
  readonly tokenDomainSeparator: Effect.Effect<Hex, ProviderError>
  readonly tokenDecimals: Effect.Effect<number, ProviderError>
}

/**
 * How many ranges of blocks one search looks through. An authorization is used within minutes of
 * the block that the search starts after, or never, so the first ranges hold what there is to find.
 */
export const LOG_QUESTIONS_MAX = 100

const DEFAULT_TIMEOUT_MILLIS = 10_000
const DEFAULT_LOG_BLOCKS = 1_000
/** Largest answer of a node that is read. */
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024

/** EIP-3009; EIP-712's DOMAIN_SEPARATOR as EIP-2612 names it; ERC-20. */
const tokenAbi = parseAbi([
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function decimals() view returns (uint8)"
])
const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")
const AUTHORIZATION_CANCELED = toEventSelector("AuthorizationCanceled(address,bytes32)")
const TRANSFER = toEventSelector("Transfer(address,address,uint256)")

/** A reader of the network's chain. */
export const make = ({ asset, config }: OfferedNetwork): EvmChain => {
  const timeoutMillis = config.rpcTimeoutMillis ?? DEFAULT_TIMEOUT_MILLIS
  const rpcUrl = Redacted.value(config.rpcUrl)
  const client = createPublicClient({
    // Batches are off: nodes differ in how they take them, and few questions are ever asked at one time.
    transport: http(rpcUrl, {
      batch: false,
      retryCount: 1,
      retryDelay: 100,
      timeout: Math.max(1, Math.floor(timeoutMillis / 2)),
      maxResponseBodySize: ANSWER_BYTES_MAX
    }),
    cacheTime: 0
  })

  const failed = (cause: unknown) =>
    new ProviderError({
      provider: PROVIDER,
      reason: isOperators(cause) ? "Misconfigured" : "Temporary",
      message: `The chain ${config.network} could not be read.`,
      cause: new Error(describe(cause, rpcUrl))
    })
  const ask = <A>(question: () => Promise<A>): Effect.Effect<A, ProviderError> =>
    Effect.tryPromise({ try: question, catch: failed }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => Effect.fail(failed(new Error(`no answer within ${timeoutMillis} ms`)))
      })
    )

  const readUse = (transaction: Hex, payer: Hex, nonce: Hex) =>
    Effect.map(
      ask(() =>
        client.getTransactionReceipt({ hash: transaction }).catch((cause: unknown) => {
          if (cause instanceof TransactionReceiptNotFoundError) return undefined
          throw cause
        })
      ),
      (receipt) => Option.flatMap(Option.fromUndefinedOr(receipt), (found) => useIn(found, asset, payer, nonce))
    )

  return {
    chainId: ask(async () => BigInt(await client.getChainId())),
    // Not getBlockNumber, which lets callers share an answer to an earlier question.
    latestBlock: ask(async () => BigInt(await client.request({ method: "eth_blockNumber" }))),
    finalizedBlock: ask(async () => {
      const { number, timestamp } = await client.getBlock({ blockTag: "finalized" })
      return { number, timestamp }
    }),
    isUsed: (payer, nonce, block) =>
      ask(() =>
        client.readContract({
          address: asset,
          abi: tokenAbi,
          functionName: "authorizationState",
          args: [payer, nonce],
          blockNumber: block
        })
      ),
    readUse,
    findUse: Effect.fnUntraced(function* (payer, nonce, from, to) {
      const step = BigInt(config.logBlocksMax ?? DEFAULT_LOG_BLOCKS)
      for (let count = 0n, start = from; start <= to && count < LOG_QUESTIONS_MAX; count++, start += step) {
        const end = start + step - 1n
        const logs = yield* ask(() =>
          client.request({
            method: "eth_getLogs",
            params: [
              {
                address: asset,
                topics: [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], pad(payer), nonce],
                fromBlock: numberToHex(start),
                toBlock: numberToHex(end < to ? end : to)
              }
            ]
          })
        )
        const transaction = logs[0]?.transactionHash
        // Its receipt may be missing: the chain took the block back, or the node knows only half of it yet.
        if (typeof transaction === "string") return yield* readUse(transaction, payer, nonce)
      }
      return Option.none()
    }),
    tokenDomainSeparator: ask(() =>
      client.readContract({ address: asset, abi: tokenAbi, functionName: "DOMAIN_SEPARATOR" })
    ),
    tokenDecimals: ask(() => client.readContract({ address: asset, abi: tokenAbi, functionName: "decimals" }))
  }
}

interface ReceiptLog {
  readonly address: string
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
  readonly logIndex: number
}

const useIn = (
  receipt: { readonly transactionHash: Hex; readonly blockNumber: bigint; readonly logs: ReadonlyArray<ReceiptLog> },
  asset: string,
  payer: Hex,
  nonce: Hex
): Option.Option<AuthorizationUse> => {
  const own = receipt.logs.filter((log) => log.address.toLowerCase() === asset.toLowerCase())
  const use = own.find(
    ({ topics: [event, authorizer, used] }) =>
      (event === AUTHORIZATION_USED || event === AUTHORIZATION_CANCELED) && authorizer === pad(payer) && used === nonce
  )
  if (use === undefined) return Option.none()
  const next = own.find((log) => log.logIndex === use.logIndex + 1)
  return Option.some({
    transaction: receipt.transactionHash,
    block: receipt.blockNumber,
    cancelled: use.topics[0] === AUTHORIZATION_CANCELED,
    transfer: next === undefined ? Option.none() : transferIn(next)
  })
}

const transferIn = ({ data, topics: [event, from, to] }: ReceiptLog) =>
  event === TRANSFER && from !== undefined && to !== undefined && data.length === 66
    ? Option.some({ from: addressIn(from), to: addressIn(to), value: BigInt(data) })
    : Option.none()

/** The address in a topic of 32 bytes. */
const addressIn = (topic: Hex): string => `0x${topic.slice(-40).toLowerCase()}`

/** Whether only the operator can mend it: access refused, or a contract that does not have the function. */
const isOperators = (cause: unknown): boolean => {
  if (!(cause instanceof BaseError)) return false
  return (
    cause.walk(
      (error) =>
        error instanceof ContractFunctionRevertedError ||
        error instanceof ContractFunctionZeroDataError ||
        (error instanceof HttpRequestError && (error.status === 401 || error.status === 403))
    ) !== null
  )
}

/** What went wrong, in one line without the node's address, which may hold an access key. */
const describe = (cause: unknown, rpcUrl: string): string => {
  const text =
    cause instanceof BaseError
      ? [cause.name, cause.shortMessage, cause.details].filter(Boolean).join(": ")
      : cause instanceof Error
        ? cause.message
        : "unknown failure"
  const secrets = [rpcUrl, ...rpcUrl.split(/[/?&=@#]+/).filter((part) => part.length >= 8)]
  return secrets.reduce((safe, secret) => safe.replaceAll(secret, "…"), text).slice(0, 300)
}
