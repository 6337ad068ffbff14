import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS } from "./CommonErrors.ts"

/** An operation that reads events, and one that takes its input as a body or changes something. All are free. */
const READ = { method: "GET", price: null, authentication: "bearer", capability: "always" } as const
const POST = { ...READ, method: "POST" } as const

const EVENT_GUIDE = "/docs#events"

export const EVENT_ENTRIES = [
  {
    ...READ,
    operationId: "getRealtimeToken",
    serviceId: "events.realtime-token",
    path: "/api/v1/events/realtime-token",
    guide: "/docs#realtime",
    purpose: "Returns a realtime token that is valid for 15 minutes, the WebSocket URL and the pending events.",
    errors: [...BEARER_ERRORS, "FORBIDDEN"],
    nextActions: [
      { serviceId: "events.ack", why: "Acknowledge by REST when a socket failed during an acknowledgement." }
    ]
  },
  {
    ...POST,
    operationId: "listEvents",
    serviceId: "events.list",
    path: "/api/v1/events/list",
    guide: EVENT_GUIDE,
    purpose: "Lists your events, oldest first, filtered by status, type, agent, service, resource and time.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the events that you have handled." }]
  },
  {
    ...POST,
    operationId: "getEvent",
    serviceId: "events.get",
    path: "/api/v1/events/get",
    guide: EVENT_GUIDE,
    purpose: "Returns one event.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the event after you have handled it." }]
  },
  {
    ...POST,
    operationId: "acknowledgeEvent",
    serviceId: "events.ack",
    path: "/api/v1/events/ack",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges one event, so that it is not delivered again. Idempotent.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.list", why: "List the remaining events." }]
  },
  {
    ...POST,
    operationId: "acknowledgeAllEvents",
    serviceId: "events.ack-all",
    path: "/api/v1/events/ack-all",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges all events created before a cutoff, optionally of some types or one service area only.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.list", why: "List the remaining events." }]
  },
  {
    ...READ,
    operationId: "replayEvents",
    serviceId: null,
    path: "/api/v1/events",
    guide: EVENT_GUIDE,
    purpose: "Lists the pending events, oldest first, without leasing them: a WebSocket session still receives them.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the events that you have handled." }]
  },
  {
    ...POST,
    operationId: "acknowledgeEventById",
    serviceId: null,
    path: "/api/v1/events/{eventId}/acknowledge",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges one event. An alias of events.ack for older clients.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Use events.ack in new clients." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** Operations beyond the specification. */
export const EVENT_EXTENSIONS = [
  {
    ...POST,
    operationId: "setEventWebhook",
    serviceId: "events.webhook.set",
    path: "/api/v1/events/webhook",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Sets the URL that receives your events, returns its signing secret, and resumes paused deliveries.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.webhook.deliveries", why: "See whether your endpoint accepts the events." }]
  },
  {
    ...READ,
    operationId: "getEventWebhook",
    serviceId: "events.webhook.get",
    path: "/api/v1/events/webhook",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Returns your event webhook, without its secret.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND"],
    nextActions: [{ serviceId: "events.webhook.deliveries", why: "See the last deliveries." }]
  },
  {
    operationId: "deleteEventWebhook",
    serviceId: "events.webhook.delete",
    method: "DELETE",
    path: "/api/v1/events/webhook",
    price: null,
    authentication: "bearer",
    capability: "always",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Deletes your event webhook. Pending events stay.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND"],
    nextActions: [{ serviceId: "events.realtime-token", why: "Receive events over the WebSocket." }]
  },
  {
    ...READ,
    operationId: "listWebhookDeliveries",
    serviceId: "events.webhook.deliveries",
    path: "/api/v1/events/webhook/deliveries",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Lists the last 100 attempts to deliver events to your webhook, newest first.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND"],
    nextActions: [{ serviceId: "events.webhook.set", why: "Resume deliveries after you have fixed the endpoint." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
