import { RealtimeSession } from "@agentos/core"
import type { Lease, Rule } from "./Cases.ts"

/** Each event came to its tenant, which acknowledged it; and the tenants have no others. */
export const lossRule: Rule = function* ({ all, history, of }) {
  for (const { acknowledgements, event, frames, row } of all) {
    if (row === undefined) yield `${event.eventId} was stored, and is not in the database`
    else if (row.status !== "acknowledged") yield `${event.eventId} is ${row.status} at the end`
    if (frames.length === 0) yield `${event.eventId} never came to a client of its tenant`
    // Whether one that was not answered counted is for the rule of acknowledgements.
    if (!acknowledgements.some(({ answer }) => answer === "acknowledged" || answer === undefined)) {
      yield `${event.eventId} was never acknowledged by its tenant`
    }
  }
  for (const { eventId } of history.rows) {
    if (of(eventId) === undefined) yield `${eventId} is in the database, and nobody stored it`
  }
}

/** What comes to a client is its tenant's, as it was stored; and it can end no other's. */
export const strangerRule: Rule = function* ({ history, of }) {
  for (const { createdAt, eventId, mark, tenantId } of history.frames) {
    const event = of(eventId)?.event
    if (event === undefined) yield `${eventId}, which nobody stored, came to a client of ${tenantId}`
    else if (event.tenantId !== tenantId) yield `${eventId} of ${event.tenantId} came to a client of ${tenantId}`
    else if (event.mark !== mark || event.createdAt !== createdAt) yield `${eventId} did not come as it was stored`
  }
  for (const { answer, eventId, tenantId } of history.acknowledgements) {
    if (answer === undefined) continue
    const isOwn = of(eventId)?.event.tenantId === tenantId
    if (isOwn && answer === "missing") yield `${eventId} was said not to be its own tenant's`
    if (!isOwn && answer !== "missing") yield `a client of ${tenantId} was told that ${eventId} of another is ${answer}`
  }
}

/** Whatever came to a client, the database had given to that very session, and it came once. */
export const leaseRule: Rule = function* ({ history, lease }) {
  const seen = new Set<string>()
  for (const { deliveryId, eventId, sessionId } of history.frames) {
    const taken = lease(deliveryId)
    if (taken === undefined || taken.eventId !== eventId) yield `${eventId} came as ${deliveryId} without a lease`
    else if (taken.sessionId !== sessionId) yield `${eventId} was leased to ${taken.sessionId} and came to ${sessionId}`
    if (seen.has(deliveryId)) yield `${eventId} came twice as ${deliveryId}`
    seen.add(deliveryId)
  }
}

/** A delivery says how many there were before it, and no count is lost. */
export const countRule: Rule = function* ({ all, lease }) {
  for (const { event, frames, leases, row } of all) {
    for (const { deliveryCount, deliveryId } of frames) {
      const rank = lease(deliveryId)?.rank
      if (rank !== undefined && rank !== deliveryCount) {
        yield `delivery ${rank} of ${event.eventId} came as number ${deliveryCount}`
      }
    }
    if (row !== undefined && row.deliveryCount !== leases.length) {
      yield `${event.eventId} was leased ${leases.length} times, and counts ${row.deliveryCount}`
    }
  }
}

/** No session ever has more live leases than the window is wide. */
export const inFlightRule: Rule = function* ({ all }) {
  const bySession = Map.groupBy(
    all.flatMap(({ leases }) => leases),
    ({ sessionId }) => sessionId
  )
  for (const [sessionId, leases] of bySession) {
    const most = mostAtOnce(leases)
    if (most > RealtimeSession.MAX_IN_FLIGHT) yield `${sessionId} had ${most} deliveries in flight`
  }
}

const mostAtOnce = (leases: ReadonlyArray<Lease>): number => {
  const steps = leases
    .flatMap(({ endedAt, takenAt, until }) => [
      { at: takenAt, by: 1 },
      { at: Math.min(endedAt, until), by: -1 }
    ])
    // What ends at a moment makes room for what begins at it.
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  let now = 0
  let most = 0
  for (const { by } of steps) {
    now += by
    most = Math.max(most, now)
  }
  return most
}
