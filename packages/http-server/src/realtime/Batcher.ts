import { Cause, Effect } from "effect"

/**
 * Collects items while work is in progress, and processes all of them together afterwards: one batch at a time, never
 * one per item. The event loop turns between two batches, so that a flood delays others by one batch.
 */
export interface Batcher<A> {
  readonly offer: (item: A) => void
  /** Waits until no item is queued or in progress. */
  readonly idle: Effect.Effect<void>
}

export interface BatcherOptions<A> {
  /** Maximum number of items in a batch. */
  readonly limit: number
  /** Receives every item once, in order. */
  readonly work: (items: ReadonlyArray<A>) => Effect.Effect<void>
  /** Receives the items of a failed batch. */
  readonly failed: (items: ReadonlyArray<A>, cause: Cause.Cause<never>) => Effect.Effect<void>
}

/** `fork` runs the work; it may refuse after the server has stopped. */
export const make = <A>(
  { failed, limit, work }: BatcherOptions<A>,
  fork: (effect: Effect.Effect<void>) => void
): Batcher<A> => {
  let waiting: Array<A> = []
  let working = false
  const idlers = new Set<() => void>()
  const drain = Effect.gen(function* () {
    while (waiting.length > 0) {
      const items = waiting.slice(0, limit)
      waiting = waiting.slice(limit)
      yield* Effect.catchCause(work(items), (cause) => failed(items, cause))
      if (waiting.length > 0) yield* Effect.yieldNow
    }
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        working = false
        for (const resume of idlers) resume()
        idlers.clear()
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
    idle: Effect.callback<void>((resume) => {
      if (!working) return resume(Effect.void)
      const wake = () => resume(Effect.void)
      idlers.add(wake)
      return Effect.sync(() => idlers.delete(wake))
    })
  }
}
