import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { NumberState } from "./NumberState.ts"

/** What one purchase or renewal grants: exactly 30 days. */
export const GRANT = 30 * Timestamp.DAY

/** How many days before the end a tenant is told of it, once each. */
export const NOTICE_DAYS = [5, 3, 1] as const
const DaysBefore = Schema.Literals(NOTICE_DAYS)
export type DaysBefore = typeof DaysBefore.Type

/** A notice of the end: how many days before it, and so when. */
export const Notice = Schema.Struct({ daysBefore: DaysBefore, at: Timestamp.Timestamp })
export type Notice = typeof Notice.Type

/** `expiring`: so many milliseconds or fewer are left. */
const EXPIRING = 5 * Timestamp.DAY

export const NumberStatus = Schema.Literals(["active", "expiring", "suspended", "released"])
export type NumberStatus = typeof NumberStatus.Type

/** What of a number its status depends on, besides the time. */
interface Entitled {
  readonly state: NumberState
  readonly expiresAt: Timestamp.Timestamp
}

/** What a number is at a moment. One whose time is over is `suspended`, whether or not the job has written that down. */
export const statusAt = ({ expiresAt, state }: Entitled, now: Timestamp.Timestamp): NumberStatus => {
  if (state !== "active") return state
  if (now >= expiresAt) return "suspended"
  return expiresAt - now <= EXPIRING ? "expiring" : "active"
}

/** Whether a number may be used at a moment. */
export const isUsable = (number: Entitled, now: Timestamp.Timestamp): boolean => {
  const status = statusAt(number, now)
  return status === "active" || status === "expiring"
}

/** Whether something that takes so many milliseconds from now ends before the entitlement does. */
export const outlasts = ({ expiresAt }: Entitled, now: Timestamp.Timestamp, millis: number): boolean =>
  now + millis <= expiresAt

/** Whole seconds that are left; none once the number can't be used. */
export const secondsRemaining = (number: Entitled, now: Timestamp.Timestamp): number =>
  isUsable(number, now) ? Math.floor((number.expiresAt - now) / Timestamp.SECOND) : 0

/** The first notice of an end. */
export const firstNotice = (expiresAt: Timestamp.Timestamp): Notice => notice(expiresAt, NOTICE_DAYS[0])

/** The notices that are due at a moment, from the next one owed on, and the one that is owed after them. */
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
