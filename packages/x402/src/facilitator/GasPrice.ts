/** What a unit of gas may cost, in the chain's smallest unit (EIP-1559). */
export interface GasPrice {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** What the chain asks for at the moment. */
export interface GasMarket {
  /** Of the newest block. */
  readonly baseFeePerGas: bigint
  /** What the node thinks enough for whoever makes the next block. */
  readonly priorityFeePerGas: bigint
  /** When the newest block was made, in unix seconds. */
  readonly blockTimestamp: bigint
}

/**
 * The price of a new transaction: room for the base fee to double, which takes six full blocks at least (EIP-1559: an
 * eighth a block), or the ceiling. Undefined where even the present base fee is not below the ceiling.
 */
export const priceOf = (market: GasMarket, ceiling: bigint): GasPrice | undefined => {
  if (market.baseFeePerGas >= ceiling) return undefined
  const maxFeePerGas = least(market.baseFeePerGas * 2n + market.priorityFeePerGas, ceiling)
  return { maxFeePerGas, maxPriorityFeePerGas: least(market.priorityFeePerGas, maxFeePerGas) }
}

/**
 * The price at which a transaction takes the place of one of the same account nonce: a quarter more of both fees, where
 * nodes ask for a tenth (geth, `--txpool.pricebump`) or an eighth, and what the chain asks for now if that is more.
 * Undefined where the ceiling leaves no room for it.
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

/** Whether a block made now could hold a transaction at this price. */
export const isEnough = (price: GasPrice, market: GasMarket): boolean => price.maxFeePerGas > market.baseFeePerGas

/** A quarter more, rounded up, and more at any rate. */
const raised = (fee: bigint): bigint => fee + (fee + 3n) / 4n + (fee === 0n ? 1n : 0n)

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (first: bigint, ...others: ReadonlyArray<bigint>): bigint =>
  others.reduce((largest, other) => (other > largest ? other : largest), first)
