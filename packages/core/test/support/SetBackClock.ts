import { Clock, Duration, Effect } from "effect"

/** A clock that is the given time further on, and whose time of day was set back to 1970 meanwhile. */
export const setBack = (later: Duration.Input) =>
  Effect.map(Clock.Clock, (clock): Clock.Clock => {
    const nanos = BigInt(Duration.toMillis(later)) * 1_000_000n
    return {
      ...clock,
      currentTimeMillisUnsafe: () => 0,
      currentTimeMillis: Effect.succeed(0),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + nanos,
      monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + nanos)
    }
  })
