/**
 * How long a number or a call may still be used:
 *
 * - A number may be used until its entitlement ends. A purchase or renewal extends it by 30 days.
 * - A number has an allowance of seconds for inbound calls. A purchase extends it by 600 s, each live call reserves an
 *   equal share of the rest, and a call that ends consumes its connected seconds and releases the others.
 * - A call has a limit in connected seconds from its answer: the seconds that were bought for an outbound call, and
 *   those that are reserved for an inbound one. An extension adds 60 s to the limit of one call. An inbound call uses
 *   them after its share of the allowance, and they are never shared.
 */
import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Call } from "./Call.ts"
import type { NumberState } from "./PhoneState.ts"

/** The duration that one purchase or renewal adds: exactly 30 days. */
export const ENTITLEMENT = 30 * Timestamp.DAY
/** The seconds that one purchase of inbound minutes adds. */
export const INBOUND_SECONDS = 600
/** The connected seconds that one extension adds to a call. */
export const EXTENSION_SECONDS = 60

/** The days before the end on which the tenant is notified, once each. */
export const NOTICE_DAYS = [5, 3, 1] as const
const DaysBefore = Schema.Literals(NOTICE_DAYS)
type DaysBefore = typeof DaysBefore.Type

/** A notice of the end: the number of days before it, and the time that follows from that. */
export const Notice = Schema.Struct({ daysBefore: DaysBefore, at: Timestamp.Timestamp })
export type Notice = typeof Notice.Type

/** A number is `expiring` while this many milliseconds or fewer are left. */
const EXPIRING = 5 * Timestamp.DAY

export const NumberStatus = Schema.Literals(["active", "expiring", "suspended", "released"])
export type NumberStatus = typeof NumberStatus.Type

/** The fields of a number that determine its status, together with the time. */
interface Entitled {
  readonly state: NumberState
  readonly expiresAt: Timestamp.Timestamp
}

/**
 * Returns the status of a number at `now`. A number whose entitlement is over is `suspended`, whether or not the job
 * has stored that yet.
 */
export const statusAt = ({ expiresAt, state }: Entitled, now: Timestamp.Timestamp): NumberStatus => {
  if (state !== "active") return state
  if (now >= expiresAt) return "suspended"
  return expiresAt - now <= EXPIRING ? "expiring" : "active"
}

export const isUsable = (number: Entitled, now: Timestamp.Timestamp): boolean => {
  const status = statusAt(number, now)
  return status === "active" || status === "expiring"
}

/** Whether the entitlement lasts for at least `seconds` seconds from `now`. */
export const lasts = ({ expiresAt }: Entitled, now: Timestamp.Timestamp, seconds: number): boolean =>
  now + seconds * Timestamp.SECOND <= expiresAt

/** Returns the whole seconds that are left, or 0 if the number can't be used. */
export const secondsRemaining = (number: Entitled, now: Timestamp.Timestamp): number =>
  isUsable(number, now) ? Math.floor((number.expiresAt - now) / Timestamp.SECOND) : 0

/** Returns the entitlement that one purchase or renewal adds at `from`: its end, and the first notice of it. */
export const extendEntitlement = (
  from: Timestamp.Timestamp
): { readonly expiresAt: Timestamp.Timestamp; readonly nextNotice: Notice } => {
  const expiresAt = Timestamp.add(from, ENTITLEMENT)
  return { expiresAt, nextNotice: firstNotice(expiresAt) }
}

export const firstNotice = (expiresAt: Timestamp.Timestamp): Notice => notice(expiresAt, NOTICE_DAYS[0])

/** Returns the notices that are due at `now`, starting with `next`, and the first notice after them. */
export const noticesDue = (
  expiresAt: Timestamp.Timestamp,
  next: Notice | null,
  now: Timestamp.Timestamp
): { readonly due: ReadonlyArray<Notice>; readonly next: Notice | null } => {
  if (next === null) return { due: [], next }
  const remaining = NOTICE_DAYS.slice(NOTICE_DAYS.indexOf(next.daysBefore)).map((days) => notice(expiresAt, days))
  return { due: remaining.filter(({ at }) => at <= now), next: remaining.find(({ at }) => at > now) ?? null }
}

const notice = (expiresAt: Timestamp.Timestamp, daysBefore: DaysBefore): Notice => ({
  daysBefore,
  at: Timestamp.add(expiresAt, -daysBefore * Timestamp.DAY)
})

/** The seconds of inbound calls that a number has purchased and used. `usedSeconds` counts ended calls only. */
export const InboundAllowance = Schema.Struct({ purchasedSeconds: Schema.Int, usedSeconds: Schema.Int })
export type InboundAllowance = typeof InboundAllowance.Type

export const NO_INBOUND: InboundAllowance = { purchasedSeconds: 0, usedSeconds: 0 }

/** Returns the allowance after one more purchase. */
export const extendInbound = (allowance: InboundAllowance): InboundAllowance => ({
  ...allowance,
  purchasedSeconds: allowance.purchasedSeconds + INBOUND_SECONDS
})

/** Returns the allowance after a call of this length has ended. */
export const consume = (allowance: InboundAllowance, connectedSeconds: number): InboundAllowance => ({
  ...allowance,
  usedSeconds: allowance.usedSeconds + connectedSeconds
})

