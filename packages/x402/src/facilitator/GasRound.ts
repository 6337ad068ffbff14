import type { GasTransaction, Timestamp } from "@agentos/core"
import type { AccountNonces } from "./GasChain.ts"

/** What a keeper sees of a wallet in one round. */
export interface GasRound extends AccountNonces {
  /** By ascending account nonce. */
  readonly open: ReadonlyArray<GasTransaction>
  /** Whether there may be more that are open. */
  readonly isFull: boolean
  readonly now: Timestamp.Timestamp
  /** When the newest block was made. */
  readonly blockAt: Timestamp.Timestamp
  readonly repriceAfterMillis: number
}

/** What a keeper does in one round. */
export interface GasPlan {
  /** Transactions whose account nonce the chain has taken for good; they are looked at once more and closed. */
  readonly close: ReadonlyArray<GasTransaction>
  /** Transactions that a block could have had for a while and none has: to be priced again, the oldest first. */
  readonly stuck: ReadonlyArray<GasTransaction>
  /** The others that no block has, to be broadcast again. */
  readonly waiting: ReadonlyArray<GasTransaction>
  /** Account nonces that the chain took lately, and not from us. */
  readonly foreign: ReadonlyArray<number>
  /** An account nonce that the chain waits for and that we have nothing for, while there is something for later ones. */
  readonly gap: number | undefined
}

/** A transaction younger than this is being broadcast by the one who opened it. */
export const BROADCAST_GRACE_MILLIS = 2_000
/** How many transactions one round closes, broadcasts or prices again: the oldest first, since later ones wait for them. */
export const CLOSE_MAX = 100
export const BROADCAST_MAX = 32
export const REPRICE_MAX = 8

/**
 * What there is to do for a wallet. Transactions go through `waiting` and `stuck` until a block has them, stay open
 * while the chain might give them back, and are then closed.
 */
export const plan = (round: GasRound): GasPlan => {
  const { final, now, open, taken } = round
  const mined = open.filter((transaction) => transaction.accountNonce < taken)
  const pending = open.filter((transaction) => transaction.accountNonce >= taken).slice(0, BROADCAST_MAX)
  const isStuck = ({ signedAt }: GasTransaction) =>
    // A chain that makes no blocks is no reason to pay more.
    now - signedAt > round.repriceAfterMillis && round.blockAt > signedAt
  const stuck = pending.filter(isStuck).slice(0, REPRICE_MAX)
  const known = new Set(open.map((transaction) => transaction.accountNonce))
  return {
    // A list that is full of what was mined shows nothing of what waits behind it: the oldest are let go early.
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
