import type { AnsweredBy, CallProgress, Timestamp } from "@agentos/core"

/** The state of a call as Twilio reports it. */
export interface TwilioCallStatus {
  /** Twilio's status: https://www.twilio.com/docs/voice/api/call-resource#call-status-values */
  readonly status: string
  /** Whole seconds of connection as text, once the call has ended. */
  readonly duration?: string | null | undefined
  /** When the call ended, if Twilio reports it; otherwise now is used, as for a later moment. */
  readonly endedAt?: Timestamp.Timestamp | undefined
  /** Who answered, if Twilio was asked to recognize it. */
  readonly answeredBy?: string | null | undefined
}

const ENDINGS: ReadonlyMap<string, CallProgress.Ending> = new Map([
  ["completed", "completed"],
  ["busy", "busy"],
  ["no-answer", "no_answer"],
  ["failed", "failed"],
  // Cancelled before it was answered.
  ["canceled", "no_answer"]
])

/** Twilio's limit for the length of a call, in seconds. */
const DURATION_MAX = 86_400

/**
 * Converts a report of Twilio to the service's own terms; undefined if it contains nothing new or an unknown
 * status. A call counts as answered now, since Twilio's start time is when it began to dial.
 */
export const callReportOf = (
  { answeredBy, duration, endedAt, status }: TwilioCallStatus,
  now: Timestamp.Timestamp
): CallProgress.CallReport | undefined => {
  if (status === "ringing") return { _tag: "Ringing" }
  if (status === "in-progress") return { _tag: "Answered", at: now }
  const ending = ENDINGS.get(status)
  if (ending === undefined) return undefined
  const at = endedAt !== undefined && endedAt < now ? endedAt : now
  const recognized = answeredByOf(answeredBy ?? "")
  return {
    _tag: "Ended",
    at,
    ending,
    seconds: secondsOf(duration),
    ...(recognized === undefined ? {} : { answeredBy: recognized })
  }
}

/**
 * Returns who answered a call (https://www.twilio.com/docs/voice/answering-machine-detection): `machine_start`, and the
 * values that begin with `machine_end`, are a machine. `unknown` contains nothing new.
 */
export const answeredByOf = (text: string): AnsweredBy | undefined => {
  if (text === "human") return "person"
  if (text === "fax") return "fax"
  return text.startsWith("machine_") ? "machine" : undefined
}

const secondsOf = (duration: string | null | undefined): number | null =>
  duration !== undefined && duration !== null && /^\d{1,6}$/.test(duration)
    ? Math.min(Number(duration), DURATION_MAX)
    : null
