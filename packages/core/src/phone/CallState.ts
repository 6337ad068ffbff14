import { Schema } from "effect"

/**
 * The states of a call. A call only moves forward, and skips states that were not reported.
 *
 *     queued ─► ringing ─► in_progress ─► ended
 */
export const CallState = Schema.Literals(["queued", "ringing", "in_progress", "ended"])
export type CallState = typeof CallState.Type

export const CallMove = Schema.Literals(["Ring", "Answer", "Extend", "End"])
export type CallMove = typeof CallMove.Type

/** All allowed moves; any other move changes nothing. Only a call in progress can be extended. */
export const CALL_TRANSITIONS: Readonly<Record<CallState, Partial<Record<CallMove, CallState>>>> = {
  queued: { Ring: "ringing", Answer: "in_progress", End: "ended" },
  ringing: { Answer: "in_progress", End: "ended" },
  in_progress: { Extend: "in_progress", End: "ended" },
  ended: {}
}

export const move = (state: CallState, by: CallMove): CallState | undefined => CALL_TRANSITIONS[state][by]
