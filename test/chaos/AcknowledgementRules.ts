import { type Case, isOver, type Rule } from "./Cases.ts"
import type { Acknowledgement, History, LeaseChange } from "./History.ts"

/**
 * An event is acknowledged because its tenant said so: by an acknowledgement that was not refused, and that named no
 * delivery, or the one that was live. Who was told that it is acknowledged was told so when it was.
 */
export const acknowledgementRule: Rule = function* ({ all, history }) {
  for (const each of all) {
    const { acknowledged, acknowledgements, event } = each
    for (const { answer, answeredAt } of acknowledgements) {
      if (answer !== "acknowledged" || answeredAt === undefined) continue
      if (acknowledged === undefined) yield `${event.eventId} was said to be acknowledged, and never was`
      else if (acknowledged.at > answeredAt) {
        yield `${event.eventId} was said to be acknowledged ${acknowledged.at - answeredAt} ms before it was`
      }
    }
    if (acknowledged !== undefined && !acknowledgements.some((one) => explains(one, acknowledged))) {
      yield `${event.eventId} was acknowledged at ${acknowledged.at}, and nobody had done that who could`
    }
  }
  yield* unanswered(history)
}

/** Whether this acknowledgement can be the one that counted. */
const explains = (
  { answer, answeredAt, deliveryId, sentAt }: Acknowledgement,
  { askedAt, at, before }: LeaseChange
): boolean => {
  if (answer === "stale" || answer === "missing") return false
  if (sentAt > at || (answeredAt !== undefined && answeredAt < at)) return false
  if (deliveryId === undefined) return true
  return deliveryId === before.deliveryId && before.leasedUntil !== null && askedAt < before.leasedUntil
}

/** Over a socket that is open, every acknowledgement is answered in the end. */
const unanswered = function* ({ acknowledgements, sessions }: History): Generator<string> {
  const open = new Set(sessions.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId))
  for (const { answer, eventId, sessionId } of acknowledgements) {
    if (answer === undefined && sessionId !== undefined && open.has(sessionId)) {
      yield `an acknowledgement of ${eventId} was not answered by ${sessionId}, which is open`
    }
  }
}

/** An acknowledgement is refused as stale only if it names a delivery whose lease was lost when it came. */
export const staleRule: Rule = function* ({ all }) {
  for (const each of all) {
    for (const acknowledgement of each.acknowledgements) {
      if (acknowledgement.answer !== "stale") continue
      const { deliveryId } = acknowledgement
      if (deliveryId === undefined) yield `${each.event.eventId} was answered as stale, and no delivery was named`
      else if (wasLive(each, acknowledgement)) yield `${deliveryId} of ${each.event.eventId} was live and called stale`
    }
  }
}

/**
 * Whether the delivery that is named was live all the time from when it was named until that was answered. Renewals do
 * not count, since one may be under way while the acknowledgement is judged.
 */
const wasLive = ({ leases }: Case, { answeredAt, deliveryId, sentAt }: Acknowledgement): boolean =>
  leases.some(
    (lease) =>
      lease.deliveryId === deliveryId &&
      lease.takenAt <= sentAt &&
      answeredAt !== undefined &&
      answeredAt < Math.min(lease.firstUntil, lease.endedAt)
  )

/** What is acknowledged is never delivered, leased or otherwise changed again. */
export const endRule: Rule = function* ({ all }) {
  for (const { changes, event } of all) {
    const change = changes.find(({ before }) => isOver(before))
    if (change !== undefined) yield `${event.eventId} was acknowledged, and then ${change.after.status}`
  }
}
