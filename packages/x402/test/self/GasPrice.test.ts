import { assert, describe, it } from "@effect/vitest"
import { type GasMarket, isEnough, priceOf, repriced } from "../../src/self/GasPrice.ts"

const GWEI = 1_000_000_000n
const market = (baseFeePerGas: bigint, priorityFeePerGas = GWEI): GasMarket => ({
  baseFeePerGas,
  priorityFeePerGas,
  blockTimestamp: 0n
})

describe("priceOf", () => {
  it("leaves room for the base fee to double", () => {
    assert.deepStrictEqual(priceOf(market(10n * GWEI), 100n * GWEI), {
      maxFeePerGas: 21n * GWEI,
      maxPriorityFeePerGas: GWEI
    })
  })

  it("respects the ceiling, and limits the priority fee to the whole fee", () => {
    assert.deepStrictEqual(priceOf(market(10n * GWEI), 15n * GWEI), {
      maxFeePerGas: 15n * GWEI,
      maxPriorityFeePerGas: GWEI
    })
    assert.deepStrictEqual(priceOf(market(1n, 9n * GWEI), 2n * GWEI), {
      maxFeePerGas: 2n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI
    })
  })

  it("is undefined if even the base fee is not below the ceiling", () => {
    assert.isUndefined(priceOf(market(10n), 10n))
    assert.isDefined(priceOf(market(10n), 11n))
  })
})

describe("repriced", () => {
  const previous = { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: 2n * GWEI }

  it("raises both fees by a quarter", () => {
    assert.deepStrictEqual(repriced(previous, market(GWEI), 100n * GWEI), {
      maxFeePerGas: 25n * GWEI,
      maxPriorityFeePerGas: (5n * GWEI) / 2n
    })
  })

  it("uses the market price if that is higher", () => {
    assert.deepStrictEqual(repriced(previous, market(50n * GWEI, 8n * GWEI), 1_000n * GWEI), {
      maxFeePerGas: 108n * GWEI,
      maxPriorityFeePerGas: 8n * GWEI
    })
  })

  it("raises even the smallest fees", () => {
    for (const fee of [0n, 1n, 2n, 3n, 5n, 7n, 9n, 11n]) {
      const next = repriced({ maxFeePerGas: fee + 10n, maxPriorityFeePerGas: fee }, market(0n, 0n), 100n * GWEI)
      assert.isDefined(next)
      if (next === undefined) return
      assert.isAbove(Number(next.maxPriorityFeePerGas), Number(fee))
      assert.isAtLeast(Number(next.maxPriorityFeePerGas) * 4, Number(fee) * 5)
      assert.isAtLeast(Number(next.maxFeePerGas) * 4, Number(fee + 10n) * 5)
    }
  })

  it("is undefined if the ceiling leaves no room for a quarter", () => {
    assert.isUndefined(repriced(previous, market(GWEI), 25n * GWEI - 1n))
    assert.isDefined(repriced(previous, market(GWEI), 25n * GWEI))
    assert.isUndefined(repriced(previous, market(GWEI, 30n * GWEI), 26n * GWEI), "a priority fee above the whole")
  })
})

describe("isEnough", () => {
  it("compares with the current base fee", () => {
    assert.isTrue(isEnough({ maxFeePerGas: 11n, maxPriorityFeePerGas: 1n }, market(10n)))
    assert.isFalse(isEnough({ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n }, market(10n)))
  })
})
