import { RealtimeSession } from "@agentos/core"
import {
  type Acknowledgement,
  type Append,
  type EventCase,
  type EventCases,
  type EventHistory,
  type Frame,
  indexEvents,
  isAcknowledged,
  type Lease,
  type LeaseChange,
  type Session
} from "../observation/EventHistory.ts"
import { type Invariant, judge, type Violation } from "./Judge.ts"

type EventInvariant = Invariant<EventCases>

/** How long a statement that is rolled back may have locked rows. */
const LOCKED_MILLIS_MAX = 5_000

/** Each event reached its tenant, which acknowledged it; and the tenants have no other events. */
const eventsAreAcknowledged: EventInvariant = function* ({ all, history, of }) {
  for (const { acknowledgements, event, frames, row } of all) {
    if (row === undefined) yield `${event.eventId} was stored, and is not in the database`
    else if (!isAcknowledged(row)) yield `${event.eventId} is ${row.status} at the end`
    if (frames.length === 0) yield `${event.eventId} never reached a client of its tenant`
    // An unanswered acknowledgement may have counted.
    if (!acknowledgements.some(({ answer }) => answer === "acknowledged" || answer === undefined)) {
      yield `${event.eventId} was never acknowledged by its tenant`
    }
  }
  for (const { eventId } of history.rows) {
    if (of(eventId) === undefined) yield `${eventId} is in the database, and nothing stored it`
  }
}

const tenantsAreIsolated: EventInvariant = function* ({ history, of }) {
  for (const { createdAt, eventId, mark, tenantId } of history.frames) {
    const event = of(eventId)?.event
    if (event === undefined) yield `${eventId}, which nothing stored, reached a client of ${tenantId}`
    else if (event.tenantId !== tenantId) yield `${eventId} of ${event.tenantId} reached a client of ${tenantId}`
    else if (event.mark !== mark || event.createdAt !== createdAt) yield `${eventId} arrived with other content`
  }
  for (const { answer, eventId, tenantId } of history.acknowledgements) {
    if (answer === undefined) continue
    const isOwn = of(eventId)?.event.tenantId === tenantId
    if (isOwn && answer === "missing") yield `${eventId} was reported missing to its own tenant`
    if (!isOwn && answer !== "missing") yield `${eventId} of another tenant was reported ${answer} to ${tenantId}`
  }
}

const deliveriesAreLeased: EventInvariant = function* ({ history, lease }) {
  const seen = new Set<string>()
  for (const { deliveryId, eventId, sessionId } of history.frames) {
    const taken = lease(deliveryId)
    if (taken === undefined || taken.eventId !== eventId) yield `${eventId} arrived as ${deliveryId} without a lease`
    else if (taken.sessionId !== sessionId) yield `${eventId} was leased to ${taken.sessionId} and reached ${sessionId}`
    if (seen.has(deliveryId)) yield `${eventId} arrived twice as ${deliveryId}`
    seen.add(deliveryId)
  }
}

const deliveriesAreCounted: EventInvariant = function* ({ all, lease }) {
  for (const { event, frames, leases, row } of all) {
    for (const { deliveryCount, deliveryId } of frames) {
      const rank = lease(deliveryId)?.rank
      if (rank !== undefined && rank !== deliveryCount) {
        yield `delivery ${rank} of ${event.eventId} arrived as number ${deliveryCount}`
      }
    }
    if (row !== undefined && row.deliveryCount !== leases.length) {
      yield `${event.eventId} was leased ${leases.length} times, and its count is ${row.deliveryCount}`
    }
  }
}

const windowIsKept: EventInvariant = function* ({ all }) {
  const leases = all.flatMap((each) => each.leases)
  for (const [sessionId, own] of Map.groupBy(leases, (lease) => lease.sessionId)) {
    const most = mostAtOnce(own)
    if (most > RealtimeSession.MAX_IN_FLIGHT) yield `${sessionId} had ${most} deliveries in flight`
  }
}

