import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Confirmations, confirmationsOf } from "../../src/network/PaymentNetwork.ts"

const accepts = Schema.is(Confirmations)

describe("Confirmations", () => {
  it("are one number for every price, or follow the highest rule that a price reaches", () => {
    assert.strictEqual(confirmationsOf(3, 5_000_000n), 3)
    const rules = [
      { from: "1.00", blocks: 4 },
      { from: "0", blocks: 1 },
      { from: "5.00", blocks: 12 }
    ]
    const blocks = [0n, 999_999n, 1_000_000n, 4_999_999n, 5_000_000n, 90_000_000n].map((price) =>
      confirmationsOf(rules, price)
    )
    assert.deepStrictEqual(blocks, [1, 1, 4, 4, 12, 12])
  })

  it("require a rule for every price", () => {
    assert.isTrue(accepts([{ from: "0.00", blocks: 0 }]))
    for (const wrong of [
      [],
      [{ from: "1", blocks: 1 }],
      [{ from: "-1", blocks: 1 }],
      [{ from: "0", blocks: -1 }],
      -1,
      0.5
    ]) {
      assert.isFalse(accepts(wrong), JSON.stringify(wrong))
    }
  })
})
