import type { CallProgress, Timestamp } from "@agentos/core"

/** What Twilio says of a call. */
export interface CallWord {
  /** Its word for the state: https://www.twilio.com/docs/voice/api/call-resource#call-status-values */
  readonly status: string
  /** Whole seconds of connection as text, once it has ended. */
  readonly duration?: string | null | undefined
  /** When it ended, if Twilio says so; else, and never later than, now. */
  readonly endedAt?: Timestamp.Timestamp | undefined
}

const ENDINGS: ReadonlyMap<string, CallProgress.Ending> = new Map([
  ["completed", "completed"],
  ["busy", "busy"],
  ["no-answer", "no_answer"],
  ["failed", "failed"],
  // Given up before anybody answered.
  ["canceled", "no_answer"]
])

/** The longest that Twilio lets a call last, in seconds. */
const DURATION_MAX = 86_400

/**
 * A call's state in the service's own terms, as it is told of now. None where that is nothing new yet, or a word that
 * nobody knows. An answer is of now: what Twilio calls the start of a call is when it began to dial.
 */
export const callReportOf = (
  { duration, endedAt, status }: CallWord,
  now: Timestamp.Timestamp
): CallProgress.CallReport | undefined => {
  if (status === "ringing") return { _tag: "Ringing" }
  if (status === "in-progress") return { _tag: "Answered", at: now }
  const ending = ENDINGS.get(status)
  if (ending === undefined) return undefined
  const at = endedAt !== undefined && endedAt < now ? endedAt : now
  return { _tag: "Ended", at, ending, seconds: secondsOf(duration) }
}

const secondsOf = (duration: string | null | undefined): number | null =>
  duration !== undefined && duration !== null && /^\d{1,6}$/.test(duration)
    ? Math.min(Number(duration), DURATION_MAX)
    : null