const mostAtOnce = (leases: ReadonlyArray<Lease>): number => {
  const steps = leases
    .flatMap(({ endedAt, takenAt, until }) => [
      { at: takenAt, by: 1 },
      { at: Math.min(endedAt, until), by: -1 }
    ])
    // A lease that ends makes room for one that begins in the same millisecond.
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  let now = 0
  let most = 0
  for (const { by } of steps) {
    now += by
    most = Math.max(most, now)
  }
  return most
}

/** By the database, which takes no live lease away and revives no expired one; and by the clients. */
const eventsHaveOneHolder: EventInvariant = function* (cases) {
  const sessions = new Map(cases.history.sessions.map((session) => [session.sessionId, session]))
  for (const each of cases.all) {
    yield* leaseOverlaps(each)
    yield* clientOverlaps(each, cases, sessions)
  }
}

const leaseOverlaps = function* ({ changes, event }: EventCase): Generator<string> {
  for (const { after, at, before, startedAt } of changes) {
    if (before.leasedUntil === null || after.deliveryId === null) continue
    if (after.deliveryId !== before.deliveryId) {
      if (at < before.leasedUntil) {
        yield `${event.eventId} was taken from ${before.sessionId} ${before.leasedUntil - at} ms before its lease expired`
      }
    } else if (after.leasedUntil !== null) {
      if (after.leasedUntil < before.leasedUntil) yield `the lease on ${event.eventId} was shortened`
      else if (startedAt >= before.leasedUntil) {
        yield `the lease on ${event.eventId} was renewed ${startedAt - before.leasedUntil} ms after it had expired`
      }
    }
  }
}

/** The period in which a client had an event and could act on it. */
interface Hold {
  readonly sessionId: string
  readonly from: number
  readonly to: number
}

/**
 * From the frame until the socket closes, the lease ends or the event is acknowledged, whichever is first. A frame that
 * arrives after its lease (from a server that was paused) is held by no one.
 */
const holdOf = (
  { at: from, deliveryId, sessionId }: Frame,
  { acknowledged }: EventCase,
  lease: Lease | undefined,
  session: Session | undefined
): Hold => {
  const ends = [session?.closedAt, acknowledged?.at]
  if (lease !== undefined && lease.deliveryId === deliveryId) {
    ends.push(lease.until, lease.end === "released" ? lease.endedAt : undefined)
  }
  return { sessionId, from, to: Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY)) }
}

const clientOverlaps = function* (
  each: EventCase,
  { lease }: EventCases,
  sessions: ReadonlyMap<string, Session>
): Generator<string> {
  if (each.frames.length < 2) return
  const holds = each.frames
    .map((frame) => holdOf(frame, each, lease(frame.deliveryId), sessions.get(frame.sessionId)))
    .filter(({ from, to }) => from < to)
    .toSorted((a, b) => a.from - b.from)
  for (const [index, hold] of holds.entries()) {
    const other = holds.slice(0, index).find(({ sessionId, to }) => sessionId !== hold.sessionId && hold.from < to)
    if (other !== undefined) {
      yield `${each.event.eventId} reached ${hold.sessionId} while ${other.sessionId} held it for another ${other.to - hold.from} ms`
    }
  }
}

/** The sessions that were open at the end. */
const openSessions = ({ sessions }: EventHistory): ReadonlySet<string> =>
  new Set(sessions.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId))

const onlyClosedSessionsRelease: EventInvariant = function* ({ all, history }) {
  const open = openSessions(history)
  for (const { event, leases } of all) {
    const lease = leases.find(({ end, sessionId }) => end === "released" && open.has(sessionId))
    if (lease !== undefined) yield `${event.eventId} was released by ${lease.sessionId}, which stayed open`
  }
}

/**
 * A session receives events in the order of their ids. An older event may follow a younger one only if it was not
 * available when the younger one was leased: another session had leased it before, or a transaction that was rolled back
 * (that of a killed server) had locked it. Events of one statement arrive in order without exception.
 */
