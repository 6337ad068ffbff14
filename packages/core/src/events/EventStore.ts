import { Context, Effect } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Position } from "../kernel/Page.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { DurableEvent, EventDraft, EventStatus } from "./DurableEvent.ts"

/** Which events of a tenant. Every part that is given must hold; `from` is inclusive, `to` exclusive. */
export interface EventFilter {
  readonly statuses?: ReadonlyArray<EventStatus> | undefined
  readonly types?: ReadonlyArray<string> | undefined
  readonly agentId?: string | undefined
  readonly service?: string | undefined
  readonly resourceId?: string | undefined
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

/** Which events `ack-all` ends: those created before the cutoff (exclusive) that match. */
export interface AcknowledgeAllFilter {
  readonly before: Timestamp
  readonly types?: ReadonlyArray<string> | undefined
  readonly service?: string | undefined
}

/** One event in the hands of one session until `leasedUntil`. A later lease of the same event has another deliveryId. */
export interface Delivery {
  readonly deliveryId: string
  readonly event: DurableEvent
}

/** An acknowledgement as a session sends it. With a deliveryId it counts only while that delivery's lease is held. */
export interface Acknowledgement {
  readonly eventId: string
  readonly deliveryId?: string | undefined
}

/** An acknowledgement, and whose it is. */
export interface TenantAcknowledgement extends Acknowledgement {
  readonly tenantId: TenantId
}

/** What a session asks for: up to `limit` events of its tenant. */
export interface LeaseRequest {
  readonly tenantId: TenantId
  readonly sessionId: string
  readonly limit: number
}

/** A lease that a session holds. */
export interface HeldLease {
  readonly sessionId: string
  readonly eventId: string
}

export type AcknowledgementOutcome = "acknowledged" | "stale" | "missing"

/**
 * The port that keeps durable events and the leases on them.
 *
 * Leases run on the store's own clock. An event whose `expiresAt` has passed
 * reads as `expired` from then on, whether or not a job has written that down.
 */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Stores drafts, in the order given, and wakes the sessions of their tenants
     * once the transaction commits. Locks the tenants. Gives createdAt (the later of
     * the tenant's last one and the clock) and an eventId that only grows, so the
     * order of both is the order of commits. Answers what was stored: a draft whose
     * dedupeKey is known is left out.
     */
    readonly append: (drafts: ReadonlyArray<EventDraft>) => Effect.Effect<ReadonlyArray<DurableEvent>>
    readonly find: (tenantId: TenantId, eventId: string) => Effect.Effect<Lookup<DurableEvent>>
    /** Oldest first, strictly after `after`; `limit` at most. */
    readonly list: (
      tenantId: TenantId,
      filter: EventFilter,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<DurableEvent>>
    /** Where the newest event of the tenant stands, or undefined when it has none. */
    readonly latest: (tenantId: TenantId) => Effect.Effect<Position | undefined>
    /** `latest` of each of these tenants, in one go. A tenant that has none is left out. */
    readonly latestEach: (tenantIds: ReadonlyArray<TenantId>) => Effect.Effect<ReadonlyMap<TenantId, Position>>
    /** Oldest first: what is pending, or delivered with no live lease. Takes no lease. */
    readonly replayable: (tenantId: TenantId, limit: number) => Effect.Effect<ReadonlyArray<DurableEvent>>
    /** How many events `replayable` would give, counted up to `limit`. */
    readonly countReplayable: (tenantId: TenantId, limit: number) => Effect.Effect<number>
    /** `countReplayable` of each of these tenants, in one go. A tenant that has none is left out. */
    readonly countReplayableEach: (
      tenantIds: ReadonlyArray<TenantId>,
      limit: number
    ) => Effect.Effect<ReadonlyMap<TenantId, number>>
    /**
     * Leases up to `limit` deliverable events, oldest first, to a session; each
     * becomes `delivered` and its deliveryCount grows. No event is leased to two
     * sessions at one time. What has failed by the policy is marked so instead.
     */
    readonly lease: (tenantId: TenantId, sessionId: string, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
    /** `lease` for each of these sessions, in the order given and in one go; answers what each of them got. */
    readonly leaseEach: (requests: ReadonlyArray<LeaseRequest>) => Effect.Effect<ReadonlyArray<ReadonlyArray<Delivery>>>
    /**
     * Extends every live lease of these sessions to a full duration from now, and answers those
     * leases. One that has lapsed stays so; one whose event was acknowledged is no more.
     */
    readonly renew: (sessionIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<HeldLease>>
    /** Ends every lease of these sessions at once, without counting a lapse, and wakes the tenants' other sessions. */
    readonly release: (sessionIds: ReadonlyArray<string>) => Effect.Effect<void>
    /** Acknowledges events, one outcome each in the order given. Again is as good as once. */
    readonly acknowledge: (
      tenantId: TenantId,
      acknowledgements: ReadonlyArray<Acknowledgement>
    ) => Effect.Effect<ReadonlyArray<AcknowledgementOutcome>>
    /** `acknowledge` of whatever tenants, in one go: one outcome each in the order given. */
    readonly acknowledgeEach: (
      acknowledgements: ReadonlyArray<TenantAcknowledgement>
    ) => Effect.Effect<ReadonlyArray<AcknowledgementOutcome>>
    /**
     * Acknowledges all that match and are not expired; answers how many this call changed. Waits for what is being
     * appended to the tenant, and no event that is appended later comes before the cutoff, unless that is in the
     * future: so every event before the cutoff was there to be acknowledged.
     */
    readonly acknowledgeAll: (tenantId: TenantId, filter: AcknowledgeAllFilter) => Effect.Effect<number>
    /**
     * Writes down of up to `limit` events of whatever tenants that they are expired, the earliest first; answers of
     * how many. Passes over what another statement holds, and changes nothing that can be read.
     */
    readonly expire: (limit: number) => Effect.Effect<number>
    /**
     * Deletes up to `limit` events of whatever tenants that are over (acknowledged, expired or failed) and were created
     * `age` milliseconds ago or more, the oldest first; answers how many. Passes over what another statement holds.
     * The dedupeKey of an event is known for as long as the event is there.
     */
    readonly remove: (age: number, limit: number) => Effect.Effect<number>
  }
>()("@agentos/core/events/EventStore") {}
