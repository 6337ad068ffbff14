import { Effect, Metric } from "effect"

const relays = Metric.gauge("agentos_call_relays", { description: "Calls whose conversation this server leads now." })
const broken = Metric.counter("agentos_call_relays_broken_total", {
  description: "Relays that the carrier reported to this server as broken.",
  incremental: true
})

/** Counts a conversation while it runs. */
export const countRelay = <A, E, R>(conversation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Metric.modify(relays, 1),
    () => conversation,
    () => Metric.modify(relays, -1)
  )

/** Counts a relay that was reported as broken. */
export const countBrokenRelay: Effect.Effect<void> = Metric.update(broken, 1)
