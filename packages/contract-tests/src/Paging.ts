import type { Position } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

/**
 * A list read to its end in pages of `limit`, each going on from the last item of the one before.
 * Fails when there are more than `most` items, as a list that goes round in circles would give.
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
