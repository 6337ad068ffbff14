import type { Cases, Rule } from "./Cases.ts"
import type { Append, Frame } from "./History.ts"

/** For how long a statement that is undone in the end may have kept what it had locked from others. */
const HELD_MILLIS = 5_000

/**
 * A session gets events in the order of their ids. An older one may come after a younger one only if the older was not
 * to be had when the younger was taken: because it had been given to somebody before that, from whom it came back
 * later; or because a transaction that was undone, as that of a server that is killed, had it in its hands. An event
 * that nobody had before is never overtaken. What was taken in one statement comes in order without exception.
 */
export const sessionOrderRule: Rule = function* (cases) {
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
        yield `${eventId} came to ${sessionId} after ${last.eventId}, with which it had been taken`
      }
      const younger = before.find(
        (frame) => frame.eventId > eventId && !mayOvertake(cases, frame, { deliveryId, eventId })
      )
      if (younger !== undefined) yield `${eventId} came to ${sessionId} after ${younger.eventId}, and could have before`
    }
  }
}

/** How often a transaction that was undone made an event come late. */
export const countOvertakenByUndone = (cases: Cases): number => {
  let count = 0
  for (const frames of Map.groupBy(cases.history.frames, (frame) => frame.sessionId).values()) {
    let newest = ""
    for (const frame of frames) {
      if (frame.eventId > newest) newest = frame.eventId
      else if (cases.of(frame.eventId)?.leases[0]?.deliveryId === frame.deliveryId) count++
    }
  }
  return count
}

/** Whether the older event could not be had when the younger was taken. */
const mayOvertake = (
  { history, lease, of }: Cases,
  younger: Frame,
  older: Pick<Frame, "deliveryId" | "eventId">
): boolean => {
  const { askedAt, takenAt } = lease(younger.deliveryId) ?? { askedAt: younger.at, takenAt: younger.at }
  const first = of(older.eventId)?.leases[0]
  if (first !== undefined && first.deliveryId !== older.deliveryId && first.askedAt <= takenAt) return true
  return history.undone.some(({ from, to }) => from <= takenAt && askedAt <= to + HELD_MILLIS)
}

/**
 * Of one tenant, what is stored in one call has ids in the order given, what is stored by a call that began when another
 * had ended has later ones, and createdAt never runs against the ids.
 */
export const commitOrderRule: Rule = function* ({ history }) {
  const calls = history.appends.flatMap(({ askedAt, events, storedAt }) =>
    [...Map.groupBy(events, ({ tenantId }) => tenantId)].map(([tenantId, own]) => ({
      tenantId,
      append: { askedAt, storedAt, events: own }
    }))
  )
  for (const [tenantId, own] of Map.groupBy(calls, (call) => call.tenantId)) {
    const appends = own.map(({ append }) => append)
    for (const { events } of appends) {
      for (const [index, { eventId }] of events.entries()) {
        if (index > 0 && eventId <= events[index - 1]!.eventId) yield `${eventId} is not after the one stored before it`
      }
    }
    yield* againstTime(tenantId, appends)
    const events = appends.flatMap((append) => append.events).toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
    for (const [index, { createdAt, eventId }] of events.entries()) {
      if (index > 0 && createdAt < events[index - 1]!.createdAt) yield `${eventId} was created before an earlier one`
    }
  }
}

const againstTime = function* (tenantId: string, appends: ReadonlyArray<Append>): Generator<string> {
  const byEnd = appends.toSorted((a, b) => a.storedAt - b.storedAt)
  let ended = 0
  let newest = ""
  for (const { askedAt, events } of appends.toSorted((a, b) => a.askedAt - b.askedAt)) {
    for (; ended < byEnd.length && byEnd[ended]!.storedAt < askedAt; ended++) {
      const last = byEnd[ended]!.events.at(-1)?.eventId ?? ""
      if (last > newest) newest = last
    }
    const early = events.find(({ eventId }) => eventId <= newest)
    if (early !== undefined) yield `${early.eventId} of ${tenantId} was stored after ${newest} and is before it`
  }
}
