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

export const NumberMove = Schema.Literals(["Renew", "Suspend", "ProveReleased"])
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
  active: { Renew: "active", Suspend: "suspended", ProveReleased: "released" },
  suspended: { ProveReleased: "released" },
  released: {}
}

export const move = (state: NumberState, by: NumberMove): NumberState | undefined => NUMBER_TRANSITIONS[state][by]
