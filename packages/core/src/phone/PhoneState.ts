import { Schema } from "effect"

/**
 * The states of a number. The status `expiring`, which tenants also see, is derived from the time.
 *
 *     active ─► suspended ─► released
 *        └──────────────────────▲
 */
export const NumberState = Schema.Literals(["active", "suspended", "released"])
export type NumberState = typeof NumberState.Type

/** The reason why a number is suspended: its entitlement is over, or its tenant asked for the release. */
export const Suspension = Schema.Literals(["expired", "release_requested"])
export type Suspension = typeof Suspension.Type

export const NumberMove = Schema.Literals(["Renew", "Suspend", "ConfirmRelease"])
export type NumberMove = typeof NumberMove.Type

/**
 * All allowed moves; any other move is refused.
 *
 * - A number is suspended permanently before its carrier is asked to release it: whatever the carrier answers, it can't
 *   be used again, and the job retries until the carrier has released it.
 * - `released` means that the carrier has confirmed it: it released the number, or does not have it under the service's
 *   account. A number that vanished there is released without being suspended first.
 */
export const NUMBER_TRANSITIONS: Readonly<Record<NumberState, Partial<Record<NumberMove, NumberState>>>> = {
  active: { Renew: "active", Suspend: "suspended", ConfirmRelease: "released" },
  suspended: { ConfirmRelease: "released" },
  released: {}
}

export const moveNumber = (state: NumberState, by: NumberMove): NumberState | undefined => NUMBER_TRANSITIONS[state][by]

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

export const moveCall = (state: CallState, by: CallMove): CallState | undefined => CALL_TRANSITIONS[state][by]
