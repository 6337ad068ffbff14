import { Context, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"

export const EventStatus = Schema.Literals(["pending", "delivered", "acknowledged", "expired", "failed"])
export type EventStatus = typeof EventStatus.Type

/** Every type of event. `email.bounced` and `email.complained` are for mail providers that tell of either: none here does. */
export const EventType = Schema.Literals([
  "email.received",
  "email.bounced",
  "email.complained",
  "phone.call.started",
  "phone.call.ended",
  "phone.number.expiring",
  "phone.number.renewed",
  "phone.number.released",
  "phone.number.suspended",
  "phone.number.reconciled",
  "payment.completed",
  "payment.failed"
])
export type EventType = typeof EventType.Type

/** The source of events that are this service's own transitions, and no claim of a provider. */
export const INTERNAL_SOURCE = "agentos.internal"

const fields = {
  tenantId: Uuid,
  type: EventType,
  /** `agentos.internal`, or the name of the provider that it came from. */
  source: Schema.String,
  /** The half of the service: `email`, `phone` or `payment`. */
  service: Schema.String,
  resourceId: Schema.String,
  /** The agent concerned: of email, the mailbox; of phone, the agent behind the number; of payment, the wallet that pays. */
  agentId: Schema.String,
  payload: Schema.Record(Schema.String, Schema.Json)
}

/** What happened, before the store has given it an id, a moment and a place in the order. */
export const EventDraft = Schema.Struct({
  ...fields,
  /** Two drafts of one tenant with one key are one event: the second is not stored. */
  dedupeKey: Schema.String
})
export type EventDraft = typeof EventDraft.Type

/**
 * Something that happened to a tenant, kept until it is acknowledged and, for
 * audit, after that.
 *
 * Of one tenant, the order of createdAt and then eventId is the order of commits.
 */
export const DurableEvent = Schema.Struct({
  ...fields,
  eventId: Uuid,
  status: EventStatus,
  createdAt: Timestamp.Timestamp,
  deliveredAt: Schema.NullOr(Timestamp.Timestamp),
  acknowledgedAt: Schema.NullOr(Timestamp.Timestamp),
  expiresAt: Timestamp.Timestamp,
  /** How often it has been sent to a session. */
  deliveryCount: Schema.Int
})
export type DurableEvent = typeof DurableEvent.Type

/** How long an event is kept, and when delivery gives up. All in milliseconds but `maxLapses`. */
export interface EventPolicy {
  /** For how long after its creation an event is there to be delivered. */
  readonly retention: number
  /** For how long after its creation an event that is over stays to be read; null: for ever. Not below `retention`. */
  readonly auditRetention: number | null
  readonly leaseDuration: number
  readonly maxLapses: number
  /** No event fails before it is this old, however often its leases lapsed. */
  readonly minFailAge: number
}

export const DEFAULT_EVENT_POLICY: EventPolicy = {
  retention: 30 * Timestamp.DAY,
  auditRetention: 365 * Timestamp.DAY,
  leaseDuration: 30 * Timestamp.SECOND,
  maxLapses: 50,
  minFailAge: Timestamp.DAY
}

/** The policy that every event store keeps to, read when its layer is built: `DEFAULT_EVENT_POLICY` unless another is provided. */
export const EventPolicy = Context.Reference<EventPolicy>("@agentos/core/events/EventPolicy", {
  defaultValue: () => DEFAULT_EVENT_POLICY
})

/** An event as clients see it. Its payload says its type and id too, so that it can be passed on by itself. */
export const EventRecord = Schema.Struct({
  eventId: Uuid,
  type: EventType,
  status: EventStatus,
  source: Schema.String,
  service: Schema.String,
  resourceId: Schema.String,
  agentId: Schema.String,
  createdAt: Timestamp.IsoTimestamp,
  deliveredAt: Schema.NullOr(Timestamp.IsoTimestamp),
  acknowledgedAt: Schema.NullOr(Timestamp.IsoTimestamp),
  expiresAt: Timestamp.IsoTimestamp,
  deliveryCount: Schema.Int,
  payload: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "Event" })
export type EventRecord = typeof EventRecord.Type

const isoOrNull = (moment: Timestamp.Timestamp | null): string | null =>
  moment === null ? null : Timestamp.toIso(moment)

export const toEventRecord = (event: DurableEvent): EventRecord => ({
  eventId: event.eventId,
  type: event.type,
  status: event.status,
  source: event.source,
  service: event.service,
  resourceId: event.resourceId,
  agentId: event.agentId,
  createdAt: Timestamp.toIso(event.createdAt),
  deliveredAt: isoOrNull(event.deliveredAt),
  acknowledgedAt: isoOrNull(event.acknowledgedAt),
  expiresAt: Timestamp.toIso(event.expiresAt),
  deliveryCount: event.deliveryCount,
  payload: { type: event.type, eventId: event.eventId, ...event.payload }
})
