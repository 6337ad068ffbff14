import { Clock, Effect } from "effect"

/** Milliseconds of a clock that never goes back, for measuring durations: the time of day can be set back. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) =>
  Number(nanos / 1_000_000n)
)
