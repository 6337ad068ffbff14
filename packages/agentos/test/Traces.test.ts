import { assert, describe, it } from "@effect/vitest"
import { admission } from "../src/Traces.ts"

describe("admission", () => {
  it("admits one in so many of the traces that begin here", () => {
    const admits = admission(3, () => 0)
    assert.deepStrictEqual(
      Array.from({ length: 7 }, () => admits(false)),
      [true, false, false, true, false, false, true]
    )
  })

  it("admits those of others, at most 100 in a second", () => {
    let now = 0
    const admits = admission(1_000, () => now)
    const admitted = () => Array.from({ length: 150 }, () => admits(true)).filter(Boolean).length
    assert.deepStrictEqual([admitted(), admitted()], [100, 0])
    now = 1_000
    assert.strictEqual(admitted(), 100)
  })
})
