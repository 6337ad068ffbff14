import type { EventPolicy, EventStatus } from "./DurableEvent.ts"

/**
 * The delivery of one event, as a machine.
 *
 *     pending ── Lease ──► delivered ── Lease (after a lapse) ──► delivered
 *        │                    │
 *        └── Acknowledge ─────┴──► acknowledged          (also from failed)
 *        └── Expire ──────────┴──► expired
 *                             └── Fail ──► failed
 *
 * `expired` and `acknowledged` are ends. Acknowledging again changes nothing.
 */
export type EventMove = "Lease" | "Acknowledge" | "Expire" | "Fail"

/** Every allowed move. What is not here is refused. */
export const EVENT_TRANSITIONS: Readonly<Record<EventStatus, Partial<Record<EventMove, EventStatus>>>> = {
  pending: { Lease: "delivered", Acknowledge: "acknowledged", Expire: "expired" },
  delivered: { Lease: "delivered", Acknowledge: "acknowledged", Expire: "expired", Fail: "failed" },
  acknowledged: { Acknowledge: "acknowledged" },
  failed: { Acknowledge: "acknowledged" },
  expired: {}
}

/** The state after a move, or undefined when the move is not allowed. */
export const move = (status: EventStatus, by: EventMove): EventStatus | undefined => EVENT_TRANSITIONS[status][by]

/** What decides over an event's delivery besides its status. All moments in epoch milliseconds. */
export interface DeliveryFacts {
  readonly status: EventStatus
  readonly createdAt: number
  readonly expiresAt: number
  /** The end of the lease on it, null when there is none. */
  readonly leasedUntil: number | null
  /** Leases that ran out on a session that was still open. */
  readonly lapses: number
}

export type Deliverability = "deliverable" | "leased" | "expired" | "failed" | "finished"

/**
 * Whether an event may be sent at `now`. A lease that has run out counts as one
 * more lapse, so that the caller need not have recorded it.
 */
export const deliverability = (facts: DeliveryFacts, now: number, policy: EventPolicy): Deliverability => {
  if (facts.status !== "pending" && facts.status !== "delivered") return "finished"
  if (facts.expiresAt <= now) return "expired"
  if (facts.leasedUntil !== null && facts.leasedUntil > now) return "leased"
  const lapses = facts.lapses + (facts.leasedUntil !== null ? 1 : 0)
  if (lapses >= policy.maxLapses && now - facts.createdAt >= policy.minFailAge) return "failed"
  return "deliverable"
}
