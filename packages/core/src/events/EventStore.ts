import { Context, Effect, Scope } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Position } from "../kernel/Page.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { RetentionScope } from "../tenancy/Retention.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { DurableEvent, EventDraft, EventStatus } from "./DurableEvent.ts"
import type { ReleaseReason } from "./EventMachine.ts"

/** A filter for a tenant's events. All given conditions must match; `from` is inclusive, `to` exclusive. */
export interface EventFilter {
  readonly statuses?: ReadonlyArray<EventStatus> | undefined
  readonly types?: ReadonlyArray<string> | undefined
  readonly agentId?: string | undefined
  readonly service?: string | undefined
  readonly resourceId?: string | undefined
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

/** The events that `ack-all` acknowledges: those created before the cutoff (exclusive) that match. */
export interface AcknowledgeAllFilter {
  readonly before: Timestamp
  readonly types?: ReadonlyArray<string> | undefined
  readonly service?: string | undefined
}

/** One event that is leased to one session. A later lease of the same event has another deliveryId. */
export interface Delivery {
  readonly deliveryId: string
  readonly event: DurableEvent
}

/**
 * An acknowledgement as a session sends it. With a deliveryId, it is valid only while the lease of that delivery is
 * held.
 */
export interface Acknowledgement {
  readonly eventId: string
  readonly deliveryId?: string | undefined
}

export interface TenantAcknowledgement extends Acknowledgement {
  readonly tenantId: TenantId
}

/** A request of a session for up to `limit` events of its tenant. */
export interface LeaseRequest {
  readonly tenantId: TenantId
  readonly sessionId: string
  readonly limit: number
}

/** Limits a lease to events of these types, and excludes some events. */
export interface LeaseFilter {
  readonly types?: ReadonlyArray<string> | undefined
  readonly except?: ReadonlyArray<string> | undefined
}

export interface HeldLease {
  readonly sessionId: string
  readonly eventId: string
}

/**
 * The result of an acknowledgement. `lease_lost`: it names a delivery whose lease has ended, so the event may be delivered
 * again. `expired`: the event has expired and is not delivered again. Neither changes the event.
 */
export type AcknowledgementOutcome = "acknowledged" | "lease_lost" | "expired" | "missing"

/**
 * The port that stores durable events and the leases on them.
 *
 * Leases use the store's own clock. An event whose `expiresAt` has passed is read as `expired`, whether or not a job
 * has stored that yet.
 */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Stores drafts in the order given, and wakes the sessions of their tenants once the transaction commits. Locks the
     * tenants. Assigns createdAt (the later of the tenant's last one and the clock) and an increasing eventId, so the
     * order by both is the order of commits. Returns the stored events: a draft with a known dedupeKey is left out.
     */
    readonly append: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<DurableEvent>>
    readonly find: (tenantId: TenantId, eventId: string) => Effect.Effect<Lookup<DurableEvent>>
    /** Returns at most `limit` events, oldest first, strictly after `after`. */
    readonly list: (
      tenantId: TenantId,
      filter: EventFilter,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DurableEvent>>
    /** Returns the position of the newest event of the tenant, or undefined if it has no events. */
    readonly latest: (tenantId: TenantId) => Effect.Effect<Position | undefined>
    /** Returns `latest` for all these tenants from one query. Tenants without events are left out. */
    readonly latestEach: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<ReadonlyMap<TenantId, Position>>
    /**
     * Returns at most `limit` events that are pending, or delivered without a live lease, oldest first, strictly after
     * `after` if given. Takes no lease.
     */
    readonly replayable: (
      tenantId: TenantId,
      limit: number,
      after?: Position
    ) => Effect.Effect<ReadonlyArray<DurableEvent>>
    /** Returns the number of events that `replayable` would return from the start, counted up to `limit`. */
    readonly countReplayable: (tenantId: TenantId, limit: number) => Effect.Effect<number>
    /** Returns `countReplayable` for all these tenants from one query. Tenants without such events are left out. */
    readonly countReplayableEach: (
      tenantIds: ReadonlyArray<TenantId>,
      limit: number
    ) => Effect.Effect<ReadonlyMap<TenantId, number>>
    /**
     * Leases up to `limit` deliverable events, oldest first, to a session. Each becomes `delivered` and its
     * deliveryCount grows. No event is leased to two sessions at the same time. Events that fail by the policy are
     * marked as failed instead. With a filter, other events are left as they are.
     */
    readonly lease: (
      tenantId: TenantId,
      sessionId: string,
      limit: number,
      filter?: LeaseFilter
    ) => Effect.Effect<ReadonlyArray<Delivery>>
    /**
     * Applies `lease` for each of these sessions in the order given, in one statement. Returns the deliveries of each.
     */
    readonly leaseEach: (requests: ReadonlyArray<LeaseRequest>) => Effect.Effect<ReadonlyArray<ReadonlyArray<Delivery>>>
    /**
     * Extends every live lease of these sessions to a full duration from now, and returns those leases. A lease that
     * has lapsed is not renewed; the lease on an acknowledged event no longer exists.
     */
    readonly renew: (sessionIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<HeldLease>>
    /**
     * Releases every lease of these sessions immediately, and wakes the tenants' other sessions. Each released event has
     * one more lapse if the reason is `unacknowledged`, or if its lease had expired.
     */
    readonly release: (sessionIds: ReadonlyArray<string>, reason: ReleaseReason) => Effect.Effect<void>
    /** Acknowledges events, and returns one outcome each in the order given. Idempotent. */
    readonly acknowledge: (
      tenantId: TenantId,
      acknowledgements: ReadonlyArray<Acknowledgement>
    ) => Effect.Effect<ReadonlyArray<AcknowledgementOutcome>>
    /** Applies `acknowledge` for any tenants in one statement, and returns one outcome each in the order given. */
    readonly acknowledgeEach: (
      acknowledgements: ReadonlyArray<TenantAcknowledgement>
    ) => Effect.Effect<ReadonlyArray<AcknowledgementOutcome>>
    /**
     * Acknowledges all matching events that are not expired, and returns how many this call changed. Waits for appends
     * to the tenant that are in progress, and no event that is appended later comes before the cutoff, unless the
     * cutoff is in the future. So no event before the cutoff is missed.
     */
    readonly acknowledgeAll: (tenantId: TenantId, filter: AcknowledgeAllFilter) => Effect.Effect<number>
    /**
     * Makes failed events of the tenant pending again, without lapses, under the ids and at the places that they had, and wakes
     * its sessions. Leaves out other events, and those whose `expiresAt` has passed. Returns how many it changed.
     */
    readonly requeue: (tenantId: TenantId, eventIds: ReadonlyArray<string>) => Effect.Effect<number>
    /**
     * Stores the status `expired` for up to `limit` events of any tenants whose `expiresAt` has passed, earliest first,
     * then for events that `expireAgent` left. Returns how many it changed. Skips events that another statement has
     * locked.
     */
    readonly expire: (limit: number) => Effect.Effect<number>
    /**
     * Expires the open events of an agent that no longer exists: the oldest of them with this call, the others with
     * `expire`, so that no transaction grows with their number.
     */
    readonly expireAgent: (tenantId: TenantId, agentId: string) => Effect.Effect<void>
    /**
     * Deletes up to `limit` events of any tenants that are acknowledged, expired or failed and were created at least
     * `age` milliseconds ago, oldest first. Returns how many it deleted. Skips events that another statement has
     * locked. The dedupeKey of an event is known for as long as the event is stored.
     */
    readonly remove: (age: number, limit: number, scope?: RetentionScope) => Effect.Effect<number>
  }
>()("@agentos/core/events/EventStore") {}

/** The sessions that must check for events: those of these tenants, or all sessions if wake-ups were lost. */
export type WakeUp = ReadonlyArray<TenantId> | "all"

/**
 * The port that wakes sessions. After an event of a tenant was stored, or leases on its events were released, every
 * listener on every server is notified of the tenant.
 *
 * A wake-up carries no data, and several may be merged into one. A wake-up may also be lost, so listeners must poll
 * from time to time.
 */
export class EventSignal extends Context.Service<
  EventSignal,
  {
    /**
     * Calls `wake` for each wake-up of any tenant until the scope closes. `wake` runs in the middle of other work: it
     * must not throw and must return quickly.
     */
    readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@agentos/core/events/EventSignal") {}
