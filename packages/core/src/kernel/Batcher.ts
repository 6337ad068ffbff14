import { type Cause, Effect } from "effect"

/**
 * Collects items while work is in progress, and processes all of them together afterwards: one batch at a time, never
 * one per item. Items that are offered in one step of other work share a batch. The event loop turns between two batches,
 * so that a flood delays others by one batch.
 */
export interface Batcher<A> {
  /**
   * Adds an item, which is processed after the caller's current step if no batch is in progress. A waiting item is not
   * added twice.
   */
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
  /** Begins at once with the first item, as a batch alone: for items that are rarely offered together. */
  readonly beginsAtOnce?: boolean
  /** The pause under load; none by default. */
  readonly pause?: Pause
}

/**
 * After a batch of at least `size` items, `rest` runs before the next batch. So a flood is processed in fewer and larger
 * batches, and few items do not wait.
 */
export interface Pause {
  readonly size: number
  readonly rest: Effect.Effect<void>
}

/** Continues once the step that offered the first item, such as the loop over a wake-up, has offered the others. */
const afterStep = Effect.promise(() => Promise.resolve())

/** `fork` runs the work; it may refuse after the server has stopped. */
export const make = <A, E>(
  { beginsAtOnce = false, failed, limit, pause, sizeOf = () => 1, work }: BatcherOptions<A, E>,
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
      const resumes = [...idlers]
      idlers.clear()
      // The last step: a fiber that is resumed may offer an item and wait again.
      for (const resume of resumes) resume()
    }
    return Effect.gen(function* () {
      if (!beginsAtOnce) yield* afterStep
      do {
        const items = take()
        // All items may have been removed.
        if (items.length === 0) break
        yield* Effect.catchCause(work(items), (cause) => failed(items, cause))
        if (pause !== undefined && items.length >= pause.size) yield* pause.rest
        if (waiting.size > 0) yield* Effect.yieldNow
      } while (waiting.size > 0)
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
