import { Context, Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"

export const EventStatus = Schema.Literals(["pending", "delivered", "acknowledged", "expired", "failed"])
export type EventStatus = typeof EventStatus.Type

export const EventType = Schema.Literals([
  "email.received",
  "phone.call.started",
  "phone.call.ended",
  "phone.number.expiring",
  "phone.number.renewed",
  "phone.number.released",
  "phone.number.suspended",
  "phone.number.reconciled",
  "payment.completed",
  "payment.failed",
  "payment.refunded",
  "events.webhook.paused"
])
export type EventType = typeof EventType.Type

/** The source of events for this service's own transitions, as opposed to reports of a provider. */
export const INTERNAL_SOURCE = "agentos.internal"

const fields = {
  tenantId: Uuid,
  type: EventType,
  /** `agentos.internal`, or the name of the provider that reported it. */
  source: Schema.String,
  /** The half of the service: `email`, `phone` or `payment`; `events` for event webhooks. */
  service: Schema.String,
  resourceId: Schema.String,
  /**
   * The agent concerned: the mailbox for email, the agent behind the number for phone, the paying wallet for payment,
   * the webhook itself for events.
   */
  agentId: Schema.String,
  payload: Schema.Record(Schema.String, Schema.Json)
}

/** An event before the store has assigned its id, time and position. */
export const EventDraft = Schema.Struct({
  ...fields,
  /** Two drafts of one tenant with the same key are the same event: the second is not stored. */
  dedupeKey: Schema.String
})
export type EventDraft = typeof EventDraft.Type

/** The fields of an event as clients see it, except its type and payload. */
const RECORD_FIELDS = {
  eventId: Uuid.annotateKey({ description: "Id of the event. Use it to ignore an event that you have handled." }),
  status: EventStatus.annotateKey({
    description:
      "pending: not sent yet. delivered: sent, and not acknowledged. acknowledged: handled. expired: not acknowledged in time. failed: sent too often without an acknowledgement."
  }),
  source: Schema.String.annotateKey({
    description: "The provider that reported it, or agentos.internal for a state transition of this service."
  }),
  service: Schema.String.annotateKey({ description: "Area of the service: email, phone, payment or events." }),
  resourceId: Schema.String.annotateKey({
    description: "Id of the resource that the event is about: a message, number, call, operation or webhook."
  }),
  agentId: Schema.String.annotateKey({
    description: "The agent concerned: the mailbox, the agent behind the number, the paying wallet, or the webhook."
  }),
  createdAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the event was made." }),
  deliveredAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the event was first sent to a session or a webhook; null before."
  }),
  acknowledgedAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the event was acknowledged; null before."
  }),
  expiresAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the event expires if it is not acknowledged." }),
  deliveryCount: Schema.Int.annotateKey({ description: "Number of times that the event was sent." })
}

/** The name of an event type in the contract: `EmailReceived` for `email.received`. */
export const eventName = (type: EventType): string =>
  type.replaceAll(/(?:^|\.)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Declares an event type, beside the function that drafts its events. The description says when the event occurs, as a
 * sentence. The fields are those of the payload, without the type and the id of the event, which the record adds.
 */
export const declareEvent = <const Type extends EventType, const Fields extends Schema.Struct.Fields>(
  type: Type,
  description: string,
  fields: Fields
) => {
  const { eventId, ...about } = RECORD_FIELDS
  return {
    type,
    payload: Schema.Struct(fields),
    /** An event of this type as clients see it. */
    record: Schema.Struct({
      eventId,
      type: Schema.Literal(type).annotateKey({ description: "Type of the event. It determines the payload." }),
      ...about,
      payload: Schema.Struct({
        type: Schema.Literal(type).annotateKey({ description: "Type of the event." }),
        eventId: Uuid.annotateKey({ description: "Id of the event." }),
        ...fields
      })
        .annotate({ identifier: `${eventName(type)}Payload` })
        .annotateKey({ description: "The facts, and the type and id of the event once more." })
    }).annotate({ identifier: `${eventName(type)}Event`, description })
  }
}

/** The part of a declaration that collections of all event types use. */
export interface AnyEventDeclaration {
  readonly type: EventType
  readonly record: Schema.Top
}

/**
 * Drafts an event of a declared type. The compiler checks the payload. `once` identifies the event among those of its
 * type and tenant: a second one with the same text is not stored.
 */
export const draftEvent = <Payload extends EventDraft["payload"]>(
  { type }: { readonly type: EventType; readonly payload: { readonly Type: Payload } },
  {
    once,
    ...draft
  }: Omit<EventDraft, "type" | "payload" | "dedupeKey"> & {
    readonly payload: NoInfer<Payload>
    readonly once: string
  }
): EventDraft => ({ ...draft, type, dedupeKey: `${type}:${once}` })

/**
 * Something that happened to a tenant, stored until it is acknowledged and, for audit, afterwards.
 *
 * For one tenant, the order by createdAt and then eventId is the order of commits.
 */
export const DurableEvent = Schema.Struct({
  ...fields,
  eventId: Uuid,
  status: EventStatus,
  createdAt: Timestamp.Timestamp,
  deliveredAt: Schema.NullOr(Timestamp.Timestamp),
  acknowledgedAt: Schema.NullOr(Timestamp.Timestamp),
  expiresAt: Timestamp.Timestamp,
  /** The number of times it was sent to a session. */
  deliveryCount: Schema.Int
})
export type DurableEvent = typeof DurableEvent.Type

/** How long an event is kept, and when its delivery fails. All values are in milliseconds except `maxLapses`. */
export interface EventPolicy {
  /** How long after its creation an event can be delivered. */
  readonly retention: number
  /**
   * How long after its creation an acknowledged, expired or failed event can be read; null: forever, the default. Not
   * less than `retention`.
   */
  readonly auditRetention: number | null
  readonly leaseDuration: number
  /** The number of deliveries that end without an acknowledgement before an event fails. */
  readonly maxLapses: number
  /** The minimum age at which an event fails, however many lapses it has. */
  readonly minFailAge: number
}

export const DEFAULT_EVENT_POLICY: EventPolicy = {
  retention: 30 * Timestamp.DAY,
  auditRetention: null,
  leaseDuration: 30 * Timestamp.SECOND,
  maxLapses: 50,
  minFailAge: Timestamp.DAY
}

/**
 * The policy of all event stores, read when their layer is built; `DEFAULT_EVENT_POLICY` unless the host provides
 * another.
 */
export const EventPolicy = Context.Reference<EventPolicy>("@agentos/core/events/EventPolicy", {
  defaultValue: () => DEFAULT_EVENT_POLICY
})

/** An event as clients see it, of any type. `EventRecord` is the union by type. */
export type AnyEventRecord = Schema.Struct.Type<typeof RECORD_FIELDS> & Pick<EventDraft, "type" | "payload">

/** Returns the record of an event. Its payload repeats the type and id, so that it can be forwarded alone. */
export const toAnyEventRecord = (event: DurableEvent): AnyEventRecord => ({
  eventId: event.eventId,
  type: event.type,
  status: event.status,
  source: event.source,
  service: event.service,
  resourceId: event.resourceId,
  agentId: event.agentId,
  createdAt: Timestamp.toIso(event.createdAt),
  deliveredAt: Timestamp.toIsoOrNull(event.deliveredAt),
  acknowledgedAt: Timestamp.toIsoOrNull(event.acknowledgedAt),
  expiresAt: Timestamp.toIso(event.expiresAt),
  deliveryCount: event.deliveryCount,
  payload: { type: event.type, eventId: event.eventId, ...event.payload }
})
