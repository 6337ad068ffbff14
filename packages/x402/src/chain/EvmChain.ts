import { ProviderError } from "@agentos/core"
import { Effect, Option, Redacted } from "effect"
import {
  BaseError,
  type Client,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  type Hex,
  HttpRequestError,
  numberToHex,
  pad,
  concat,
  parseAbi,
  toFunctionSelector,
  type RpcLog,
  TransactionReceiptNotFoundError
} from "viem"
import { call, getBlock, getChainId, getCode, getTransactionReceipt, readContract } from "viem/actions"
import { findBeginning } from "./BlockSearch.ts"
import { isMissingState, isOutage, nodeMessages, rpcClient } from "./RpcTransport.ts"
import { type OfferedNetwork, PROVIDER } from "../network/PaymentNetwork.ts"
import { type TokenTransfer, TRANSFER, transferIn, type TransactionLog } from "./TransferEvent.ts"
import type { CallOutcome, SimulatedCall } from "../network/SimulatedCall.ts"

/** A transfer with its position on the chain. */
export interface LoggedTransfer extends TokenTransfer {
  readonly transaction: string
  readonly block: bigint
  readonly logIndex: number
}

/**
 * Reads a chain by JSON-RPC as far as payments need it. It never submits anything, and only simulations
 * show a signature to the node. A failed request is a `ProviderError`: `Misconfigured` if the node denies
 * access or the contract lacks the requested function, else `Temporary`.
 *
 * Payers, wallets and nonces are given in lower case.
 */
export interface EvmChain {
  readonly chainId: Effect.Effect<bigint, ProviderError>
  readonly latestBlock: Effect.Effect<bigint, ProviderError>
  /** The newest finalized block; its timestamp is in unix seconds. */
  readonly finalizedBlock: Effect.Effect<{ readonly number: bigint; readonly timestamp: bigint }, ProviderError>
  /** Asks the node by a function of viem. */
  readonly ask: <A>(question: (client: Client) => Promise<A>) => Effect.Effect<A, ProviderError>
  /**
   * Calls a function of the token that returns one word, as of a block. The data is put together by the caller: every payment
   * reads so, and a coder that reads an ABI takes longer than the request.
   */
  readonly readWord: (data: Hex, block: bigint | "latest") => Effect.Effect<bigint, ProviderError>
  /** The same as of an older block; undefined if the node no longer has its state. */
  readonly findWord: (data: Hex, block: bigint) => Effect.Effect<bigint | undefined, ProviderError>
  /** Reads the logs of the token in a range of blocks as `ranges` makes them. */
  readonly logs: (range: BlockRange, topics: Topics) => Effect.Effect<ReadonlyArray<RpcLog>, ProviderError>
  /** Reads the logs of the token in one block. Fails if the node does not have the block. */
  readonly blockLogs: (block: bigint, topics: Topics) => Effect.Effect<ReadonlyArray<RpcLog>, ProviderError>
  /** Returns the log of a transaction; none while no block contains it. */
  readonly transactionLog: (transaction: Hex) => Effect.Effect<Option.Option<TransactionLog>, ProviderError>
  /** Reads the transfers to, or from, any of several wallets in one range of blocks as `ranges` makes them. */
  readonly readTransfers: (
    side: { readonly to: ReadonlyArray<Hex> } | { readonly from: ReadonlyArray<Hex> },
    range: BlockRange
  ) => Effect.Effect<ReadonlyArray<LoggedTransfer>, ProviderError>
  /** Splits a range of blocks into pieces that the node accepts in one log request. */
  readonly ranges: (from: bigint, to: bigint, order?: BlockOrder) => Iterable<BlockRange>
  /** Returns the balance of a wallet in the newest block, in base units. */
  readonly balanceOf: (wallet: Hex) => Effect.Effect<bigint, ProviderError>
  /** Returns whether the account has code in the newest block. */
  readonly hasCode: (account: Hex) => Effect.Effect<boolean, ProviderError>
  /** Simulates a call in the newest block (`eth_call`). A call that fails is an answer, and no error. */
  readonly simulate: (call: SimulatedCall) => Effect.Effect<CallOutcome, ProviderError>
  /** Fails if the newest block is not past a time in unix seconds. */
  readonly requireTimeAfter: (unixSeconds: bigint) => Effect.Effect<void, ProviderError>
  /** Returns the newest block with a time before a moment (unix seconds); 0 if no block is that old. */
  readonly blockBefore: (unixSeconds: bigint) => Effect.Effect<bigint, ProviderError>
  readonly tokenDecimals: Effect.Effect<number, ProviderError>
  readonly tokenSymbol: Effect.Effect<string, ProviderError>
}

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

