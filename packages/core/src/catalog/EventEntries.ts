import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS } from "./CommonErrors.ts"

const EVENT_GUIDE = "/docs#events"

export const EVENT_ENTRIES = [
  {
    operationId: "getRealtimeToken",
    serviceId: "events.realtime-token",
    method: "GET",
    path: "/api/v1/events/realtime-token",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: "/docs#realtime",
    purpose: "Returns a realtime token that is valid for 15 minutes, the WebSocket URL and the pending events.",
    errors: [...BEARER_ERRORS, "FORBIDDEN"],
    nextActions: [
      { serviceId: "events.ack", why: "Acknowledge by REST when a socket failed during an acknowledgement." }
    ]
  },
  {
    operationId: "listEvents",
    serviceId: "events.list",
    method: "POST",
    path: "/api/v1/events/list",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Lists your events, oldest first, filtered by status, type, agent, service, resource and time.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the events that you have handled." }]
  },
  {
    operationId: "getEvent",
    serviceId: "events.get",
    method: "POST",
    path: "/api/v1/events/get",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Returns one event.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the event after you have handled it." }]
  },
  {
    operationId: "acknowledgeEvent",
    serviceId: "events.ack",
    method: "POST",
    path: "/api/v1/events/ack",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges one event, so that it is not delivered again. Idempotent.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.list", why: "List the remaining events." }]
  },
  {
    operationId: "acknowledgeAllEvents",
    serviceId: "events.ack-all",
    method: "POST",
    path: "/api/v1/events/ack-all",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges all events created before a cutoff, optionally of some types or one service area only.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.list", why: "List the remaining events." }]
  },
  {
    operationId: "replayEvents",
    serviceId: null,
    method: "GET",
    path: "/api/v1/events",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Lists the pending events, oldest first, without leasing them: a WebSocket session still receives them.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge the events that you have handled." }]
  },
  {
    operationId: "acknowledgeEventById",
    serviceId: null,
    method: "POST",
    path: "/api/v1/events/{eventId}/acknowledge",
    price: null,
    authentication: "bearer",
    capability: "always",
    guide: EVENT_GUIDE,
    purpose: "Acknowledges one event. An alias of events.ack for older clients.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Use events.ack in new clients." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** Operations beyond the specification. */
export const EVENT_EXTENSIONS = [
  {
    operationId: "setEventWebhook",
    serviceId: "events.webhook.set",
    method: "POST",
    path: "/api/v1/events/webhook",
    price: null,
    authentication: "bearer",
    capability: "always",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Sets the URL that receives your events, returns its signing secret, and resumes paused deliveries.",
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.webhook.deliveries", why: "See whether your endpoint accepts the events." }]
  },
  {
    operationId: "getEventWebhook",
    serviceId: "events.webhook.get",
    method: "GET",
    path: "/api/v1/events/webhook",
    price: null,
    authentication: "bearer",
    capability: "always",
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
    operationId: "listWebhookDeliveries",
    serviceId: "events.webhook.deliveries",
    method: "GET",
    path: "/api/v1/events/webhook/deliveries",
    price: null,
    authentication: "bearer",
    capability: "always",
    extension: true,
    guide: "/docs#webhooks",
    purpose: "Lists the last 100 attempts to deliver events to your webhook, newest first.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND"],
    nextActions: [{ serviceId: "events.webhook.set", why: "Resume deliveries after you have fixed the endpoint." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