const sessionsReceiveInOrder: EventInvariant = function* (cases) {
  for (const [sessionId, frames] of Map.groupBy(cases.history.frames, (frame) => frame.sessionId)) {
    let newest = ""
    for (const [index, { deliveryId, eventId }] of frames.entries()) {
      if (eventId > newest) {
        newest = eventId
        continue
      }
      const before = frames.slice(0, index)
      const transaction = cases.lease(deliveryId)?.transaction
      const last = before.findLast((frame) => cases.lease(frame.deliveryId)?.transaction === transaction)
      if (transaction !== undefined && last !== undefined && last.eventId > eventId) {
        yield `${eventId} reached ${sessionId} after ${last.eventId}, which was leased by the same statement`
      }
      const younger = before.find(
        (frame) => frame.eventId > eventId && !wasUnavailable(cases, frame, { deliveryId, eventId })
      )
      if (younger !== undefined)
        yield `${eventId} reached ${sessionId} after ${younger.eventId}, and was available before`
    }
  }
}

/** Whether the older event was not available when the younger one was leased. */
const wasUnavailable = (
  { history, lease, of }: EventCases,
  younger: Frame,
  older: Pick<Frame, "deliveryId" | "eventId">
): boolean => {
  const { startedAt, takenAt } = lease(younger.deliveryId) ?? { startedAt: younger.at, takenAt: younger.at }
  const first = of(older.eventId)?.leases[0]
  if (first !== undefined && first.deliveryId !== older.deliveryId && first.startedAt <= takenAt) return true
  return history.rolledBack.some(({ from, to }) => from <= takenAt && startedAt <= to + LOCKED_MILLIS_MAX)
}

/** Ids follow the order within a call, and the order of calls that do not overlap; createdAt follows the ids. */
const eventsAreOrderedByCommit: EventInvariant = function* ({ history }) {
  const calls = history.appends.flatMap(({ calledAt, events, returnedAt }) =>
    [...Map.groupBy(events, ({ tenantId }) => tenantId)].map(([tenantId, own]) => ({
      tenantId,
      append: { calledAt, returnedAt, events: own }
    }))
  )
  for (const [tenantId, own] of Map.groupBy(calls, (call) => call.tenantId)) {
    const appends = own.map(({ append }) => append)
    for (const { events } of appends) {
      for (const [index, { eventId }] of events.entries()) {
        if (index > 0 && eventId <= events[index - 1]!.eventId) yield `${eventId} is not after the one stored before it`
      }
    }
    yield* earlierThanFinished(tenantId, appends)
    const events = appends.flatMap((append) => append.events).toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
    for (const [index, { createdAt, eventId }] of events.entries()) {
      if (index > 0 && createdAt < events[index - 1]!.createdAt) yield `${eventId} was created before an earlier one`
    }
  }
}

const earlierThanFinished = function* (tenantId: string, appends: ReadonlyArray<Append>): Generator<string> {
  const byEnd = appends.toSorted((a, b) => a.returnedAt - b.returnedAt)
  let ended = 0
  let newest = ""
  for (const { calledAt, events } of appends.toSorted((a, b) => a.calledAt - b.calledAt)) {
    for (; ended < byEnd.length && byEnd[ended]!.returnedAt < calledAt; ended++) {
      const last = byEnd[ended]!.events.at(-1)?.eventId ?? ""
      if (last > newest) newest = last
    }
    const early = events.find(({ eventId }) => eventId <= newest)
    if (early !== undefined) yield `${early.eventId} of ${tenantId} was stored after ${newest}, and its id is not later`
  }
}

/**
 * An event is acknowledged by an acknowledgement of its tenant that named no delivery or the live one. Each answer was
 * true when it was given, and each acknowledgement over an open socket is answered.
 */
