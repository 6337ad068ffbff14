import type { AcknowledgementOutcome, Delivery } from "@agentos/core"
import { Clock, Effect, Metric } from "effect"
import type { Connections } from "./Connections.ts"
import type { Sessions } from "./Session.ts"

const sockets = Metric.gauge("agentos_realtime_sockets", {
  description: "Sockets of this server, authenticated or not; as of the last second, like its sessions."
})
const sessionsOf = (mode: "deliver" | "observe" | "voice") =>
  Metric.gauge("agentos_realtime_sessions", {
    description: "Sessions of this server by mode.",
    attributes: { mode }
  })
const delivering = sessionsOf("deliver")
const observing = sessionsOf("observe")
const answering = sessionsOf("voice")

/** Records the current number of sockets and sessions. */
export const recordSessions = (connections: Connections, sessions: Sessions): Effect.Effect<void> =>
  Effect.suspend(() => {
    const counts = { deliver: 0, observe: 0, voice: 0 }
    for (const { mode } of sessions) counts[mode]++
    return Effect.all(
      [
        Metric.update(sockets, connections.size),
        Metric.update(delivering, counts.deliver),
        Metric.update(observing, counts.observe),
        Metric.update(answering, counts.voice)
      ],
      { discard: true }
    )
  })

const deliveries = Metric.counter("agentos_realtime_deliveries_total", {
  description: "Events that this server sent to sessions, each as often as it was sent.",
  incremental: true
})

const delays = Metric.histogram("agentos_event_delivery_seconds", {
  description:
    "Time from an event to its first delivery over a socket of this server, the wait for a session included.",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 3_600]
})

/** Counts deliveries that are sent now, and times the first ones of their events. */
export const countDeliveries = (sent: ReadonlyArray<Delivery>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (sent.length === 0) return Effect.void
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    deliveries.updateUnsafe(sent.length, fiber.context)
    for (const { event } of sent)
      if (event.deliveryCount === 1) delays.updateUnsafe(Math.max(0, now - event.createdAt) / 1_000, fiber.context)
    return Effect.void
  })

/** The label of an outcome. Both reasons of event.ack_stale are one value. */
const labelOf = (outcome: AcknowledgementOutcome): string =>
  outcome === "lease_lost" || outcome === "expired" ? "stale" : outcome

const acknowledgementsOf = (outcome: string) =>
  Metric.counter("agentos_realtime_acknowledgements_total", {
    description: "Acknowledgements over sockets of this server, by outcome.",
    attributes: { outcome },
    incremental: true
  })

export const countAcknowledgements = (outcomes: ReadonlyArray<AcknowledgementOutcome>): Effect.Effect<void> =>
  Effect.forEach(
    Map.groupBy(outcomes, labelOf),
    ([outcome, some]) => Metric.update(acknowledgementsOf(outcome), some.length),
    { discard: true }
  )
