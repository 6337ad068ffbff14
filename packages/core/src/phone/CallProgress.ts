import * as Timestamp from "../kernel/Timestamp.ts"
import type { AnsweredBy, Call, CallEndReason, HangUpReason } from "./Call.ts"
import { deadlineOf, secondsSince } from "./Allowance.ts"
import { type CallMove, moveCall } from "./PhoneState.ts"

/** How a call ended, as the carrier reports it. */
export type Ending = "completed" | "busy" | "no_answer" | "failed"

/**
 * A report of the carrier about a call. Reports arrive in any order and may repeat. Times are taken from the clock of
 * the server that received the report, not from the carrier.
 */
export type CallReport =
  | { readonly _tag: "Ringing" }
  | { readonly _tag: "Answered"; readonly at: Timestamp.Timestamp }
  | { readonly _tag: "Recognized"; readonly answeredBy: AnsweredBy }
  /**
   * `seconds` is the connected time that the carrier reports; null if it reports none. `answeredBy` is what `Recognized`
   * reports, whose report may be late or lost.
   */
  | {
      readonly _tag: "Ended"
      readonly at: Timestamp.Timestamp
      readonly ending: Ending
      readonly seconds: number | null
      readonly answeredBy?: AnsweredBy | undefined
    }

/** How long a call may ring without a report before the carrier is polled. */
const UNANSWERED_WATCH = 10 * Timestamp.SECOND
/**
 * The interval at which the carrier is polled about a call in progress, in case the report of its end was lost: well below
 * the shortest limit of a call.
 */
const ANSWERED_WATCH = 20 * Timestamp.SECOND
/** The delay before a call without a relay is polled: usually the carrier reports its end, or opens another relay. */
const RELAY_END_WATCH = 3 * Timestamp.SECOND
/** The delay before a call is polled again after the carrier was asked to end it. */
const HANG_UP_WATCH = 2 * Timestamp.SECOND

/** Returns when a new call is polled for the first time. */
export const firstWatch = (createdAt: Timestamp.Timestamp): Timestamp.Timestamp =>
  Timestamp.add(createdAt, UNANSWERED_WATCH)

/** Returns when a call that was polled at `now` is polled next, or null if it has ended. */
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

/** Returns the call after a report, or the same object if the report contains nothing new. */
export const apply = (call: Call, report: CallReport): Call => {
  switch (report._tag) {
    case "Ringing":
      return moved(call, "Ring", {})
    case "Answered":
      return answered(moved(call, "Answer", { answeredAt: later(call.createdAt, report.at) }), call, report.at)
    // Also before the answer is reported. The first result counts.
    case "Recognized":
      return recognized(call, report.answeredBy)
    case "Ended":
      return recognized(moved(call, "End", ended(call, report)), report.answeredBy)
  }
}

/**
 * Returns the call with a new limit in connected seconds if it is in progress, and otherwise the same object. The call
 * becomes due now, so that the watch sends the limit to the carrier. A call that is being ended stays due when it was,
 * or when the new limit is reached if that is earlier.
 */
export const setLimit = (call: Call, authorizedSeconds: number, now: Timestamp.Timestamp): Call => {
  const next = moved(call, "Extend", { authorizedSeconds })
  if (next === call) return call
  return { ...next, watchAt: next.hangUpReason === null ? now : beforeLimit(next, next.watchAt ?? now, now) }
}

/**
 * Returns the call with the decision to end it at `at`: now, or when the text spoken so far has been heard. The watch
 * polls it shortly after, in case it has not ended by then. The first reason and the earliest time are kept.
 */
export const requestHangUp = (
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

/** Returns the call after its relay has ended: polled soon, because the report of the call's end may be lost. */
export const relayEnded = (call: Call, now: Timestamp.Timestamp): Call => {
  const watchAt = beforeLimit(call, Timestamp.add(now, RELAY_END_WATCH), now)
  const isSooner = call.watchAt !== null && watchAt < call.watchAt
  return call.state !== "ended" && isSooner ? { ...call, watchAt } : call
}

/** Returns `at`, or the deadline of the call if that is earlier. */
const beforeLimit = (call: Call, at: Timestamp.Timestamp, now: Timestamp.Timestamp): Timestamp.Timestamp => {
  const deadline = deadlineOf(call)
  return deadline === null ? at : Timestamp.Timestamp.make(Math.min(at, Math.max(now, deadline)))
}

/** Returns the call after a move, or the same object if the move is not allowed. */
const moved = (call: Call, by: CallMove, change: Partial<Call>): Call => {
  const state = moveCall(call.state, by)
  return state === undefined ? call : { ...call, ...change, state }
}

const recognized = (call: Call, answeredBy: AnsweredBy | undefined): Call =>
  answeredBy !== undefined && call.answeredBy === null && call.direction === "outbound" ? { ...call, answeredBy } : call

/** The report of the answer may follow the hangup of the agent, whose last words are still being spoken. */
const answered = (next: Call, before: Call, now: Timestamp.Timestamp): Call => {
  if (next === before) return before
  const watchAt =
    next.hangUpReason === null || next.watchAt === null ? nextWatch(next, now) : beforeLimit(next, next.watchAt, now)
  return { ...next, watchAt }
}

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

/**
 * Returns the connected seconds by this service's clock. A call that ended as busy or unanswered counts 0, even if an
 * answer was reported for it.
 */
const lengthOf = (answeredAt: Timestamp.Timestamp, at: Timestamp.Timestamp, ending: Ending): number =>
  ending === "busy" || ending === "no_answer" ? 0 : secondsSince(answeredAt, at)

/**
 * Returns when a call was answered whose answer was never reported, from its connected time; null if it was not
 * answered.
 */
const answeredBefore = (
  call: Call,
  at: Timestamp.Timestamp,
  ending: Ending,
  seconds: number | null
): Timestamp.Timestamp | null =>
  ending === "completed" && seconds !== null && seconds > 0
    ? later(call.createdAt, Timestamp.Timestamp.make(Math.max(0, at - seconds * Timestamp.SECOND)))
    : null

/** Never returns a time before `before`: the clocks of two servers may differ. */
const later = (before: Timestamp.Timestamp, at: Timestamp.Timestamp): Timestamp.Timestamp => (at < before ? before : at)

/**
 * Returns the carrier's reason if the call failed, whoever ended it; otherwise this service's own reason if it ended
 * the call; otherwise the limit if the call lasted that long; otherwise `completed`.
 */
const endReasonOf = (call: Call, ending: Ending, isFull: boolean): CallEndReason => {
  if (ending !== "completed") return ending
  if (call.hangUpReason !== null) return call.hangUpReason
  if (!isFull) return "completed"
  return call.direction === "inbound" ? "allowance_exhausted" : "time_limit"
}
