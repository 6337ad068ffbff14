import { Effect, Metric, Schedule, type Scope } from "effect"

/** Chains count each read: 1,440 a day. */
const READ_EVERY = "1 minute"

/**
 * Shows the balance of a wallet as a metric, now and every minute until the scope closes. A chain that does not answer
 * leaves the last balance.
 */
export const watchBalance = <E>(
  gauge: Metric.Gauge<number>,
  read: Effect.Effect<string, E>
): Effect.Effect<void, never, Scope.Scope> => {
  const reading = Effect.ignore(Effect.flatMap(read, (balance) => Metric.update(gauge, Number(balance))))
  return Effect.asVoid(Effect.forkScoped(Effect.repeat(reading, Schedule.spaced(READ_EVERY))))
}