/** Returns the seconds that ended calls have left; never less than 0. */
export const remaining = ({ purchasedSeconds, usedSeconds }: InboundAllowance): number =>
  Math.max(0, purchasedSeconds - usedSeconds)

/** An inbound call in progress. */
export interface LiveCall extends Pick<Call, "callId" | "authorizedSeconds" | "extendedSeconds"> {
  readonly answeredAt: Timestamp.Timestamp
}

/** Returns the answered inbound calls among the live calls of a number. */
export const liveInbound = (live: ReadonlyArray<Call>): ReadonlyArray<LiveCall> =>
  live.flatMap(({ answeredAt, direction, ...call }) =>
    direction === "inbound" && answeredAt !== null ? [{ ...call, answeredAt }] : []
  )

/**
 * Returns how many of the connected seconds of an inbound call its number's allowance pays for: all, except those that
 * its extensions added to its share.
 */
export const allowanceSeconds = (
  { authorizedSeconds, extendedSeconds }: Pick<Call, "authorizedSeconds" | "extendedSeconds">,
  connectedSeconds: number
): number => allowancePart(connectedSeconds, authorizedSeconds, extendedSeconds)

/** All in one unit. */
const allowancePart = (connected: number, authorized: number, extended: number): number =>
  Math.max(connected - extended, Math.min(connected, authorized - extended))

/**
 * Reserves the allowance for the live calls at `now`. Returns the limit of each: the seconds of the allowance that it has
 * used, plus an equal share of the seconds that all live calls leave, plus its extensions. Without their extensions, the
 * calls can't exceed the allowance together.
 *
 * Until a call is in its extension, time alone changes no limit, and a call that ends lowers none of the others: each share
 * shrinks by the time that its call uses. For this, used time counts in milliseconds, and only limits are whole seconds. A
 * limit that is lowered shortly before it is reached would come to the carrier too late, after others have got its seconds.
 */
export const reserve = (
  allowance: InboundAllowance,
  live: ReadonlyArray<LiveCall>,
  now: Timestamp.Timestamp
): ReadonlyMap<string, number> => {
  const used = live.map((call) => ({ ...call, millis: usedMillis(call, now) }))
  const usedByAll = used.reduce((sum, { millis }) => sum + millis, 0)
  const left = Math.max(0, remaining(allowance) * Timestamp.SECOND - usedByAll)
  const limit = (millis: number): number => {
    // One division of whole numbers, which is exact if its result is a whole number.
    const shared = Math.floor((millis * live.length + left) / (live.length * Timestamp.SECOND))
    return Math.max(shared, Math.ceil(millis / Timestamp.SECOND))
  }
  return new Map(used.map(({ callId, extendedSeconds, millis }) => [callId, limit(millis) + extendedSeconds]))
}

/**
 * Returns the connected time that the allowance has paid for until `now`. It is negative for a call that another server,
 * whose clock is ahead, answered just now: a difference of clocks does not move the shares.
 */
const usedMillis = ({ answeredAt, authorizedSeconds, extendedSeconds }: LiveCall, now: Timestamp.Timestamp): number =>
  allowancePart(now - answeredAt, authorizedSeconds * Timestamp.SECOND, extendedSeconds * Timestamp.SECOND)

/**
 * Returns the limit of a call for which `reserved` seconds are reserved. If they add nothing and the call has already
 * exceeded its limit, the limit stays: the carrier has ended the call and has not reported that yet. At least 1: carriers
 * take no other.
 */
export const limitOf = (
  { answeredAt, authorizedSeconds }: Pick<Call, "answeredAt" | "authorizedSeconds">,
  reserved: number | undefined,
  now: Timestamp.Timestamp
): number => {
  if (reserved === undefined || answeredAt === null) return authorizedSeconds
  return Math.max(1, reserved > secondsSince(answeredAt, now) ? reserved : Math.min(reserved, authorizedSeconds))
}

/** Returns the seconds that a call has been connected at `now`; a second that has begun counts. */
export const secondsSince = (answeredAt: Timestamp.Timestamp, now: Timestamp.Timestamp): number =>
  Math.max(0, Math.ceil((now - answeredAt) / Timestamp.SECOND))

/** Returns the connected seconds of a call at `now`: those until its end, and at most its limit while it lasts. */
export const connectedSecondsAt = (
  { answeredAt, authorizedSeconds, connectedSeconds, state }: Call,
  now: Timestamp.Timestamp
): number =>
  state === "in_progress" && answeredAt !== null
    ? Math.min(authorizedSeconds, secondsSince(answeredAt, now))
    : connectedSeconds

/** Returns the allowance at `now`, of which the number's live inbound calls have used their seconds so far. */
export const usedAt = (
  allowance: InboundAllowance,
  live: ReadonlyArray<Call>,
  now: Timestamp.Timestamp
): InboundAllowance =>
  live
    .filter(({ direction }) => direction === "inbound")
    .reduce((used, call) => consume(used, allowanceSeconds(call, connectedSecondsAt(call, now))), allowance)

/** Returns when an answered call must end, or null for a call that was not answered or has ended. */
export const deadlineOf = ({ answeredAt, authorizedSeconds, state }: Call): Timestamp.Timestamp | null =>
  state === "in_progress" && answeredAt !== null
    ? Timestamp.add(answeredAt, authorizedSeconds * Timestamp.SECOND)
    : null
