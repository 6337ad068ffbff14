import { type Redacted, Schema } from "effect"
import type { Keyring } from "../kernel/Keyring.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { toParts, Uuid } from "../kernel/Uuid.ts"
import { EventType } from "./DurableEvent.ts"
import { MAX_IN_FLIGHT } from "./RealtimeSession.ts"
import * as WebhookSecret from "./WebhookSecret.ts"

/** How long an event is retried after its first attempt before its endpoint is paused. */
export const RETRY_FOR = 3 * Timestamp.DAY
/** Delay before the first retry of an event. Each following delay is twice as long, up to the maximum. */
const FIRST_RETRY = 5 * Timestamp.SECOND
const RETRY_MAX = 8 * Timestamp.HOUR
/** Failures in a row after which the endpoint rests before any request, also for other events. */
const FAILURES_BEFORE_REST = 3
const REST_MAX = 5 * Timestamp.MINUTE
/** How long the previous secret signs beside the new one. */
export const PREVIOUS_SECRET_FOR = Timestamp.DAY

const SecretVersion = Schema.Struct({ keyId: Schema.Int, version: Schema.Int })

/** The endpoint of a tenant that receives its events. A tenant has at most one. */
export const EventWebhook = Schema.Struct({
  webhookId: Uuid,
  tenantId: Uuid,
  url: Schema.String,
  /** Null: events of all types. */
  types: Schema.NullOr(Schema.Array(EventType)),
  state: Schema.Literals(["active", "paused"]),
  secret: SecretVersion,
  previousSecret: Schema.NullOr(Schema.Struct({ ...SecretVersion.fields, validUntil: Timestamp.Timestamp })),
  createdAt: Timestamp.Timestamp,
  updatedAt: Timestamp.Timestamp,
  /** When its deliveries were paused; null while it is active. */
  pausedAt: Schema.NullOr(Timestamp.Timestamp)
})
export type EventWebhook = typeof EventWebhook.Type

/** An endpoint as its tenant sees it. */
export const EventWebhookRecord = Schema.Struct({
  webhookId: Uuid.annotateKey({ description: "Id of the webhook." }),
  url: Schema.String.annotateKey({ description: "The URL that receives the events." }),
  types: Schema.NullOr(Schema.Array(EventType)).annotateKey({
    description: "Types of the events to deliver; null for all types."
  }),
  status: Schema.Literals(["active", "paused"]).annotateKey({
    description: "active; paused: an event was not accepted for three days. Set the webhook again to resume."
  }),
  previousSecretValidUntil: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "Until when the previous secret signs beside the current one; null without a previous one."
  }),
  createdAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the webhook was first set." }),
  updatedAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the webhook was last set." }),
  pausedAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the deliveries were paused; null while they are active."
  })
}).annotate({ identifier: "EventWebhook" })
export type EventWebhookRecord = typeof EventWebhookRecord.Type

export const toWebhookRecord = (webhook: EventWebhook): EventWebhookRecord => ({
  webhookId: webhook.webhookId,
  url: webhook.url,
  types: webhook.types,
  status: webhook.state,
  previousSecretValidUntil: Timestamp.toIsoOrNull(webhook.previousSecret?.validUntil ?? null),
  createdAt: Timestamp.toIso(webhook.createdAt),
  updatedAt: Timestamp.toIso(webhook.updatedAt),
  pausedAt: Timestamp.toIsoOrNull(webhook.pausedAt)
})

/** One request to an endpoint. */
export interface WebhookAttempt {
  readonly deliveryId: string
  readonly eventId: string
  readonly type: EventType
  /** Counted from 1 for each event. */
  readonly attempt: number
  readonly createdAt: Timestamp.Timestamp
  readonly durationMillis: number
  readonly outcome: "succeeded" | "failed"
  /** The status of the answer; null without an answer. */
  readonly responseStatus: number | null
  /** Why it failed; null if it succeeded. */
  readonly error: string | null
  readonly nextAttemptAt: Timestamp.Timestamp | null
}

/** A request to an endpoint as its tenant sees it. */
export const WebhookDeliveryRecord = Schema.Struct({
  deliveryId: Uuid.annotateKey({ description: "Id of the attempt." }),
  eventId: Uuid.annotateKey({ description: "Id of the event, the webhook-id of the request." }),
  type: EventType.annotateKey({ description: "Type of the event." }),
  attempt: Schema.Int.annotateKey({ description: "Number of the attempt at this event, from 1." }),
  createdAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the attempt began." }),
  durationMillis: Schema.Int.annotateKey({ description: "Duration of the attempt, in milliseconds." }),
  outcome: Schema.Literals(["succeeded", "failed"]).annotateKey({
    description: "Whether the endpoint accepted the event."
  }),
  responseStatus: Schema.NullOr(Schema.Int).annotateKey({
    description: "HTTP status of the answer; null without an answer."
  }),
  error: Schema.NullOr(Schema.String).annotateKey({ description: "Why the attempt failed; null if it succeeded." }),
  nextAttemptAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the event is sent again; null if it is not."
  })
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDeliveryRecord = typeof WebhookDeliveryRecord.Type

