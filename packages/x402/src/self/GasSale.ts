import { ProviderError, Usdt } from "@agentos/core"
import { Effect, Metric, Schedule, type Scope } from "effect"
import { formatGwei, parseEther } from "viem"
import { type OfferedNetwork, PROVIDER, type TransferMethodName } from "../network/PaymentNetwork.ts"
import type { GasMarket } from "./GasPrice.ts"

/** The limits up to which calls are offered. */
export interface SaleLimits {
  /** Highest price of a unit of gas, in wei. */
  readonly gasPriceMax: bigint
  /** Price of the chain's native coin in base units of prices; undefined if the price of a call does not matter. */
  readonly coinPrice: bigint | undefined
  /** Units of gas of a settlement. */
  readonly settlementGas: bigint
}

/**
 * Units of gas of a settlement, for its cost: those that the sandbox's tokens take (68,400 and 87,600), and about 12,000 for a
 * token behind an upgradeable proxy.
 */
export const SETTLEMENT_GAS: Readonly<Record<TransferMethodName, bigint>> = { eip3009: 80_000n, permit2: 100_000n }

const WEI_PER_COIN = parseEther("1")

/** Returns the cost of gas in base units of prices, rounded up. */
export const costOf = (gas: bigint, gasPrice: bigint, coinPrice: bigint): bigint =>
  (gas * gasPrice * coinPrice + WEI_PER_COIN - 1n) / WEI_PER_COIN

/** Returns whether calls of a price are offered while gas has this price. */
export const isSold = (
  price: bigint,
  gasPrice: bigint,
  { coinPrice, gasPriceMax, settlementGas }: SaleLimits
): boolean =>
  gasPrice <= gasPriceMax && (coinPrice === undefined || costOf(settlementGas, gasPrice, coinPrice) <= price)

const tooExpensive = (network: string, gasPrice: bigint, gasPriceMax: bigint): string =>
  `Payment network ${network}: gas costs ${formatGwei(gasPrice)} gwei, and sellBelowGasGwei allows at most ` +
  `${formatGwei(gasPriceMax)}. Challenges leave the network out.`

/** Fails with `Temporary` while gas costs more than a limit, in wei. */
export const checkOffered = Effect.fnUntraced(function* (
  { network }: Pick<OfferedNetwork, "network">,
  market: Effect.Effect<GasMarket, ProviderError>,
  gasPriceMax: bigint
): Effect.fn.Return<void, ProviderError> {
  const gasPrice = priceNow(yield* market)
  if (gasPrice <= gasPriceMax) return
  const message = tooExpensive(network, gasPrice, gasPriceMax)
  return yield* new ProviderError({ provider: PROVIDER, reason: "Temporary", message })
})

const priceNow = ({ baseFeePerGas, priorityFeePerGas }: GasMarket): bigint => baseFeePerGas + priorityFeePerGas

const READ_EVERY = "15 seconds"

/**
 * Reads the price of gas, now and every 15 seconds until the scope closes. Returns whether calls of a price are offered, by
 * the last price that could be read. Each time the network is left out of all challenges, and when it returns, the log has a line.
 */
export const watch = Effect.fnUntraced(function* (
  { network }: Pick<OfferedNetwork, "network">,
  market: Effect.Effect<GasMarket, ProviderError>,
  limits: SaleLimits
): Effect.fn.Return<(price: bigint) => boolean, never, Scope.Scope> {
  let gasPrice: bigint | undefined
  let isOffered = true
  const attributes = { network }
  const price = Metric.gauge("agentos_gas_price_gwei", {
    description: "Price of a unit of gas for the next settlement, in gwei.",
    attributes
  })
  const sells = Metric.gauge("agentos_network_offered", {
    description: "1 if challenges offer the network, 0 while its gas costs more than sellBelowGasGwei.",
    attributes
  })

  const read = Effect.gen(function* () {
    gasPrice = priceNow(yield* market)
    const wasOffered = isOffered
    isOffered = gasPrice <= limits.gasPriceMax
    yield* Metric.update(price, Number(formatGwei(gasPrice)))
    yield* Metric.update(sells, isOffered ? 1 : 0)
    if (wasOffered === isOffered) return
    yield* isOffered
      ? Effect.logInfo(`Payment network ${network}: gas costs ${formatGwei(gasPrice)} gwei. Challenges offer it again.`)
      : Effect.logWarning(tooExpensive(network, gasPrice, limits.gasPriceMax))
  })
  yield* Effect.ignore(read)
  yield* Effect.forkScoped(Effect.repeat(Effect.ignore(Effect.delay(read, READ_EVERY)), Schedule.forever))
  return (callPrice) => gasPrice === undefined || isSold(callPrice, gasPrice, limits)
})

export const limitsOf = (
  { transferMethod }: Pick<OfferedNetwork, "transferMethod">,
  gasPriceMax: bigint,
  coinPriceUsdt: string | undefined
): SaleLimits => ({
  gasPriceMax,
  coinPrice: coinPriceUsdt === undefined ? undefined : Usdt.fromDecimal(coinPriceUsdt),
  settlementGas: SETTLEMENT_GAS[transferMethod]
})
