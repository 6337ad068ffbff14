import { Clock, Duration, Effect, Fiber } from "effect"

/** Work that is under way. */
interface Waiting {
  /** In nanoseconds of the monotonic clock. */
  readonly endsAt: bigint
  readonly end: () => void
  /** Its index among all. */
  place: number
}

/**
 * Returns a function that interrupts work which takes too long, and fails with `late` in its place. One fiber sleeps until the
 * first of all work must end: most work ends within milliseconds, and a timer with a race for each would take as long.
 */
export const make = Effect.fnUntraced(function* <L>(within: Duration.Duration, late: Effect.Effect<never, L>) {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const nanos = Duration.toNanosUnsafe(within)
  // Not a set: a set that changes with each request leaves tables behind that keep requests in memory.
  const all: Array<Waiting> = []
  let isWatched = false

  const add = (end: () => void): Waiting => {
    const waiting = { endsAt: clock.monotonicTimeNanosUnsafe() + nanos, end, place: all.length }
    all.push(waiting)
    if (!isWatched) {
      isWatched = true
      Fiber.runIn(runFork(watch), scope)
    }
    return waiting
  }

  /** Removes work once. Returns whether it was still waiting. */
  const remove = (waiting: Waiting): boolean => {
    if (all[waiting.place] !== waiting) return false
    const last = all.pop()!
    if (last !== waiting) {
      all[waiting.place] = last
      last.place = waiting.place
    }
    return true
  }

  const watch = Effect.gen(function* () {
    while (all.length > 0) {
      const first = all.reduce((one, other) => (other.endsAt < one.endsAt ? other : one))
      const left = first.endsAt - clock.monotonicTimeNanosUnsafe()
      if (left > 0n) yield* Effect.sleep(Duration.nanos(left))
      else if (remove(first)) first.end()
    }
    // If it ends otherwise, because a callback of some work throws, the next work begins it again.
  }).pipe(Effect.ensuring(Effect.sync(() => (isWatched = false))))

  return <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | L, R> =>
    Effect.uninterruptibleMask((restore) =>
      // Its fiber has no parent, which would wait for it: a commit can't be interrupted, and its answer may take long.
      Effect.flatMap(Effect.forkDetach(restore(work), { startImmediately: true }), (working) => {
        const ended = working.pollUnsafe()
        if (ended !== undefined) return ended
        let waiting: Waiting | undefined
        const waited = Effect.callback<A, E | L>((resume) => {
          const added = add(() => {
            working.interruptUnsafe()
            resume(late)
          })
          waiting = added
          working.addObserver((exit) => {
            if (remove(added)) resume(exit)
          })
        })
        return Effect.onInterrupt(restore(waited), () => {
          if (waiting !== undefined) remove(waiting)
          return Fiber.interrupt(working)
        })
      })
    )
})
