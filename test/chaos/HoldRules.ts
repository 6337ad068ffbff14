import type { Case, Cases, Lease, Rule } from "./Cases.ts"
import type { Frame, SeenSession } from "./History.ts"

/**
 * An event is never two sessions' at a time: by the database, which takes no live lease away, nor brings back one that
 * has run out; and by the clients.
 */
export const holdRule: Rule = function* (cases) {
  const sessions = new Map(cases.history.sessions.map((session) => [session.sessionId, session]))
  for (const each of cases.all) {
    yield* leaseOverlaps(each)
    yield* clientOverlaps(each, cases, sessions)
  }
}

const leaseOverlaps = function* ({ changes, event }: Case): Generator<string> {
  for (const { after, askedAt, at, before } of changes) {
    if (before.leasedUntil === null || after.deliveryId === null) continue
    if (after.deliveryId !== before.deliveryId) {
      if (at < before.leasedUntil) {
        yield `${event.eventId} was taken from ${before.sessionId} ${before.leasedUntil - at} ms before its lease ended`
      }
    } else if (after.leasedUntil !== null) {
      if (after.leasedUntil < before.leasedUntil) yield `the lease on ${event.eventId} was cut short`
      else if (askedAt >= before.leasedUntil) {
        yield `the lease on ${event.eventId} was renewed ${askedAt - before.leasedUntil} ms after it had run out`
      }
    }
  }
}

/** For how long a client had an event, and might act on it. */
interface Hold {
  readonly sessionId: string
  readonly from: number
  readonly to: number
}

/**
 * From when the frame came until the client's socket was cut or closed, the lease ended (it ran out, by its last
 * renewal, or was given back), or the event was acknowledged, whichever was first. That another session took it
 * ends nothing. What comes when its lease is over was held by nobody: a server that stood still sends it.
 */
const holdOf = (
  { deliveryId, at: from, sessionId }: Frame,
  { acknowledged }: Case,
  lease: Lease | undefined,
  session: SeenSession | undefined
): Hold => {
  const ends = [session?.closedAt, acknowledged?.at]
  if (lease !== undefined && lease.deliveryId === deliveryId) {
    ends.push(lease.until, lease.end === "released" ? lease.endedAt : undefined)
  }
  return { sessionId, from, to: Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY)) }
}

const clientOverlaps = function* (
  each: Case,
  { lease }: Cases,
  sessions: ReadonlyMap<string, SeenSession>
): Generator<string> {
  if (each.frames.length < 2) return
  const holds = each.frames
    .map((frame) => holdOf(frame, each, lease(frame.deliveryId), sessions.get(frame.sessionId)))
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => a.from - b.from)
  for (const [index, hold] of holds.entries()) {
    const other = holds.slice(0, index).find(({ sessionId, to }) => sessionId !== hold.sessionId && hold.from < to)
    if (other !== undefined) {
      yield `${each.event.eventId} came to ${hold.sessionId} while ${other.sessionId} held it, for another ${other.to - hold.from} ms`
    }
  }
}

/** Leases are given back of sessions that go away, and not of one that was still open at the end. */
export const givenBackRule: Rule = function* ({ all, history }) {
  const open = new Set(
    history.sessions.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId)
  )
  for (const { event, leases } of all) {
    const lease = leases.find(({ end, sessionId }) => end === "released" && open.has(sessionId))
    if (lease !== undefined) yield `${event.eventId} was given back by ${lease.sessionId}, which went on`
  }
}
