import { Usdt } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("Usdt", () => {
  it("reads decimals exactly", () => {
    assert.strictEqual(Usdt.fromDecimal("0.25"), 250_000n)
    assert.strictEqual(Usdt.fromDecimal("5.00"), 5_000_000n)
    assert.strictEqual(Usdt.fromDecimal("0.000001"), 1n)
    for (const text of ["", "1.", ".5", "-1", "1e3", "0.0000001", "1,5", " 1"]) {
      assert.throws(() => Usdt.fromDecimal(text), RangeError, "USDT", text)
    }
  })

  it("writes at least two decimals, and no more than it needs", () => {
    assert.deepStrictEqual([0n, 1n, 10_000n, 250_000n, 1_500_000n, 12_345_678n].map(Usdt.toDecimal), [
      "0.00",
      "0.000001",
      "0.01",
      "0.25",
      "1.50",
      "12.345678"
    ])
  })

  it.prop("reads its own output", [Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))], ([amount]) => {
    assert.strictEqual(Usdt.fromDecimal(Usdt.toDecimal(amount)), amount)
  })
})
