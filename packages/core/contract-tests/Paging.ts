import type { Position } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

/**
 * Reads a list to its end in pages of `limit`, each starting after the last item of the previous one. Fails if
 * it reads more than `most` items, as it would from a list that repeats itself.
 */
export const readPages = Effect.fnUntraced(function* <A, E, R>(options: {
  readonly load: (after: Position | undefined, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
  readonly positionOf: (item: A) => Position
  readonly limit: number
  readonly most: number
}) {
  const items: Array<A> = []
  for (;;) {
    const last = items.at(-1)
    const page = yield* options.load(last === undefined ? undefined : options.positionOf(last), options.limit)
    assert.isAtMost(page.length, options.limit, "a page holds no more than its limit")
    if (page.length === 0) return items
    items.push(...page)
    assert.isAtMost(items.length, options.most, "no item comes twice")
  }
})
