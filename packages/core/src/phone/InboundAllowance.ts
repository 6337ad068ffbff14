import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"

/** What one purchase of inbound minutes adds, in seconds. */
export const PURCHASE_SECONDS = 600

/** For how long a number may be called, and was, in connected seconds. `usedSeconds` counts calls that have ended. */
export const InboundAllowance = Schema.Struct({ purchasedSeconds: Schema.Int, usedSeconds: Schema.Int })
export type InboundAllowance = typeof InboundAllowance.Type

export const EMPTY: InboundAllowance = { purchasedSeconds: 0, usedSeconds: 0 }

/** With one purchase more. */
export const purchased = (allowance: InboundAllowance): InboundAllowance => ({
  ...allowance,
  purchasedSeconds: allowance.purchasedSeconds + PURCHASE_SECONDS
})

/** After a call that was connected for so long. */
export const used = (allowance: InboundAllowance, connectedSeconds: number): InboundAllowance => ({
  ...allowance,
  usedSeconds: allowance.usedSeconds + connectedSeconds
})

/** What ended calls have left. */
export const remaining = ({ purchasedSeconds, usedSeconds }: InboundAllowance): number =>
  Math.max(0, purchasedSeconds - usedSeconds)

/** A call that is going on, by when it was answered. */
export interface LiveCall {
  readonly callId: string
  readonly answeredAt: Timestamp.Timestamp
}

/** Whole seconds that a call has been connected for at a moment; one that has begun counts. */
export const secondsSince = (answeredAt: Timestamp.Timestamp, now: Timestamp.Timestamp): number =>
  Math.max(0, Math.ceil((now - answeredAt) / Timestamp.SECOND))

/**
 * The limit of each live call at a moment, in connected seconds from its answer: what it has used, and an equal share
 * of what all of them have left. Together they can't use more than was bought.
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
