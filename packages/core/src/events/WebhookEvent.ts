import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { declareEvent, draftEvent, type EventDraft, INTERNAL_SOURCE } from "./DurableEvent.ts"
import type { EventWebhook } from "./EventWebhook.ts"

export const WEBHOOK_PAUSED = declareEvent(
  "events.webhook.paused",
  "Your event webhook accepted no delivery of an event for three days, and is paused. Fix the endpoint, then set it again.",
  {
    webhookId: Uuid.annotateKey({ description: "Id of the webhook." }),
    url: Schema.String.annotateKey({ description: "URL of the endpoint." }),
    pausedAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the webhook was paused." }),
    undeliveredEventId: Uuid.annotateKey({ description: "Id of the event that was not accepted." }),
    error: Schema.String.annotateKey({ description: "Why the last attempt failed." })
  }
)

export const WEBHOOK_EVENTS = [WEBHOOK_PAUSED] as const

/** The event that a webhook was paused at `at`, after the last attempt at an event failed with `error`. */
export const webhookPaused = (
  { tenantId, url, webhookId }: EventWebhook,
  at: Timestamp.Timestamp,
  undeliveredEventId: string,
  error: string
): EventDraft =>
  draftEvent(WEBHOOK_PAUSED, {
    tenantId,
    source: INTERNAL_SOURCE,
    service: "events",
    resourceId: webhookId,
    agentId: webhookId,
    payload: { webhookId, url, pausedAt: Timestamp.toIso(at), undeliveredEventId, error },
    once: `${webhookId}:${at}`
  })