export type BlockOrder = "oldest first" | "newest first"

/** The topics of a log request, each with the values that it accepts. */
export type Topics = ReadonlyArray<Hex | ReadonlyArray<Hex> | null>

/**
 * Limit of block ranges that one search reads. An authorization is used within minutes of the block after which
 * the search starts, or never, so the first ranges are enough.
 */
export const LOG_QUESTIONS_MAX = 100

const DEFAULT_TIMEOUT_MILLIS = 10_000
const DEFAULT_LOG_BLOCKS = 1_000

/** ERC-20. */
const BALANCE_OF = toFunctionSelector("balanceOf(address)")
const DECIMALS = toFunctionSelector("decimals()")
const SYMBOL = parseAbi(["function symbol() view returns (string)"])

/** The contract lacks a function, or refuses to answer. */
class FunctionMissing extends Error {}

export const make = ({ asset, config }: OfferedNetwork): EvmChain => {
  const timeoutMillis = config.rpcTimeoutMillis ?? DEFAULT_TIMEOUT_MILLIS
  const rpcUrl = Redacted.value(config.rpcUrl)
  const client = rpcClient(rpcUrl, Math.max(1, Math.floor(timeoutMillis / 2)))

  const failed = (cause: unknown) =>
    new ProviderError({
      provider: PROVIDER,
      reason: isOperators(cause) ? "Misconfigured" : "Temporary",
      message: `The chain ${config.network} could not be read.`,
      cause: new Error(describe(cause, rpcUrl))
    })
  const ask: EvmChain["ask"] = (question) =>
    Effect.tryPromise({ try: () => within(timeoutMillis, question(client)), catch: failed })

  const wordOf = async (data: Hex, block: bigint | "latest"): Promise<bigint> => {
    const word = await client
      .request({
        method: "eth_call",
        params: [{ to: asset, data }, block === "latest" ? block : numberToHex(block)]
      })
      .catch((cause: unknown) => {
        throw isOutage(cause) ? cause : new FunctionMissing("the call reverted")
      })
    if (!/^0x[0-9a-f]{64}$/i.test(word)) throw new FunctionMissing("the call returned no value")
    return BigInt(word)
  }
  const readWord: EvmChain["readWord"] = (data, block) => ask(() => wordOf(data, block))

  const blockTime = (block: { readonly blockTag: "latest" | "finalized" } | { readonly blockNumber: bigint }) =>
    ask(async () => {
      const { number, timestamp } = await getBlock(client, block)
      return { number, timestamp }
    })

  const blockBefore = Effect.fnUntraced(function* (moment: bigint) {
    const head = yield* blockTime({ blockTag: "latest" })
    if (head.timestamp < moment) return head.number
    const span = yield* findBeginning(0n, head.number, (blockNumber) =>
      Effect.map(blockTime({ blockNumber }), ({ timestamp }) => timestamp >= moment)
    )
    return span?.after ?? 0n
  })

  /** viem's `call` is for calls with a factory: it takes several times as long. */
  const executed = async ({ code, data, factory, gas, to, ...deployment }: SimulatedCall): Promise<Hex> =>
    factory === undefined
      ? client.request({
          method: "eth_call",
          params:
            code === undefined
              ? [{ to, data, gas: numberToHex(gas) }, "latest"]
              : [{ to, data, gas: numberToHex(gas) }, "latest", { [to]: { code } }]
        })
      : ((await call(client, { to, data, gas, factory, ...deployment })).data ?? "0x")

  const simulate = (simulated: SimulatedCall): Effect.Effect<CallOutcome, ProviderError> =>
    ask(() =>
      executed(simulated).then(
        (data) => ({ succeeded: true, data }),
        (cause: unknown) => {
          if (isOutage(cause)) throw cause
          return { succeeded: false, reason: nodeMessages(cause) }
        }
      )
    )

  const step = BigInt(config.logBlocksMax ?? DEFAULT_LOG_BLOCKS)
  const padded = (wallets: ReadonlyArray<Hex>) => wallets.map((wallet) => pad(wallet))

  const copied = (topics: Topics) =>
    topics.map((topic) => (typeof topic === "string" || topic === null ? topic : [...topic]))
  const logs: EvmChain["logs"] = ({ from, to }, topics) =>
    ask(() =>
      client.request({
        method: "eth_getLogs",
        params: [{ address: asset, topics: copied(topics), fromBlock: numberToHex(from), toBlock: numberToHex(to) }]
      })
    )

  return {
    chainId: ask(async () => BigInt(await getChainId(client))),
    // getBlockNumber is not used, because it may return a cached answer.
    latestBlock: ask(async () => BigInt(await client.request({ method: "eth_blockNumber" }))),
    finalizedBlock: blockTime({ blockTag: "finalized" }),
    ask,
    readWord,
    findWord: (data, block) =>
      ask(() =>
        wordOf(data, block).catch((cause: unknown) => {
          if (!isMissingState(cause)) throw cause
          return undefined
        })
      ),
    logs,
    // By the hash: a node that has not indexed the block must fail, and not return an empty list (EIP-234).
    blockLogs: (block, topics) =>
      ask(async () => {
        const { hash } = await getBlock(client, { blockNumber: block })
        return await client.request({
          method: "eth_getLogs",
          params: [{ address: asset, topics: copied(topics), blockHash: hash }]
        })
      }),
    transactionLog: (hash) =>
      Effect.map(
        ask(() =>
          getTransactionReceipt(client, { hash }).catch((cause: unknown) => {
            if (cause instanceof TransactionReceiptNotFoundError) return undefined
            throw cause
          })
        ),
        Option.fromUndefinedOr
      ),
    readTransfers: (side, range) =>
      Effect.map(
        logs(range, "to" in side ? [TRANSFER, null, padded(side.to)] : [TRANSFER, padded(side.from)]),
        (found) =>
          found.flatMap(({ blockNumber, logIndex, transactionHash, ...log }) =>
            blockNumber === null || logIndex === null || transactionHash === null
              ? []
              : Option.toArray(transferIn(log)).map((transfer) => ({
                  ...transfer,
                  transaction: transactionHash,
                  block: BigInt(blockNumber),
                  logIndex: Number(logIndex)
                }))
          )
      ),
    ranges: (from, to, order) => rangesOf(step, from, to, order),
    balanceOf: (wallet) => readWord(concat([BALANCE_OF, pad(wallet)]), "latest"),
    hasCode: (account) =>
      Effect.map(
        ask(() => getCode(client, { address: account })),
        (code) => code !== undefined
      ),
    simulate,
    requireTimeAfter: (moment) =>
      Effect.flatMap(blockTime({ blockTag: "latest" }), ({ timestamp }) =>
        timestamp > moment ? Effect.void : failed(new Error("the newest block is older than the authorization"))
      ),
    blockBefore,
    tokenDecimals: Effect.map(readWord(DECIMALS, "latest"), Number),
    tokenSymbol: ask(() => readContract(client, { address: asset, abi: SYMBOL, functionName: "symbol" }))
  }
}

/** Rejects if there is no answer in time. A timer of the platform costs less than a race of fibers, for each read. */
const within = async <A>(millis: number, answer: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${millis} ms`)), millis)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

function* rangesOf(step: bigint, from: bigint, to: bigint, order: BlockOrder = "oldest first"): Generator<BlockRange> {
  if (order === "oldest first") {
    for (let start = from; start <= to; start += step) {
      const end = start + step - 1n
      yield { from: start, to: end < to ? end : to }
    }
  } else {
    for (let end = to; end >= from; end -= step) {
      const start = end - step + 1n
      yield { from: start > from ? start : from, to: end }
    }
  }
}

/** Returns whether only the operator can fix the failure: access denied, or a contract without the function. */
const isOperators = (cause: unknown): boolean => {
  if (cause instanceof FunctionMissing) return true
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

/** Describes a failure in one line without the node's URL, which may contain an access key. */
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
