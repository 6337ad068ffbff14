import { assert, describe, it } from "@effect/vitest"
import { ByteBudget } from "@agentos/core"

describe("ByteBudget", () => {
  it("reserves no more than its limit", () => {
    const budget = new ByteBudget(10)
    assert.isTrue(budget.reserve(6))
    assert.isFalse(budget.reserve(5))
    assert.isTrue(budget.reserve(4))
    budget.release(10)
    assert.strictEqual(budget.usedBytes, 0)
  })

  it("draws on the enclosing budget, and reserves in both or in neither", () => {
    const whole = new ByteBudget(10)
    const share = new ByteBudget(8, whole)
    assert.isTrue(whole.reserve(5))
    assert.isFalse(share.reserve(6))
    assert.strictEqual(share.usedBytes, 0)
    assert.isTrue(share.reserve(5))
    assert.isFalse(whole.reserve(1))
    share.release(5)
    assert.strictEqual(whole.usedBytes, 5)
  })
})
