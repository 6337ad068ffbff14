import type { Timestamp } from "@agentos/core"
import type { AccountNonces } from "./GasChain.ts"
import type { GasTransaction } from "./GasTransactionStore.ts"

/** The state of a wallet in one round of the keeper. */
export interface GasRound extends AccountNonces {
  /** By ascending account nonce. */
  readonly open: ReadonlyArray<GasTransaction>
  /** True if more transactions may be open than listed. */
  readonly isFull: boolean
  readonly now: Timestamp.Timestamp
  readonly blockAt: Timestamp.Timestamp
  readonly repriceAfterMillis: number
}

/** The actions of a keeper in one round. */
export interface GasPlan {
  /** Transactions whose account nonce is final: they are checked once more and closed. */
  readonly close: ReadonlyArray<GasTransaction>
  /** Transactions that blocks could have included for a while but did not: to be repriced, oldest first. */
  readonly stuck: ReadonlyArray<GasTransaction>
  /** The other transactions that no block contains, to be broadcast again. */
  readonly waiting: ReadonlyArray<GasTransaction>
  /** Account nonces that the chain used recently for transactions not sent by us. */
  readonly foreign: ReadonlyArray<number>
  /** The account nonce that the chain expects next, if no transaction is stored for it but some are for later ones. */
  readonly gap: number | undefined
}

/** A younger transaction is still being broadcast by the server that opened it. */
export const BROADCAST_GRACE_MILLIS = 2_000
/**
 * Limits of transactions that one round closes, broadcasts or reprices: the oldest first, since later ones wait
 * for them.
 */
export const CLOSE_MAX = 100
export const BROADCAST_MAX = 32
export const REPRICE_MAX = 8

/**
 * Plans a round for a wallet. Transactions pass through `waiting` and `stuck` until a block contains them, stay
 * open while a reorganization could remove that block, and are then closed.
 */
export const plan = (round: GasRound): GasPlan => {
  const { final, now, open, taken } = round
  const mined = open.filter((transaction) => transaction.accountNonce < taken)
  const pending = open.filter((transaction) => transaction.accountNonce >= taken).slice(0, BROADCAST_MAX)
  const isStuck = ({ signedAt }: GasTransaction) =>
    // A chain that makes no blocks is no reason to raise the price.
    now - signedAt > round.repriceAfterMillis && round.blockAt > signedAt
  const stuck = pending.filter(isStuck).slice(0, REPRICE_MAX)
  const known = new Set(open.map((transaction) => transaction.accountNonce))
  return {
    // A list full of mined transactions hides those that wait behind them, so the oldest are closed early.
    close: mined
      .filter(({ accountNonce }) => accountNonce < final || (round.isFull && pending.length === 0))
      .slice(0, CLOSE_MAX),
    stuck,
    waiting: pending.filter(
      (transaction) => !stuck.includes(transaction) && now - transaction.signedAt >= BROADCAST_GRACE_MILLIS
    ),
    foreign: round.isFull ? [] : range(final, Math.min(taken, final + CLOSE_MAX)).filter((nonce) => !known.has(nonce)),
    gap: pending[0] !== undefined && pending[0].accountNonce > taken ? taken : undefined
  }
}

const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
