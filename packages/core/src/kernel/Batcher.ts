import { type Cause, Effect } from "effect"

/**
 * Collects items while work is in progress, and processes all of them together afterwards: one batch at a time, never
 * one per item. The event loop turns between two batches, so that a flood delays others by one batch.
 */
export interface Batcher<A> {
  /** Adds an item, which is processed at once if no batch is in progress. A waiting item is not added twice. */
  readonly offer: (item: A) => void
  /** Removes an item if it still waits. */
  readonly remove: (item: A) => void
  /** Waits until no item is queued or in progress. */
  readonly idle: Effect.Effect<void>
}

export interface BatcherOptions<A, E> {
  /** Maximum size of a batch. An item that exceeds it is a batch of its own. */
  readonly limit: number
  /** The size of an item; 1 by default. */
  readonly sizeOf?: (item: A) => number
  /** Receives every item once, in order. */
  readonly work: (items: ReadonlyArray<A>) => Effect.Effect<void, E>
  /** Receives the items of a failed batch. */
  readonly failed: (items: ReadonlyArray<A>, cause: Cause.Cause<E>) => Effect.Effect<void>
}

/** `fork` runs the work; it may refuse after the server has stopped. */
export const make = <A, E>(
  { failed, limit, sizeOf = () => 1, work }: BatcherOptions<A, E>,
  fork: (effect: Effect.Effect<void>) => void
): Batcher<A> => {
  const waiting = new Set<A>()
  let isWorking = false
  const idlers = new Set<() => void>()

  const take = (): ReadonlyArray<A> => {
    const taken: Array<A> = []
    let size = 0
    for (const item of waiting) {
      size += sizeOf(item)
      if (size > limit && taken.length > 0) break
      taken.push(item)
      waiting.delete(item)
    }
    return taken
  }

  const drain = Effect.suspend(() => {
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      isWorking = false
      for (const resume of idlers) resume()
      idlers.clear()
    }
    return Effect.gen(function* () {
      while (waiting.size > 0) {
        const items = take()
        yield* Effect.catchCause(work(items), (cause) => failed(items, cause))
        if (waiting.size > 0) yield* Effect.yieldNow
      }
      // In one step with the check above: between two steps, another fiber may offer an item.
      end()
    }).pipe(Effect.ensuring(Effect.sync(end)))
  })
  return {
    offer: (item) => {
      waiting.add(item)
      if (isWorking) return
      isWorking = true
      fork(drain)
    },
    remove: (item) => void waiting.delete(item),
    idle: Effect.callback<void>((resume) => {
      if (!isWorking) return resume(Effect.void)
      const wake = () => resume(Effect.void)
      idlers.add(wake)
      return Effect.sync(() => idlers.delete(wake))
    })
  }
}
