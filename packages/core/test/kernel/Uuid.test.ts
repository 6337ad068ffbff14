import { assert, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { describe } from "vitest"
import { Uuid } from "../../src/index.ts"

const MILLIS = 1_795_500_000_123

/** Returns the draws in order, and then zeros. */
const drawing = (...draws: ReadonlyArray<number>): typeof Random.Random.Service => {
  const left = [...draws]
  return { nextIntUnsafe: () => 0, nextDoubleUnsafe: () => left.shift() ?? 0 }
}

describe("Uuid.generate", () => {
  it.effect("writes the UUID that fromParts writes for the same time and bits", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 1_000; round++) {
        const draws = [yield* Random.next, yield* Random.next, yield* Random.next]
        const [first = 0n, second = 0n, third = 0n] = draws.map((draw, index) =>
          BigInt(Math.floor(draw * 2 ** (index === 2 ? 25 : 24)))
        )
        const expected = Uuid.fromParts(MILLIS + round, (first << 49n) | (second << 25n) | third)
        assert.strictEqual(Uuid.generate(drawing(...draws), MILLIS + round), expected)
      }
    })
  )

  it("fills bits that are zero, and those that are one", () => {
    const ones = 1 - 2 ** -53
    assert.strictEqual(Uuid.generate(drawing(), 0), Uuid.fromParts(0, 0n))
    assert.strictEqual(Uuid.generate(drawing(ones, ones, ones), MILLIS), Uuid.fromParts(MILLIS, (1n << 73n) - 1n))
  })

  it.effect("sorts the UUIDs of one millisecond in the order in which they were made", () =>
    Effect.gen(function* () {
      const made = yield* Effect.replicateEffect(Uuid.next, 2_048)
      assert.deepStrictEqual(made.toSorted(), made)
      assert.strictEqual(new Set(made).size, made.length)
    })
  )
})
