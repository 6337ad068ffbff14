import * as Timestamp from "../kernel/Timestamp.ts"
import type { Call, CallEndReason, HangUpReason } from "./Call.ts"
import { type CallMove, move } from "./CallState.ts"
import { secondsSince } from "./InboundAllowance.ts"

/** How a call came to its end, by the carrier's word. */
export type Ending = "completed" | "busy" | "no_answer" | "failed"

/**
 * What the carrier says of a call. Reports come in any order, and again. Moments are this service's own, each by the
 * clock of the server that was told.
 */
export type CallReport =
  | { readonly _tag: "Ringing" }
  | { readonly _tag: "Answered"; readonly at: Timestamp.Timestamp }
  /** `seconds` is how long the carrier says that it was connected, where it says so. */
  | {
      readonly _tag: "Ended"
      readonly at: Timestamp.Timestamp
      readonly ending: Ending
      readonly seconds: number | null
    }

/** How long a call may ring, and a carrier may say nothing of it, before it is asked. */
const UNANSWERED_WATCH = 60 * Timestamp.SECOND
/** How often the carrier is asked about a call that goes on, for an end that nobody told of. */
const ANSWERED_WATCH = 60 * Timestamp.SECOND
/** How soon it is looked again at a call that the carrier was told to end. */
const HANG_UP_WATCH = 2 * Timestamp.SECOND

/** When a call that has just begun is looked at. */
export const firstWatch = (createdAt: Timestamp.Timestamp): Timestamp.Timestamp =>
  Timestamp.add(createdAt, UNANSWERED_WATCH)

/** When an answered call has to end; null for one that was not answered or has ended. */
export const deadlineOf = ({ answeredAt, authorizedSeconds, state }: Call): Timestamp.Timestamp | null =>
  state === "in_progress" && answeredAt !== null
    ? Timestamp.add(answeredAt, authorizedSeconds * Timestamp.SECOND)
    : null

/** When it is looked next at a call that was looked at now. */
export const nextWatch = (call: Call, now: Timestamp.Timestamp): Timestamp.Timestamp | null => {
  if (call.state === "ended") return null
  const deadline = deadlineOf(call)
  if (call.hangUpReason !== null) {
    const soon = Timestamp.add(now, HANG_UP_WATCH)
    return deadline !== null && now < deadline && deadline < soon ? deadline : soon
  }
  if (deadline === null) return Timestamp.add(now, UNANSWERED_WATCH)
  return Timestamp.Timestamp.make(Math.max(now, Math.min(deadline, now + ANSWERED_WATCH)))
}

/** The call after a report; the same call when the report says nothing new. */
export const apply = (call: Call, report: CallReport): Call => {
  switch (report._tag) {
    case "Ringing":
      return moved(call, "Ring", {})
    case "Answered":
      return moved(call, "Answer", { answeredAt: later(call.createdAt, report.at) }, report.at)
    case "Ended":
      return moved(call, "End", ended(call, report))
  }
}

/**
 * The call with a limit of so many connected seconds, if it goes on; to be looked at now, so that the carrier is told.
 * One that is to be ended anyway is looked at when it was to be, or when this limit is over.
 */
export const limited = (call: Call, authorizedSeconds: number, now: Timestamp.Timestamp): Call => {
  const next = moved(call, "Extend", { authorizedSeconds })
  if (next === call) return call
  return { ...next, watchAt: next.hangUpReason === null ? now : beforeLimit(next, next.watchAt ?? now, now) }
}

/**
 * The call that this service is about to end at a moment: now, or when what was said has been heard. It sees to it soon
 * after, in case that it was not ended by then. The first reason stands, and the earliest moment.
 */
export const hangingUp = (
  call: Call,
  reason: HangUpReason,
  now: Timestamp.Timestamp,
  at: Timestamp.Timestamp = now
): Call => {
  if (call.state === "ended") return call
  const watchAt = beforeLimit(call, Timestamp.add(at, HANG_UP_WATCH), now)
  const isSooner = call.watchAt === null || watchAt < call.watchAt
  if (call.hangUpReason !== null) return isSooner ? { ...call, watchAt } : call
  return { ...call, hangUpReason: reason, watchAt }
}

/** The moment, or when the call's limit is over if that is sooner. */
const beforeLimit = (call: Call, at: Timestamp.Timestamp, now: Timestamp.Timestamp): Timestamp.Timestamp => {
  const deadline = deadlineOf(call)
  return deadline === null ? at : Timestamp.Timestamp.make(Math.min(at, Math.max(now, deadline)))
}

/** The call after a move, if that is one; watched anew where the moment is given. */
const moved = (call: Call, by: CallMove, change: Partial<Call>, now?: Timestamp.Timestamp): Call => {
  const state = move(call.state, by)
  if (state === undefined) return call
  const next = { ...call, ...change, state }
  return now === undefined ? next : watched(next, now)
}

const watched = (call: Call, now: Timestamp.Timestamp): Call => ({ ...call, watchAt: nextWatch(call, now) })

const ended = (call: Call, { at, ending, seconds }: Extract<CallReport, { _tag: "Ended" }>): Partial<Call> => {
  const answeredAt = call.answeredAt ?? answeredBefore(call, at, ending, seconds)
  const connectedSeconds =
    answeredAt === null ? 0 : Math.min(call.authorizedSeconds, seconds ?? lengthOf(answeredAt, at, ending))
  return {
    answeredAt,
    connectedSeconds,
    endReason: endReasonOf(call, ending, answeredAt !== null && connectedSeconds >= call.authorizedSeconds),
    endedAt: later(answeredAt ?? call.createdAt, at),
    watchAt: null
  }
}

/** How long a call was connected by our own clock; not at all where it was given up before our answer reached it. */
const lengthOf = (answeredAt: Timestamp.Timestamp, at: Timestamp.Timestamp, ending: Ending): number =>
  ending === "busy" || ending === "no_answer" ? 0 : secondsSince(answeredAt, at)

/** When a call was answered of whose answer nobody told, by how long it was connected. */
const answeredBefore = (
  call: Call,
  at: Timestamp.Timestamp,
  ending: Ending,
  seconds: number | null
): Timestamp.Timestamp | null =>
  ending === "completed" && seconds !== null && seconds > 0
    ? later(call.createdAt, Timestamp.Timestamp.make(Math.max(0, at - seconds * Timestamp.SECOND)))
    : null

/** Two servers' clocks may differ: what came after is never said to have been before. */
const later = (before: Timestamp.Timestamp, at: Timestamp.Timestamp): Timestamp.Timestamp => (at < before ? before : at)

/**
 * By the carrier's word where it failed, whoever wanted its end; else by our own where we ended it; by its length where
 * the carrier kept the limit; and else it was completed.
 */
const endReasonOf = (call: Call, ending: Ending, isFull: boolean): CallEndReason => {
  if (ending !== "completed") return ending
  if (call.hangUpReason !== null) return call.hangUpReason
  if (!isFull) return "completed"
  return call.direction === "inbound" ? "allowance_exhausted" : "time_limit"
}
