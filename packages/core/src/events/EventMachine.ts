import type { EventPolicy, EventStatus } from "./DurableEvent.ts"

/**
 * The state machine of the delivery of one event.
 *
 *     pending ── Lease ──► delivered ── Lease (after a lapse) ──► delivered
 *        │                    │
 *        └── Acknowledge ─────┴──► acknowledged          (also from failed)
 *        └── Expire ──────────┴──► expired
 *                             └── Fail ──► failed ── Requeue ──► pending
 *
 * `expired` and `acknowledged` are final states. Acknowledging is idempotent.
 */
export type EventMove = "Lease" | "Acknowledge" | "Expire" | "Fail" | "Requeue"

/** All allowed moves; any other move is refused. */
export const EVENT_TRANSITIONS: Readonly<Record<EventStatus, Partial<Record<EventMove, EventStatus>>>> = {
  pending: { Lease: "delivered", Acknowledge: "acknowledged", Expire: "expired" },
  delivered: { Lease: "delivered", Acknowledge: "acknowledged", Expire: "expired", Fail: "failed" },
  acknowledged: { Acknowledge: "acknowledged" },
  failed: { Acknowledge: "acknowledged", Requeue: "pending" },
  expired: {}
}

/** Returns the state after a move, or undefined if the move is not allowed. */
export const move = (status: EventStatus, by: EventMove): EventStatus | undefined => EVENT_TRANSITIONS[status][by]

/** The facts that decide whether an event can be delivered. All times are in epoch milliseconds. */
export interface DeliveryFacts {
  readonly status: EventStatus
  readonly createdAt: number
  readonly expiresAt: number
  /** When the lease on the event ends, or null without a lease. */
  readonly leasedUntil: number | null
  /** The number of deliveries that ended without an acknowledgement; see `lapsesAfterRelease`. */
  readonly lapses: number
}

/**
 * Why a session's leases are released. `unacknowledged`: the session ended, and may have failed because of an event that
 * it held. `withdrawn`: the server takes the events back, because it stops or retries them itself.
 */
export type ReleaseReason = "unacknowledged" | "withdrawn"

/** Returns the lapses of an event after its lease was released. A lease that has expired is a lapse for any reason. */
export const lapsesAfterRelease = (
  { lapses, leasedUntil }: Pick<DeliveryFacts, "lapses" | "leasedUntil">,
  reason: ReleaseReason,
  now: number
): number => (leasedUntil !== null && (reason === "unacknowledged" || leasedUntil <= now) ? lapses + 1 : lapses)

export type Deliverability = "deliverable" | "leased" | "expired" | "failed" | "finished"

/**
 * Returns whether an event may be sent at `now`. An expired lease counts as one more lapse, so it need not have been
 * recorded before.
 */
export const deliverability = (facts: DeliveryFacts, now: number, policy: EventPolicy): Deliverability => {
  if (facts.status !== "pending" && facts.status !== "delivered") return "finished"
  if (facts.expiresAt <= now) return "expired"
  if (facts.leasedUntil !== null && facts.leasedUntil > now) return "leased"
  const lapses = facts.lapses + (facts.leasedUntil !== null ? 1 : 0)
  if (lapses >= policy.maxLapses && now - facts.createdAt >= policy.minFailAge) return "failed"
  return "deliverable"
}
