import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { findBeginning } from "../../src/chain/BlockSearch.ts"
import { SEED } from "../support/Sample.ts"

const Block = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))

describe("findBeginning", () => {
  it.effect.prop(
    "finds the first block of a condition with few reads, none of them much older",
    { beginning: Block, before: Block, after: Block },
    ({ after, before, beginning }) =>
      Effect.gen(function* () {
        const [first, last] = [BigInt(Math.max(0, beginning - before)), BigInt(beginning + after)]
        const read: Array<bigint> = []
        const span = yield* findBeginning(first, last, (block) =>
          Effect.sync(() => {
            read.push(block)
            return block >= beginning
          })
        )
        assert.deepStrictEqual(
          span,
          first === BigInt(beginning) ? undefined : { after: BigInt(beginning) - 1n, until: BigInt(beginning) }
        )
        assert.isBelow(read.length, 28)
        assert.isTrue(read.every((block) => block >= first && last - block <= 2n * BigInt(after + 1)))
      }),
    { arbitrary: { seed: SEED } }
  )

  it.effect.prop(
    "returns a span with the block if the states of older blocks are missing",
    { beginning: Block, before: Block, after: Block, kept: Block },
    ({ after, before, beginning, kept }) =>
      Effect.gen(function* () {
        const [first, last] = [BigInt(Math.max(0, beginning - before - 1)), BigInt(beginning + after)]
        const span = yield* findBeginning(first, last, (block) =>
          Effect.succeed(block < last - BigInt(kept) ? undefined : block >= beginning)
        )
        if (span === undefined) return assert.isTrue(first >= BigInt(beginning))
        assert.isTrue(span.after < BigInt(beginning) || beginning === 0)
        assert.isTrue(span.until >= BigInt(beginning) && span.until <= last)
      }),
    { arbitrary: { seed: SEED } }
  )

  it.effect("returns the known span if the node drops a state between two reads", () =>
    Effect.gen(function* () {
      const read: Array<bigint> = []
      const span = yield* findBeginning(0n, 100n, (block) =>
        Effect.sync(() => {
          read.push(block)
          return read.length > 4 ? undefined : block >= 96n
        })
      )
      assert.deepStrictEqual(read, [99n, 98n, 96n, 92n, 94n])
      assert.deepStrictEqual(span, { after: 92n, until: 96n })
    })
  )
})
