import { Schema } from "effect"

/**
 * The states of a number. What tenants see besides (`expiring`) follows from the time.
 *
 *     active ─► suspended ─► released
 *        └──────────────────────▲
 */
export const NumberState = Schema.Literals(["active", "suspended", "released"])
export type NumberState = typeof NumberState.Type

/** Why a number is not to be used any more: its time is over, or its tenant gives it back. */
export const Suspension = Schema.Literals(["expired", "release_requested"])
export type Suspension = typeof Suspension.Type

export const NumberMove = Schema.Literals(["Renew", "Suspend", "ProveReleased"])
export type NumberMove = typeof NumberMove.Type

/**
 * Every allowed move; what is not here is refused.
 *
 * - A number is suspended before its carrier is asked to take it back, for good: whatever the carrier answers,
 *   nobody uses it any more, and the job asks until it is gone.
 * - `released` is what the carrier has said: it took the number back, or does not have it under our account. A
 *   number that vanished there is released without having been suspended.
 */
export const NUMBER_TRANSITIONS: Readonly<Record<NumberState, Partial<Record<NumberMove, NumberState>>>> = {
  active: { Renew: "active", Suspend: "suspended", ProveReleased: "released" },
  suspended: { ProveReleased: "released" },
  released: {}
}

export const move = (state: NumberState, by: NumberMove): NumberState | undefined => NUMBER_TRANSITIONS[state][by]
