import { Effect } from "effect"

/**
 * Gathers what arrives while work is under way, and works on all of it at once
 * afterwards: one at a time, never one for each.
 */
export interface Batcher<A> {
  readonly offer: (item: A) => void
  /** How many items wait. */
  readonly size: () => number
}

/**
 * `work` gets every item once, in order. It must not fail; `fork` runs it and may refuse after the
 * server has begun to stop.
 */
export const make = <A>(
  work: (items: ReadonlyArray<A>) => Effect.Effect<void>,
  fork: (effect: Effect.Effect<void>) => void
): Batcher<A> => {
  let waiting: Array<A> = []
  let working = false
  const drain = Effect.gen(function* () {
    while (waiting.length > 0) {
      const items = waiting
      waiting = []
      yield* work(items)
    }
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        working = false
      })
    )
  )
  return {
    offer: (item) => {
      waiting.push(item)
      if (working) return
      working = true
      fork(drain)
    },
    size: () => waiting.length
  }
}
