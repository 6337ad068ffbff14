import type { Acknowledgement, AcknowledgementOutcome, Delivery } from "./EventStore.ts"

/** Most deliveries that a session holds unacknowledged; what else there is waits in the store. */
export const MAX_IN_FLIGHT = 64

/**
 * What one delivering session holds, as a value.
 *
 *     replaying ── a lease brought less than there was room for ──► live
 *
 * Whatever is acknowledged, lost or ended elsewhere makes room for more.
 */
export interface RealtimeSession {
  readonly phase: "replaying" | "live"
  /** The delivery held of each event. */
  readonly inFlight: ReadonlyMap<string, string>
  /** How many deliveries the replay has sent so far. */
  readonly replayed: number
}

export const opened: RealtimeSession = { phase: "replaying", inFlight: new Map(), replayed: 0 }

/** How many more deliveries the session may take now. */
export const room = (session: RealtimeSession): number => Math.max(0, MAX_IN_FLIGHT - session.inFlight.size)

/**
 * After a lease of at most `asked`: the session as it holds them, and the size of the whole
 * replay when it ends with these.
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

/** The replay is over although the window is full: nothing is left to send. */
export const drained = (
  session: RealtimeSession
): { readonly session: RealtimeSession; readonly replayComplete: number } => ({
  session: { ...session, phase: "live" },
  replayComplete: session.replayed
})

/**
 * After acknowledgements: what was acknowledged, or is no longer this session's, is
 * held no more. An id that nobody knows changes nothing.
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
    if (outcome === "stale" && inFlight.get(eventId) === deliveryId) inFlight.delete(eventId)
  })
  return { ...session, inFlight }
}

/**
 * After a renewal: of the deliveries that were held when it was asked for, those that the store no longer knows are
 * held no more. What the session was given while the answer was on its way, the answer says nothing of.
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
