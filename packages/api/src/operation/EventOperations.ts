import {
  EventRecord,
  EventWebhookRecord,
  PENDING_COUNT_LIMIT,
  Timestamp,
  Uuid,
  WebhookDeliveryRecord
} from "@agentos/core"
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AcknowledgeAllInput,
  EventIdInput,
  ListEventsInput,
  RealtimeTokenInput,
  ReplayEventsInput,
  SetEventWebhookInput
} from "../event/EventInput.ts"
import { deleteEndpoint, getEndpoint, postEndpoint } from "./Endpoint.ts"
import { NO_INPUT, operation } from "./Operation.ts"

const items = Schema.Array(EventRecord)
/** Fields beyond the specification, which the server always sends. */
const pendingPage = {
  items,
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String)).annotateKey({
    description: "Pass it as `cursor` to read on; null if no more events are pending."
  }),
  pending: Schema.optionalKey(Schema.Int).annotateKey({
    description: `Number of pending events in all pages, counted up to ${PENDING_COUNT_LIMIT}.`
  })
}
const oneWebhook = Schema.Struct({ webhook: EventWebhookRecord })
const oneEvent = Schema.Struct({ event: EventRecord })

export const EVENT_OPERATIONS = {
  getRealtimeToken: operation("getRealtimeToken", {
    ...NO_INPUT,
    query: RealtimeTokenInput,
    data: Schema.Struct({
      realtime: Schema.Struct({
        token: Schema.String,
        expiresAt: Timestamp.IsoTimestamp,
        websocketUrl: Schema.String
      }),
      ...pendingPage
    }),
    status: 200
  }),

  listEvents: operation("listEvents", {
    ...NO_INPUT,
    payload: ListEventsInput,
    data: Schema.Struct({ items, nextCursor: Schema.NullOr(Schema.String) }),
    status: 200
  }),

  getEvent: operation("getEvent", { ...NO_INPUT, payload: EventIdInput, data: oneEvent, status: 200 }),

  acknowledgeEvent: operation("acknowledgeEvent", {
    ...NO_INPUT,
    payload: EventIdInput,
    data: oneEvent,
    status: 200
  }),

  acknowledgeAllEvents: operation("acknowledgeAllEvents", {
    ...NO_INPUT,
    payload: AcknowledgeAllInput,
    data: Schema.Struct({ acknowledged: Schema.Int }),
    status: 200
  }),

  replayEvents: operation("replayEvents", {
    ...NO_INPUT,
    query: ReplayEventsInput,
    data: Schema.Struct(pendingPage),
    status: 200
  }),

  acknowledgeEventById: operation("acknowledgeEventById", {
    ...NO_INPUT,
    params: EventIdInput,
    data: oneEvent,
    status: 200
  }),

  setEventWebhook: operation("setEventWebhook", {
    ...NO_INPUT,
    payload: SetEventWebhookInput,
    data: Schema.Struct({
      webhook: EventWebhookRecord,
      signingSecret: Schema.String.annotateKey({
        description: "Verifies the deliveries, per Standard Webhooks. It is not shown again."
      })
    }),
    status: 201
  }),

  getEventWebhook: operation("getEventWebhook", { ...NO_INPUT, data: oneWebhook, status: 200 }),

  deleteEventWebhook: operation("deleteEventWebhook", {
    ...NO_INPUT,
    data: Schema.Struct({ webhookId: Uuid.Uuid, deleted: Schema.Literal(true) }),
    status: 200
  }),

  listWebhookDeliveries: operation("listWebhookDeliveries", {
    ...NO_INPUT,
    data: Schema.Struct({ items: Schema.Array(WebhookDeliveryRecord) }),
    status: 200
  })
}

export const eventGroup = HttpApiGroup.make("events", { topLevel: true })
  .add(
    getEndpoint(EVENT_OPERATIONS.getRealtimeToken),
    postEndpoint(EVENT_OPERATIONS.listEvents),
    postEndpoint(EVENT_OPERATIONS.getEvent),
    postEndpoint(EVENT_OPERATIONS.acknowledgeEvent),
    postEndpoint(EVENT_OPERATIONS.acknowledgeAllEvents),
    getEndpoint(EVENT_OPERATIONS.replayEvents),
    postEndpoint(EVENT_OPERATIONS.acknowledgeEventById),
    postEndpoint(EVENT_OPERATIONS.setEventWebhook),
    getEndpoint(EVENT_OPERATIONS.getEventWebhook),
    deleteEndpoint(EVENT_OPERATIONS.deleteEventWebhook),
    getEndpoint(EVENT_OPERATIONS.listWebhookDeliveries)
  )
  .annotate(OpenApi.Description, "The durable events of a tenant.")
