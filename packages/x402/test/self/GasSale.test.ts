import { ProviderError, Usdt } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Metric, Schema } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { TestClock } from "effect/testing"
import type { GasMarket } from "../../src/self/GasPrice.ts"
import { costOf, isSold, type SaleLimits, watch } from "../../src/self/GasSale.ts"

const GWEI = 1_000_000_000n
const LIMITS: SaleLimits = { gasPriceMax: 50n * GWEI, coinPrice: undefined, settlementGas: 100_000n }
const price = Usdt.fromDecimal("0.25")
const bigints = (maximum: bigint) => Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum }))

describe("costOf", () => {
  it("multiplies gas, its price and that of the coin", () => {
    // 100,000 units at 20 gwei are 0.002 coins.
    assert.strictEqual(costOf(100_000n, 20n * GWEI, Usdt.fromDecimal("2500")), Usdt.fromDecimal("5.00"))
    assert.strictEqual(costOf(1n, 1n, 1n), 1n)
    assert.strictEqual(costOf(100_000n, 0n, Usdt.fromDecimal("2500")), 0n)
  })

  it.prop(
    "is at least the exact cost, and less than a base unit above it",
    [bigints(10n ** 7n), bigints(10n ** 15n), bigints(10n ** 12n)],
    ([gas, gasPrice, coinPrice]) => {
      const above = costOf(gas, gasPrice, coinPrice) * 10n ** 18n - gas * gasPrice * coinPrice
      assert.isTrue(above >= 0n && above < 10n ** 18n)
    }
  )
})

describe("isSold", () => {
  it("ends above the price limit for gas", () => {
    assert.isTrue(isSold(price, 50n * GWEI, LIMITS))
    assert.isFalse(isSold(price, 50n * GWEI + 1n, LIMITS))
  })

  it("ends where the gas of a settlement costs more than the call, if the coin has a price", () => {
    const limits = { ...LIMITS, coinPrice: Usdt.fromDecimal("250") }
    // 100,000 units at 10 gwei are 0.001 coins, which are 0.25 USDT.
    assert.isTrue(isSold(price, 10n * GWEI, limits))
    assert.isFalse(isSold(price, 10n * GWEI + 1n, limits))
    assert.isTrue(isSold(2n * price, 10n * GWEI + 1n, limits))
  })
})

describe("watch", () => {
  it.effect(
    "follows the price of gas, says once that the network is left out, and keeps the last price of a silent chain",
    () => {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
      const market = { gwei: 1n as bigint | undefined }
      const read = Effect.suspend((): Effect.Effect<GasMarket, ProviderError> =>
        market.gwei === undefined
          ? Effect.fail(new ProviderError({ provider: "x402", reason: "Temporary", message: "no answer" }))
          : Effect.succeed({ baseFeePerGas: market.gwei * GWEI, priorityFeePerGas: GWEI, blockTimestamp: 0n })
      )
      return Effect.gen(function* () {
        const sells = yield* watch({ network: "eip155:402402" }, read, LIMITS)
        const after = (gwei: bigint | undefined) => {
          market.gwei = gwei
          return Effect.as(TestClock.adjust("31 seconds"), undefined).pipe(Effect.map(() => sells(price)))
        }
        assert.isTrue(sells(price))
        assert.isTrue(yield* after(49n))
        assert.isFalse(yield* after(50n))
        assert.include(yield* PrometheusMetrics.format(), 'agentos_network_offered{network="eip155:402402"} 0')
        assert.include(yield* PrometheusMetrics.format(), 'agentos_gas_price_gwei{network="eip155:402402"} 51')
        assert.isFalse(yield* after(undefined))
        assert.isTrue(yield* after(20n))
        assert.include(yield* PrometheusMetrics.format(), 'agentos_network_offered{network="eip155:402402"} 1')
        assert.deepStrictEqual(lines, [
          "Warn Payment network eip155:402402: gas costs 51 gwei, and sellBelowGasGwei allows at most 50. Challenges leave the network out.",
          "Info Payment network eip155:402402: gas costs 21 gwei. Challenges offer it again."
        ])
      }).pipe(Effect.provide(Layer.mergeAll(Layer.succeed(Metric.MetricRegistry, new Map()), Logger.layer([logger]))))
    }
  )
})