export const toDeliveryRecord = ({ createdAt, nextAttemptAt, ...attempt }: WebhookAttempt): WebhookDeliveryRecord => ({
  ...attempt,
  createdAt: Timestamp.toIso(createdAt),
  nextAttemptAt: Timestamp.toIsoOrNull(nextAttemptAt)
})

/** An event whose last attempt failed. */
export const WebhookRetry = Schema.Struct({
  eventId: Schema.String,
  attempts: Schema.Int,
  firstAttemptAt: Timestamp.Timestamp,
  nextAttemptAt: Timestamp.Timestamp
})
export type WebhookRetry = typeof WebhookRetry.Type

/** What an endpoint has to retry, as an immutable value. */
export interface WebhookProgress {
  /** At most `MAX_IN_FLIGHT`. */
  readonly retries: ReadonlyArray<WebhookRetry>
  /** Failed attempts since the last successful one, of any event. */
  readonly failures: number
  /** Whether it has ever accepted an event. */
  readonly hasAnswered: boolean
}
export const NO_PROGRESS: WebhookProgress = { retries: [], failures: 0, hasAnswered: false }

/** Returns the events whose retry is not due yet. They are not sent before. */
export const waitingRetries = ({ retries }: WebhookProgress, now: Timestamp.Timestamp): ReadonlyArray<WebhookRetry> =>
  retries.filter(({ nextAttemptAt }) => nextAttemptAt > now)

/** Whether another event may be sent now: the others wait in the store, as for a session with a full window. */
export const hasRoom = (progress: WebhookProgress, now: Timestamp.Timestamp): boolean =>
  waitingRetries(progress, now).length < MAX_IN_FLIGHT

export const attemptOf = ({ retries }: WebhookProgress, eventId: string): number =>
  (retries.find((retry) => retry.eventId === eventId)?.attempts ?? 0) + 1

const doubled = (first: number, times: number, maximum: number): number =>
  Math.min(first * 2 ** Math.min(times, 40), maximum)

/** Returns the progress after an event was accepted. */
export const succeeded = ({ retries }: WebhookProgress, eventId: string): WebhookProgress => ({
  retries: retries.filter((retry) => retry.eventId !== eventId),
  failures: 0,
  hasAnswered: true
})

/** Returns the progress after an attempt failed, with the next one; `exhausted` if the event was retried for too long. */
export const failed = (
  { failures, hasAnswered, retries }: WebhookProgress,
  eventId: string,
  startedAt: Timestamp.Timestamp,
  now: Timestamp.Timestamp
): { readonly progress: WebhookProgress; readonly nextAttemptAt: Timestamp.Timestamp } | "exhausted" => {
  const known = retries.find((retry) => retry.eventId === eventId)
  const firstAttemptAt = known?.firstAttemptAt ?? startedAt
  const end = Timestamp.add(firstAttemptAt, RETRY_FOR)
  if (startedAt >= end) return "exhausted"
  const attempts = (known?.attempts ?? 0) + 1
  const next = Timestamp.add(now, doubled(FIRST_RETRY, attempts - 1, RETRY_MAX))
  // The last attempt is made at the end of the time, so that an endpoint that returns before is found.
  const nextAttemptAt = next < end ? next : end
  const others = retries.filter((retry) => retry.eventId !== eventId)
  return {
    progress: {
      retries: [...others, { eventId, attempts, firstAttemptAt, nextAttemptAt }],
      failures: failures + 1,
      hasAnswered
    },
    nextAttemptAt
  }
}

/** Returns the progress without failures, and without delays of the events that were created since a moment. */
export const recovered = (progress: WebhookProgress, since: Timestamp.Timestamp): WebhookProgress => ({
  ...progress,
  retries: progress.retries.filter(({ eventId }) => toParts(eventId).millis < since),
  failures: 0
})

/** Returns how long an endpoint with this progress rests before its next request, in milliseconds; usually 0. */
export const restOf = ({ failures }: WebhookProgress): number =>
  failures < FAILURES_BEFORE_REST ? 0 : doubled(FIRST_RETRY, failures - FAILURES_BEFORE_REST, REST_MAX)

/** Returns the secrets that sign now, the current one first. A secret whose key has left the ring is left out. */
export const secretsOf = (
  keyring: Keyring["Service"],
  { previousSecret, secret, webhookId }: EventWebhook,
  now: Timestamp.Timestamp
): ReadonlyArray<Redacted.Redacted<string>> =>
  [secret, ...(previousSecret !== null && previousSecret.validUntil > now ? [previousSecret] : [])].flatMap(
    ({ keyId, version }) => WebhookSecret.derive(keyring, { keyId, webhookId, version }) ?? []
  )
