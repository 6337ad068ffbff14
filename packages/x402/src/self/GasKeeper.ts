import { PollingWorker, type ProviderError, Timestamp } from "@agentos/core"
import { Clock, Effect, Option } from "effect"
import { formatGwei } from "viem"
import { type GasAccount, priceIn } from "./GasAccount.ts"
import type { GasChain } from "./GasChain.ts"
import { type GasMarket, isEnough, repriced } from "./GasPrice.ts"
import { plan } from "./GasRound.ts"
import { broadcast, type GasSpender, LIST_MAX } from "./GasSpender.ts"
import { type GasTransaction, GasTransactionStore } from "./GasTransactionStore.ts"

/** Interval between rounds. */
const ROUND_INTERVAL = "2 seconds"
/** Shortest interval between repetitions of a log message. */
const LOG_INTERVAL_MILLIS = 60_000

/**
 * Maintains a gas wallet for as long as it runs, whichever server opened its transactions. It broadcasts
 * transactions again that no block contains (a node loses them when it restarts; a server may die between
 * storing and sending), reprices those that are stuck, and closes those that are final. Any number of servers
 * may run it: a version is added to a transaction only if no other server has added one meanwhile, and a
 * repeated broadcast has no further effect.
 *
 * A transaction whose call fails in its block has still used its account nonce, and is closed like any other. A
 * block is final if the chain says so or if it is 64 blocks deep: a reorganization can remove newer blocks,
 * whose transactions must then be broadcast again.
 *
 * While no transaction is open, no request is sent to the chain.
 */
export const run = Effect.fnUntraced(function* (
  account: GasAccount,
  chain: GasChain,
  spender: GasSpender
): Effect.fn.Return<never, never, GasTransactionStore> {
  const store = yield* GasTransactionStore
  const log = yield* makeThrottledLog
  return yield* PollingWorker.run({
    name: `gas wallet ${account.address}`,
    concurrency: 1,
    interval: ROUND_INTERVAL,
    take: () => Effect.map(store.listOpen(account.wallet, LIST_MAX), (open) => (open.length === 0 ? [] : [open])),
    handle: (open) =>
      runRound(account, chain, spender, store, log, open).pipe(
        Effect.catch((error) =>
          log(
            "unavailable",
            Effect.logWarning(`gas wallet ${account.address}: round failed; retrying. ${error.message}`)
          )
        ),
        Effect.andThen(Effect.sleep(ROUND_INTERVAL))
      ),
    failed: () => Effect.void
  })
})

type ThrottledLog = (key: string, message: Effect.Effect<void>) => Effect.Effect<void>

/** Runs the effect of a key at most once per `LOG_INTERVAL_MILLIS`. */
const makeThrottledLog: Effect.Effect<ThrottledLog> = Effect.sync(() => {
  const loggedAt = new Map<string, number>()
  return (key, message) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      for (const [old, at] of loggedAt) if (now - at >= LOG_INTERVAL_MILLIS) loggedAt.delete(old)
      if (loggedAt.has(key)) return Effect.void
      loggedAt.set(key, now)
      return message
    })
})

/** Runs one round over the open transactions. */
const runRound = Effect.fnUntraced(function* (
  account: GasAccount,
  chain: GasChain,
  spender: GasSpender,
  store: GasTransactionStore["Service"],
  log: ThrottledLog,
  open: ReadonlyArray<GasTransaction>
): Effect.fn.Return<void, ProviderError> {
  const { address, wallet } = account
  const [nonces, market] = yield* Effect.all([chain.accountNonces(address), chain.market], { concurrency: 2 })
  const { close, foreign, gap, stuck, waiting } = plan({
    ...nonces,
    open,
    isFull: open.length === LIST_MAX,
    now: yield* Timestamp.now,
    blockAt: Timestamp.Timestamp.make(Number(market.blockTimestamp) * Timestamp.SECOND),
    repriceAfterMillis: account.repriceAfterMillis
  })

  for (const transaction of waiting) yield* broadcast(account, chain, transaction)
  for (const transaction of stuck) {
    // Later transactions wait for the first one, whatever price they offer.
    const isFirst = transaction.accountNonce === nonces.taken
    yield* broadcast(account, chain, yield* repriceStuck(account, store, log, market, transaction, isFirst))
  }
  if (foreign.length > 0) yield* reportForeign(account, chain, store, log, foreign, nonces.taken)
  if (gap !== undefined) {
    yield* log(
      `gap ${gap}`,
      Effect.logError(
        `gas wallet ${address} on ${wallet.network}: the chain expects account nonce ${gap}, for which no transaction ` +
          `is stored, and all later transactions wait for it. Check that the RPC URL leads to the same chain as ` +
          `before. If this lasts longer than a minute, send any transaction with account nonce ${gap} from the wallet.`
      )
    )
  }
  if (close.length > 0) yield* closeTaken(account, spender, store, log, close)
})

