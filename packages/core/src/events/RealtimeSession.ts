import type { Acknowledgement, AcknowledgementOutcome, Delivery } from "./EventStore.ts"

/** The maximum number of unacknowledged deliveries of a session; further events wait in the store. */
export const MAX_IN_FLIGHT = 64

/**
 * The state of one session that delivers events, as an immutable value.
 *
 *     replaying ── a lease returned fewer events than requested ──► live
 *
 * A delivery that is acknowledged, lost or ended elsewhere makes room for another.
 */
export interface RealtimeSession {
  readonly phase: "replaying" | "live"
  /** The current deliveryId by eventId. */
  readonly inFlight: ReadonlyMap<string, string>
  /** The number of deliveries that the replay has sent so far. */
  readonly replayed: number
}

export const opened: RealtimeSession = { phase: "replaying", inFlight: new Map(), replayed: 0 }

/** Returns how many more deliveries the session may hold now. */
export const room = (session: RealtimeSession): number => Math.max(0, MAX_IN_FLIGHT - session.inFlight.size)

/**
 * Returns the session after a lease of at most `asked` events, and the size of the whole replay if it ends with these.
 */
export const leased = (
  session: RealtimeSession,
  deliveries: ReadonlyArray<Delivery>,
  asked: number
): { readonly session: RealtimeSession; readonly replayComplete: number | undefined } => {
  const inFlight = new Map(session.inFlight)
  for (const { deliveryId, event } of deliveries) inFlight.set(event.eventId, deliveryId)
  if (session.phase === "live") return { session: { ...session, inFlight }, replayComplete: undefined }
  const replayed = session.replayed + deliveries.length
  const complete = deliveries.length < asked
  return {
    session: { phase: complete ? "live" : "replaying", inFlight, replayed },
    replayComplete: complete ? replayed : undefined
  }
}

/** Ends the replay although the window is full, because nothing is left to send. */
export const drained = (
  session: RealtimeSession
): { readonly session: RealtimeSession; readonly replayComplete: number } => ({
  session: { ...session, phase: "live" },
  replayComplete: session.replayed
})

/**
 * Returns the session after acknowledgements: without the deliveries that were acknowledged or no longer belong to this
 * session. Unknown ids change nothing.
 */
export const acknowledged = (
  session: RealtimeSession,
  acknowledgements: ReadonlyArray<Acknowledgement>,
  outcomes: ReadonlyArray<AcknowledgementOutcome>
): RealtimeSession => {
  const inFlight = new Map(session.inFlight)
  acknowledgements.forEach(({ deliveryId, eventId }, index) => {
    const outcome = outcomes[index]
    if (outcome === "acknowledged") inFlight.delete(eventId)
    const isStale = outcome === "lease_lost" || outcome === "expired"
    if (isStale && inFlight.get(eventId) === deliveryId) inFlight.delete(eventId)
  })
  return { ...session, inFlight }
}

/**
 * Returns the session after a renewal: without the deliveries that were held when the renewal was requested (`asked`)
 * and whose lease the store no longer has. Deliveries that arrived during the renewal are kept.
 */
export const renewed = (
  session: RealtimeSession,
  asked: RealtimeSession["inFlight"],
  heldEventIds: ReadonlySet<string>
): RealtimeSession => {
  const isLost = ([eventId, deliveryId]: readonly [string, string]) =>
    asked.get(eventId) === deliveryId && !heldEventIds.has(eventId)
  return { ...session, inFlight: new Map([...session.inFlight].filter((delivery) => !isLost(delivery))) }
}
