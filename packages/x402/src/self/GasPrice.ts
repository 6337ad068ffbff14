/** The highest price of a unit of gas, in wei (EIP-1559). */
export interface GasPrice {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** The prices that the chain currently requires. */
export interface GasMarket {
  /** Base fee of the newest block. */
  readonly baseFeePerGas: bigint
  /** Priority fee that the node considers sufficient for the producer of the next block. */
  readonly priorityFeePerGas: bigint
  /** Time of the newest block, in unix seconds. */
  readonly blockTimestamp: bigint
}

/**
 * Returns the price of a new transaction, at most the ceiling. It leaves room for the base fee to double, which
 * takes at least six full blocks (EIP-1559: an eighth per block). Undefined if the current base fee already
 * reaches the ceiling.
 */
export const priceOf = (market: GasMarket, ceiling: bigint): GasPrice | undefined => {
  if (market.baseFeePerGas >= ceiling) return undefined
  const maxFeePerGas = least(market.baseFeePerGas * 2n + market.priorityFeePerGas, ceiling)
  return { maxFeePerGas, maxPriorityFeePerGas: least(market.priorityFeePerGas, maxFeePerGas) }
}

/**
 * Returns the price at which a transaction replaces one with the same account nonce: a quarter more of both
 * fees, or the current market price if that is higher. Nodes require a tenth more (geth, `--txpool.pricebump`)
 * or an eighth. Undefined if the ceiling does not allow it.
 */
export const repriced = (previous: GasPrice, market: GasMarket, ceiling: bigint): GasPrice | undefined => {
  const maxPriorityFeePerGas = most(raised(previous.maxPriorityFeePerGas), market.priorityFeePerGas)
  const wanted = most(
    raised(previous.maxFeePerGas),
    market.baseFeePerGas * 2n + market.priorityFeePerGas,
    maxPriorityFeePerGas
  )
  const maxFeePerGas = least(wanted, ceiling)
  if (maxFeePerGas < raised(previous.maxFeePerGas) || maxPriorityFeePerGas > maxFeePerGas) return undefined
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/** Returns whether a block made now could include a transaction at this price. */
export const isEnough = (price: GasPrice, market: GasMarket): boolean => price.maxFeePerGas > market.baseFeePerGas

/** Adds a quarter, rounded up, and at least 1. */
const raised = (fee: bigint): bigint => fee + (fee + 3n) / 4n + (fee === 0n ? 1n : 0n)

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (first: bigint, ...others: ReadonlyArray<bigint>): bigint =>
  others.reduce((largest, other) => (other > largest ? other : largest), first)