/**
 * Reprices a transaction if needed, and if the ceiling allows it and no other server has done so. Returns the
 * newest version known.
 */
const repriceStuck = Effect.fnUntraced(function* (
  account: GasAccount,
  store: GasTransactionStore["Service"],
  log: ThrottledLog,
  market: GasMarket,
  transaction: GasTransaction,
  isFirst: boolean
): Effect.fn.Return<GasTransaction> {
  const newest = transaction.versions.at(-1)
  if (newest === undefined) return transaction
  const price = priceIn(newest)
  if (!isFirst && isEnough(price, market)) return transaction
  const what = `gas wallet ${account.address} on ${account.wallet.network}: account nonce ${transaction.accountNonce}`
  const higher = repriced(price, market, account.ceiling)
  if (higher === undefined) {
    yield* log(
      `ceiling ${transaction.accountNonce}`,
      Effect.logError(
        `${what} is stuck, and its price cannot be raised within maxFeePerGasGwei (${formatGwei(account.ceiling)}). ` +
          `It and all later transactions wait until gas is cheaper (now ${formatGwei(market.baseFeePerGas)} gwei) or ` +
          `maxFeePerGasGwei is raised.`
      )
    )
    return transaction
  }
  const version = yield* account.signAgain(newest, higher)
  if (!(yield* store.reprice(transaction, newest.hash, version))) return transaction
  yield* Effect.logInfo(`${what} was repriced to at most ${formatGwei(higher.maxFeePerGas)} gwei`)
  return { ...transaction, versions: [...transaction.versions, version] }
})

/**
 * Reports account nonces that this deployment did not assign, after a second check: another server may just
 * have closed them.
 */
const reportForeign = Effect.fnUntraced(function* (
  { address, wallet }: GasAccount,
  chain: GasChain,
  store: GasTransactionStore["Service"],
  log: ThrottledLog,
  suspects: ReadonlyArray<number>,
  taken: number
): Effect.fn.Return<void, ProviderError> {
  const open = yield* store.listOpen(wallet, LIST_MAX)
  const { final } = yield* chain.accountNonces(address)
  const known = new Set(open.map((transaction) => transaction.accountNonce))
  const foreign = suspects.filter((nonce) => nonce >= final && nonce < taken && !known.has(nonce))
  if (foreign.length === 0) return
  yield* log(
    `foreign ${foreign.at(-1)}`,
    Effect.logError(
      `gas wallet ${address} on ${wallet.network}: another sender used account nonce ${foreign.join(", ")}. Use the ` +
        `wallet for this deployment only, because other transactions take the account nonces of settlements.`
    )
  )
})

/** Closes transactions whose account nonce is final, and reports those that failed or were replaced. */
const closeTaken = Effect.fnUntraced(function* (
  { address, wallet }: GasAccount,
  spender: GasSpender,
  store: GasTransactionStore["Service"],
  log: ThrottledLog,
  close: ReadonlyArray<GasTransaction>
): Effect.fn.Return<void, ProviderError> {
  for (const transaction of close) {
    const { accountNonce, reference, versions } = transaction
    const receipt = yield* spender.receiptOf(transaction)
    const what = `gas wallet ${address} on ${wallet.network}: account nonce ${accountNonce}`
    if (Option.isNone(receipt)) {
      yield* log(
        `lost ${accountNonce}`,
        Effect.logError(
          `${what} was used by a transaction that this deployment did not sign, instead of ${reference} ` +
            `(${versions.map(({ hash }) => hash).join(", ")}). Use the wallet for this deployment only.`
        )
      )
    } else if (receipt.value.status === "reverted") {
      yield* Effect.logWarning(
        `${what}: transaction ${receipt.value.transactionHash} for ${reference} reverted; it cost gas and moved nothing`
      )
    }
  }
  const last = close.at(-1)
  if (last !== undefined) yield* store.closeBelow(wallet, last.accountNonce + 1)
})
