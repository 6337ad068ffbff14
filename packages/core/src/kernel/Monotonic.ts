import { Clock, Effect } from "effect"

/** Milliseconds for measuring what has passed: they go on also when the time of day is set back. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) =>
  Number(nanos / 1_000_000n)
)
