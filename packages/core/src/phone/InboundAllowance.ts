import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"

/** The seconds that one purchase of inbound minutes adds. */
export const PURCHASE_SECONDS = 600

/**
 * The connected seconds of inbound calls that a number has purchased and used. `usedSeconds` counts ended calls only.
 */
export const InboundAllowance = Schema.Struct({ purchasedSeconds: Schema.Int, usedSeconds: Schema.Int })
export type InboundAllowance = typeof InboundAllowance.Type

export const EMPTY: InboundAllowance = { purchasedSeconds: 0, usedSeconds: 0 }

/** Returns the allowance after one more purchase. */
export const purchased = (allowance: InboundAllowance): InboundAllowance => ({
  ...allowance,
  purchasedSeconds: allowance.purchasedSeconds + PURCHASE_SECONDS
})

/** Returns the allowance after a call has ended. */
export const used = (allowance: InboundAllowance, connectedSeconds: number): InboundAllowance => ({
  ...allowance,
  usedSeconds: allowance.usedSeconds + connectedSeconds
})

/** Returns the seconds that ended calls have left; never less than 0. */
export const remaining = ({ purchasedSeconds, usedSeconds }: InboundAllowance): number =>
  Math.max(0, purchasedSeconds - usedSeconds)

/** A call in progress and the time of its answer. */
export interface LiveCall {
  readonly callId: string
  readonly answeredAt: Timestamp.Timestamp
}

/** Returns the seconds that a call has been connected at `now`; a second that has begun counts. */
export const secondsSince = (answeredAt: Timestamp.Timestamp, now: Timestamp.Timestamp): number =>
  Math.max(0, Math.ceil((now - answeredAt) / Timestamp.SECOND))

/**
 * Returns the limit of each live call at `now`, in connected seconds from its answer: the seconds it has used, plus an
 * equal share of the seconds that all live calls leave. Together the calls can't exceed the allowance.
 */
export const limits = (
  allowance: InboundAllowance,
  live: ReadonlyArray<LiveCall>,
  now: Timestamp.Timestamp
): ReadonlyMap<string, number> => {
  const used = live.map(({ answeredAt, callId }) => ({ callId, seconds: secondsSince(answeredAt, now) }))
  const left = Math.max(0, remaining(allowance) - used.reduce((sum, { seconds }) => sum + seconds, 0))
  const share = live.length === 0 ? 0 : Math.floor(left / live.length)
  return new Map(used.map(({ callId, seconds }) => [callId, seconds + share]))
}
