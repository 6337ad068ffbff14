import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { readPages } from "../../contract-tests/Paging.ts"

const items = [5, 4, 3, 2, 1]

const positionOf = (item: number) => ({ createdAt: item, id: String(item) })

describe("readPages", () => {
  it.effect("reads a list to its end", () =>
    Effect.gen(function* () {
      const pages = yield* readPages({
        load: (after, limit) =>
          Effect.succeed(items.filter((item) => after === undefined || item < after.createdAt).slice(0, limit)),
        positionOf,
        limit: 2,
        most: items.length
      })
      assert.deepStrictEqual(pages, items)
    })
  )

  it.effect("fails on a list that repeats an item, and on a page that is too long", () =>
    Effect.gen(function* () {
      const again = readPages({
        load: (after, limit) =>
          Effect.succeed(items.filter((item) => after === undefined || item <= after.createdAt).slice(0, limit)),
        positionOf,
        limit: 2,
        most: items.length
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(again)))
      const tooLong = readPages({ load: () => Effect.succeed(items), positionOf, limit: 2, most: items.length })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(tooLong)))
    })
  )
})
