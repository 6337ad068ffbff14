import { Cache, Clock, Duration, Effect, Exit } from "effect"

/** Milliseconds of a clock that never goes back, for measuring durations: the time of day can be set back. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) =>
  Number(nanos / 1_000_000n)
)

/**
 * Makes a cache whose values end after `lifetime`, also if the time of day is set back, by which `Cache` measures their age.
 * Concurrent callers share a lookup. One that fails is not kept, nor is a value that `isKept` excludes.
 */
export const makeCache = Effect.fnUntraced(function* <Key, A, E, R>(
  lookup: (key: Key) => Effect.Effect<A, E, R>,
  options: {
    readonly capacity: number
    readonly lifetime: Duration.Duration
    readonly isKept?: (value: A) => boolean
  }
) {
  const { capacity, isKept = () => true, lifetime } = options
  const cache = yield* Cache.makeWith((key: Key) => Effect.zip(lookup(key), monotonicMillis), {
    capacity,
    timeToLive: (exit) => (Exit.isSuccess(exit) && isKept(exit.value[0]) ? lifetime : Duration.zero)
  })
  const invalidate = (key: Key) => Cache.invalidate(cache, key)
  const get = Effect.fnUntraced(function* (key: Key) {
    const [value, readAt] = yield* Cache.get(cache, key)
    if ((yield* monotonicMillis) - readAt < Duration.toMillis(lifetime)) return value
    yield* invalidate(key)
    return (yield* Cache.get(cache, key))[0]
  })
  return { get, invalidate }
})
