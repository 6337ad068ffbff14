import { Effect } from "effect"

/** The blocks in which a condition may have begun to hold: those after `after`, up to and including `until`. */
export interface BlockSpan {
  readonly after: bigint
  readonly until: bigint
}

/**
 * Finds where a condition begins to hold that holds for `last`, and from then on for every block. The span has one block if each
 * state can be read, and is wider if `holds` returns undefined for an older block. Returns undefined if the condition holds for
 * `first`. Doubles the distance from `last` until the condition does not hold, then bisects, so that no state is read that is
 * much older than the result.
 */
export const findBeginning = Effect.fnUntraced(function* <E>(
  first: bigint,
  last: bigint,
  holds: (block: bigint) => Effect.Effect<boolean | undefined, E>
): Effect.fn.Return<BlockSpan | undefined, E> {
  let until = last
  let after = first
  for (let distance = 1n; ; distance *= 2n) {
    const block = last - distance > first ? last - distance : first
    const isHolding = yield* holds(block)
    if (isHolding === undefined) return { after, until }
    if (!isHolding) {
      after = block
      break
    }
    if (block === first) return undefined
    until = block
  }
  while (until - after > 1n) {
    const middle = (until + after) / 2n
    const isHolding = yield* holds(middle)
    // The node has dropped that state since an older one was read.
    if (isHolding === undefined) return { after, until }
    if (isHolding) until = middle
    else after = middle
  }
  return { after, until }
})
