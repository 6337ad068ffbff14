import type { CatalogEntry, CatalogInput } from "./CatalogEntry.ts"
import { BEARER_ERRORS } from "./CommonErrors.ts"

const EVENT_ID: CatalogInput = { name: "eventId", in: "body", required: true, description: "Id of an event of yours." }

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
    purpose: "Gives a credential of 15 minutes for the WebSocket, its address, and the events that are waiting.",
    inputs: [],
    errors: [...BEARER_ERRORS, "FORBIDDEN"],
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge by REST what a broken socket left in doubt." }]
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
    purpose: "Lists your events, oldest first, in pages, by status, type, agent, service, resource and time.",
    inputs: [
      {
        name: "status",
        in: "body",
        required: false,
        description: "pending, delivered, acknowledged, expired or failed."
      },
      { name: "types", in: "body", required: false, description: "Event types, any of which matches." },
      { name: "agentId", in: "body", required: false, description: "Events of this agent alone." },
      {
        name: "service",
        in: "body",
        required: false,
        description: "Events of this half alone: email, phone, payment."
      },
      { name: "resourceId", in: "body", required: false, description: "Events about this resource alone." },
      { name: "from", in: "body", required: false, description: "Created at or after this moment." },
      { name: "to", in: "body", required: false, description: "Created before this moment." },
      { name: "limit", in: "body", required: false, description: "Page size, 1 to 100; 50 when left out." },
      { name: "cursor", in: "body", required: false, description: "The nextCursor of the page before." }
    ],
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge what you have handled." }]
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
    inputs: [EVENT_ID],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge it once it is handled." }]
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
    purpose: "Acknowledges one event, so that it is not delivered again. Doing so again changes nothing.",
    inputs: [EVENT_ID],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.list", why: "See what is left." }]
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
    purpose: "Acknowledges every event created before a cutoff, optionally of some types or one half alone.",
    inputs: [
      { name: "before", in: "body", required: true, description: "The cutoff: only events created before it." },
      { name: "types", in: "body", required: false, description: "Event types, any of which matches." },
      { name: "service", in: "body", required: false, description: "Events of this half alone: email, phone, payment." }
    ],
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.list", why: "See what is left." }]
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
    purpose: "Shows the events that are waiting, oldest first. Takes none of them from a socket.",
    inputs: [
      { name: "limit", in: "query", required: false, description: "How many at most, 1 to 200; 100 when left out." }
    ],
    errors: BEARER_ERRORS,
    nextActions: [{ serviceId: "events.ack", why: "Acknowledge what you have handled." }]
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
    purpose: "Acknowledges one event; kept beside events.ack for older clients.",
    inputs: [{ ...EVENT_ID, in: "path" }],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "events.ack", why: "Use this in new clients." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
