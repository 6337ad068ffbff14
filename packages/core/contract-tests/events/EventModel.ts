import type {
  AcknowledgementOutcome,
  Delivery,
  DurableEvent,
  EventMachine,
  EventStatus,
  HeldLease
} from "@agentos/core"
import { TEST_EVENT_POLICY } from "./TestEventPolicy.ts"

const { leaseDuration, maxLapses, minFailAge, retention } = TEST_EVENT_POLICY

/** An event in the model. Times are the model's own: how far its clock was moved. */
interface ModelEvent {
  readonly stored: DurableEvent
  readonly createdAt: number
  status: EventStatus
  deliveryCount: number
  lapses: number
  lease: { readonly session: string; readonly deliveryId: string; until: number } | null
}

/** The compared fields of an event: all but the times that the store reads from its own clock. */
export interface EventView {
  readonly eventId: string
  readonly status: EventStatus
  readonly deliveryCount: number
  readonly delivered: boolean
  readonly acknowledged: boolean
}

export const viewOf = (event: DurableEvent): EventView => ({
  eventId: event.eventId,
  status: event.status,
  deliveryCount: event.deliveryCount,
  delivered: event.deliveredAt !== null,
  acknowledged: event.acknowledgedAt !== null
})

/**
 * The inbox of one tenant in its simplest form, which the store must match. Values that the store chooses
 * itself (ids and times) are passed to it.
 */
export class EventModel {
  #events: Array<ModelEvent> = []
  readonly #keys = new Set<string>()
  #now = 0

  advance(millis: number): void {
    this.#now += millis
  }

  /** Returns which of these keys are new, in order; they are known from now on. */
  admit(keys: ReadonlyArray<string>): ReadonlyArray<string> {
    return keys.filter((key) => !this.#keys.has(key) && this.#keys.add(key))
  }

  append(stored: ReadonlyArray<DurableEvent>): void {
    for (const event of stored) {
      const fresh = { status: "pending" as const, deliveryCount: 0, lapses: 0, lease: null }
      this.#events.push({ stored: event, createdAt: this.#now, ...fresh })
    }
  }

  /**
   * Returns the ids that a lease must return: no event that it marks as failed is among them or counts toward
   * the limit.
   */
  leasable(limit: number): ReadonlyArray<string> {
    return this.#events
      .filter((event) => this.#isOpen(event) && !this.#isLeased(event) && !this.#isFailing(event))
      .map((event) => event.stored.eventId)
      .slice(0, limit)
  }

  leased(session: string, deliveries: ReadonlyArray<Delivery>): void {
    for (const { deliveryId, event } of deliveries) {
      const known = this.#find(event.eventId)!
      this.#endLease(known)
      known.status = "delivered"
      known.deliveryCount++
      known.lease = { session, deliveryId, until: this.#now + leaseDuration }
    }
  }

  /** Returns the leases that a renewal must return. */
  renew(sessions: ReadonlyArray<string>): Array<HeldLease> {
    return this.#events.flatMap((event) => {
      if (!this.#isLeased(event) || !sessions.includes(event.lease!.session)) return []
      event.lease!.until = this.#now + leaseDuration
      return [{ sessionId: event.lease!.session, eventId: event.stored.eventId }]
    })
  }

  release(sessions: ReadonlyArray<string>, reason: EventMachine.ReleaseReason): void {
    for (const event of this.#events) {
      if (!this.#isLeased(event) || !sessions.includes(event.lease!.session)) continue
      if (reason === "unacknowledged") event.lapses++
      event.lease = null
    }
  }

  acknowledge(eventId: string, deliveryId: string | undefined): AcknowledgementOutcome {
    const event = this.#find(eventId)
    if (event === undefined) return "missing"
    if (event.status === "acknowledged") return "acknowledged"
    if (this.#isExpired(event)) return "expired"
    if (deliveryId !== undefined && !(this.#isLeased(event) && event.lease!.deliveryId === deliveryId)) {
      return "lease_lost"
    }
    event.status = "acknowledged"
    return "acknowledged"
  }

  acknowledgeAll(before: number): number {
    const ended = this.#events.filter(
      (event) => event.stored.createdAt < before && event.status !== "acknowledged" && !this.#isExpired(event)
    )
    for (const event of ended) event.status = "acknowledged"
    return ended.length
  }

  /** Removes the final events of this age with their keys; an event's key is its resourceId. */
  remove(age: number): void {
    const isGone = (event: ModelEvent) =>
      event.createdAt + age <= this.#now && (this.#isExpired(event) || !["pending", "delivered"].includes(event.status))
    for (const event of this.#events.filter(isGone)) this.#keys.delete(event.stored.resourceId)
    this.#events = this.#events.filter((event) => !isGone(event))
  }

  views(): ReadonlyArray<EventView> {
    return this.#events.map((event) => ({
      eventId: event.stored.eventId,
      status: this.#isExpired(event) ? "expired" : event.status,
      deliveryCount: event.deliveryCount,
      delivered: event.deliveryCount > 0,
      acknowledged: event.status === "acknowledged"
    }))
  }

  replayable(): ReadonlyArray<string> {
    return this.#events
      .filter((event) => this.#isOpen(event) && !this.#isLeased(event))
      .map((event) => event.stored.eventId)
  }

  /**
   * Marks the events that the store has marked as failed. The store may do that at any time, but must when a
   * lease reaches one.
   */
  adoptFailures(failed: ReadonlySet<string>): void {
    for (const event of this.#events) {
      if (this.#isFailing(event) && failed.has(event.stored.eventId)) event.status = "failed"
    }
  }

  /** Returns the events that fail by the policy but are not marked: until then, they may or may not be replayed. */
  failing(): ReadonlySet<string> {
    return new Set(this.#events.filter((event) => this.#isFailing(event)).map((event) => event.stored.eventId))
  }

  #find(eventId: string) {
    return this.#events.find((event) => event.stored.eventId === eventId)
  }

  #isExpired(event: ModelEvent) {
    return (event.status === "pending" || event.status === "delivered") && event.createdAt + retention <= this.#now
  }

  #isOpen(event: ModelEvent) {
    return (event.status === "pending" || event.status === "delivered") && !this.#isExpired(event)
  }

  #isLeased(event: ModelEvent) {
    return event.status === "delivered" && event.lease !== null && event.lease.until > this.#now
  }

  #isFailing(event: ModelEvent) {
    const lapses = event.lapses + (event.lease === null ? 0 : 1)
    return (
      this.#isOpen(event) && !this.#isLeased(event) && lapses >= maxLapses && this.#now - event.createdAt >= minFailAge
    )
  }

  #endLease(event: ModelEvent) {
    if (event.lease !== null) event.lapses++
    event.lease = null
  }
}
