import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { NumberState } from "./NumberState.ts"

/** The duration that one purchase or renewal grants: exactly 30 days. */
export const GRANT = 30 * Timestamp.DAY

/** The days before the end on which the tenant is notified, once each. */
export const NOTICE_DAYS = [5, 3, 1] as const
const DaysBefore = Schema.Literals(NOTICE_DAYS)
export type DaysBefore = typeof DaysBefore.Type

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

/** Whether the entitlement lasts for at least `millis` milliseconds from `now`. */
export const outlasts = ({ expiresAt }: Entitled, now: Timestamp.Timestamp, millis: number): boolean =>
  now + millis <= expiresAt

/** Returns the whole seconds that are left, or 0 if the number can't be used. */
export const secondsRemaining = (number: Entitled, now: Timestamp.Timestamp): number =>
  isUsable(number, now) ? Math.floor((number.expiresAt - now) / Timestamp.SECOND) : 0

export const firstNotice = (expiresAt: Timestamp.Timestamp): Notice => notice(expiresAt, NOTICE_DAYS[0])

/** Returns the notices that are due at `now`, starting with `next`, and the first notice after them. */
export const noticesDue = (
  expiresAt: Timestamp.Timestamp,
  next: Notice | null,
  now: Timestamp.Timestamp
): { readonly due: ReadonlyArray<Notice>; readonly next: Notice | null } => {
  if (next === null) return { due: [], next }
  const owed = NOTICE_DAYS.slice(NOTICE_DAYS.indexOf(next.daysBefore)).map((days) => notice(expiresAt, days))
  return { due: owed.filter(({ at }) => at <= now), next: owed.find(({ at }) => at > now) ?? null }
}

const notice = (expiresAt: Timestamp.Timestamp, daysBefore: DaysBefore): Notice => ({
  daysBefore,
  at: Timestamp.add(expiresAt, -daysBefore * Timestamp.DAY)
})