const acknowledgementsAreGenuine: EventInvariant = function* ({ all, history }) {
  for (const { acknowledged, acknowledgements, event } of all) {
    for (const { answer, answeredAt } of acknowledgements) {
      if (answer !== "acknowledged" || answeredAt === undefined) continue
      if (acknowledged === undefined) yield `${event.eventId} was reported acknowledged, and never was`
      else if (acknowledged.at > answeredAt) {
        yield `${event.eventId} was reported acknowledged ${acknowledged.at - answeredAt} ms before it was`
      }
    }
    if (acknowledged !== undefined && !acknowledgements.some((one) => explains(one, acknowledged))) {
      yield `${event.eventId} became acknowledged at ${acknowledged.at} without a valid acknowledgement`
    }
  }
  const open = openSessions(history)
  for (const { answer, eventId, sessionId } of history.acknowledgements) {
    if (answer === undefined && sessionId !== undefined && open.has(sessionId)) {
      yield `an acknowledgement of ${eventId} was not answered by ${sessionId}, which is open`
    }
  }
}

/** Whether this acknowledgement can have made the change. */
const explains = (
  { answer, answeredAt, deliveryId, sentAt }: Acknowledgement,
  { at, before, startedAt }: LeaseChange
): boolean => {
  if (answer === "stale" || answer === "missing") return false
  if (sentAt > at || (answeredAt !== undefined && answeredAt < at)) return false
  if (deliveryId === undefined) return true
  return deliveryId === before.deliveryId && before.leasedUntil !== null && startedAt < before.leasedUntil
}

const staleMeansLost: EventInvariant = function* ({ all }) {
  for (const { acknowledgements, event, leases } of all) {
    for (const acknowledgement of acknowledgements) {
      if (acknowledgement.answer !== "stale") continue
      const { deliveryId } = acknowledgement
      if (deliveryId === undefined) yield `${event.eventId} was reported stale, and no delivery was named`
      else if (wasLive(leases, acknowledgement)) yield `${deliveryId} of ${event.eventId} was live and reported stale`
    }
  }
}

/** Whether the delivery was live until the answer. Renewals do not count: one may have been under way. */
const wasLive = (leases: ReadonlyArray<Lease>, { answeredAt, deliveryId, sentAt }: Acknowledgement): boolean =>
  leases.some(
    (lease) =>
      lease.deliveryId === deliveryId &&
      lease.takenAt <= sentAt &&
      answeredAt !== undefined &&
      answeredAt < Math.min(lease.firstUntil, lease.endedAt)
  )

const acknowledgedIsFinal: EventInvariant = function* ({ all }) {
  for (const { changes, event } of all) {
    const change = changes.find(({ before }) => isAcknowledged(before))
    if (change !== undefined) yield `${event.eventId} was acknowledged, and then ${change.after.status}`
  }
}

export const EVENT_INVARIANTS = {
  "every event is acknowledged by its tenant": eventsAreAcknowledged,
  "tenants are isolated": tenantsAreIsolated,
  "every delivery is leased to its session": deliveriesAreLeased,
  "deliveries are counted": deliveriesAreCounted,
  "at most 64 deliveries are in flight": windowIsKept,
  "at most one session holds an event": eventsHaveOneHolder,
  "only closed sessions release leases": onlyClosedSessionsRelease,
  "a session receives events in order": sessionsReceiveInOrder,
  "events are ordered by commit": eventsAreOrderedByCommit,
  "acknowledgements are genuine": acknowledgementsAreGenuine,
  "stale means that the lease was lost": staleMeansLost,
  "acknowledged is final": acknowledgedIsFinal
} as const satisfies Readonly<Record<string, EventInvariant>>

export const judgeEvents = (history: EventHistory): ReadonlyArray<Violation> =>
  judge(EVENT_INVARIANTS, indexEvents(history))

/** Deliveries that arrived late because a transaction was rolled back. */
export const countOvertaken = ({ history, of }: EventCases): number => {
  let count = 0
  for (const frames of Map.groupBy(history.frames, (frame) => frame.sessionId).values()) {
    let newest = ""
    for (const frame of frames) {
      if (frame.eventId > newest) newest = frame.eventId
      else if (of(frame.eventId)?.leases[0]?.deliveryId === frame.deliveryId) count++
    }
  }
  return count
}
