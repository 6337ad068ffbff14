import {
  EventRecord,
  EventWebhookRecord,
  PENDING_COUNT_LIMIT,
  Timestamp,
  Uuid,
  WebhookDeliveryRecord
} from "@agentos/core"
import { Schema } from "effect"
import { EVENT_EXAMPLES } from "../example/EventExamples.ts"
import { SIGNING_SECRET } from "../example/ResourceExamples.ts"
import {
  AcknowledgeAllInput,
  EventIdInput,
  ListEventsInput,
  RealtimeTokenInput,
  ReplayEventsInput,
  SetEventWebhookInput
} from "./EventInput.ts"
import { operation } from "./ApiOperation.ts"
import { EXPIRED_EVENT } from "../RealtimeMessage.ts"
import { nextCursor } from "./NextCursor.ts"

const items = Schema.Array(EventRecord).annotateKey({ description: "The events of this page, oldest first." })
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
const webhook = EventWebhookRecord.annotateKey({ description: "The webhook, without its secret." })
const oneWebhook = Schema.Struct({ webhook })
const oneEvent = Schema.Struct({ event: EventRecord.annotateKey({ description: "The event as it is now." }) })

const EVENT = EVENT_EXAMPLES["email.received"]
const PENDING = { ...EVENT, status: "pending", deliveredAt: null, deliveryCount: 0 } as const
const ACKNOWLEDGED = { ...EVENT, status: "acknowledged", acknowledgedAt: "2026-01-31T12:00:01.000Z" } as const
const WEBHOOK: typeof EventWebhookRecord.Encoded = {
  webhookId: EVENT_EXAMPLES["events.webhook.paused"].payload.webhookId,
  url: EVENT_EXAMPLES["events.webhook.paused"].payload.url,
  types: ["email.received"],
  status: "active",
  previousSecretValidUntil: null,
  createdAt: "2026-01-31T12:00:00.000Z",
  updatedAt: "2026-01-31T12:00:00.000Z",
  pausedAt: null
}

export const EVENT_OPERATIONS = {
  getRealtimeToken: operation("getRealtimeToken", {
    tag: "Events",
    summary: "Get a realtime token",
    query: RealtimeTokenInput,
    data: Schema.Struct({
      realtime: Schema.Struct({
        token: Schema.String.annotateKey({ description: "The realtime token, for the first message of a session." }),
        expiresAt: Timestamp.IsoTimestamp.annotateKey({ description: "Until when the token opens sessions." }),
        websocketUrl: Schema.String.annotateKey({ description: "URL of the WebSocket." })
      }).annotateKey({ description: "The credential for the WebSocket." }),
      ...pendingPage
    }),
    description:
      "The token is for the WebSocket at `websocketUrl` only, which the AsyncAPI document describes. The pending events come with it, so that an agent that starts sees at once what it missed; a session that opens receives them too.",
    example: {
      data: {
        realtime: {
          token: "eyJ…",
          expiresAt: "2026-01-31T12:15:00.000Z",
          websocketUrl: "wss://agentos.example/api/v1/events/socket"
        },
        items: [PENDING],
        nextCursor: null,
        pending: 1
      }
    }
  }),

  listEvents: operation("listEvents", {
    tag: "Events",
    summary: "List events",
    payload: ListEventsInput,
    data: Schema.Struct({ items, nextCursor }),
    description:
      "Returns events of all states, also acknowledged and expired ones, that match all given filters. It leases nothing and changes nothing. Pass `nextCursor` as `cursor` to read on; it is null on the last page.",
    example: {
      payload: { status: "acknowledged", types: ["email.received"], limit: 10 },
      data: { items: [ACKNOWLEDGED], nextCursor: null }
    }
  }),

  getEvent: operation("getEvent", {
    tag: "Events",
    summary: "Get an event",
    payload: EventIdInput,
    data: oneEvent,
    description:
      "The state shows whether it was delivered and acknowledged. `type` determines the fields of `payload`.",
    example: { payload: { eventId: EVENT.eventId }, data: { event: EVENT } }
  }),

  acknowledgeEvent: operation("acknowledgeEvent", {
    tag: "Events",
    summary: "Acknowledge an event",
    payload: EventIdInput,
    data: oneEvent,
    description: `Acknowledge an event after you have handled it durably. Use it also when a socket failed during an acknowledgement: it has the same effect, and repeating it changes nothing. With the status \`expired\` in the response: ${EXPIRED_EVENT}`,
    example: { payload: { eventId: EVENT.eventId }, data: { event: ACKNOWLEDGED } }
  }),

  acknowledgeAllEvents: operation("acknowledgeAllEvents", {
    tag: "Events",
    summary: "Acknowledge many events",
    payload: AcknowledgeAllInput,
    data: Schema.Struct({
      acknowledged: Schema.Int.annotateKey({ description: "Number of events that this request acknowledged." })
    }),
    description:
      "Acknowledges every matching event that was created before `before` and has not expired, and returns their number. Use it to skip a backlog.",
    example: { payload: { before: ACKNOWLEDGED.createdAt, types: ["email.received"] }, data: { acknowledged: 12 } }
  }),

  replayEvents: operation("replayEvents", {
    tag: "Events",
    summary: "List pending events",
    query: ReplayEventsInput,
    data: Schema.Struct(pendingPage),
    description:
      "For agents that poll, and for a look at what is pending. Acknowledge each event after you have handled it; otherwise it is listed again.",
    example: { query: { limit: 10 }, data: { items: [PENDING], nextCursor: null, pending: 1 } }
  }),

  acknowledgeEventById: operation("acknowledgeEventById", {
    tag: "Events",
    summary: "Acknowledge by path",
    params: EventIdInput,
    data: oneEvent,
    description: "It has the same effect as `POST /api/v1/events/ack`, with the id in the path and without a body.",
    example: { params: { eventId: EVENT.eventId }, data: { event: ACKNOWLEDGED } }
  }),

  setEventWebhook: operation("setEventWebhook", {
    tag: "Webhooks",
    summary: "Set the event webhook",
    payload: SetEventWebhookInput,
    data: Schema.Struct({
      webhook,
      signingSecret: Schema.String.annotateKey({
        description: "Verifies the deliveries, per Standard Webhooks. Only this response has it."
      })
    }),
    status: 201,
    replacedStatus: 200,
    description:
      "The server posts each event to the URL, signed per Standard Webhooks, and takes a 2xx answer as its acknowledgement. You have one webhook; setting it again replaces the URL and the types. The same URL keeps its `signingSecret`; another URL or `rotateSecret` makes a new one, and the previous one signs too for 24 hours.",
    example: {
      payload: { url: WEBHOOK.url, types: ["email.received"] },
      data: { webhook: WEBHOOK, signingSecret: SIGNING_SECRET }
    }
  }),

  getEventWebhook: operation("getEventWebhook", {
    tag: "Webhooks",
    summary: "Get the event webhook",
    data: oneWebhook,
    description:
      "`status` is paused when an event was not accepted for three days. Fix the endpoint, then set the webhook again to resume.",
    example: { data: { webhook: WEBHOOK } }
  }),

  deleteEventWebhook: operation("deleteEventWebhook", {
    tag: "Webhooks",
    summary: "Delete the event webhook",
    data: Schema.Struct({
      webhookId: Uuid.Uuid.annotateKey({ description: "Id of the deleted webhook." }),
      deleted: Schema.Literal(true).annotateKey({ description: "Always true." })
    }),
    description: "Events that were not accepted stay pending. Receive them over the WebSocket or by REST.",
    example: { data: { webhookId: WEBHOOK.webhookId, deleted: true } }
  }),

  listWebhookDeliveries: operation("listWebhookDeliveries", {
    tag: "Webhooks",
    summary: "List webhook deliveries",
    data: Schema.Struct({
      items: Schema.Array(WebhookDeliveryRecord).annotateKey({ description: "The last 100 attempts, newest first." })
    }),
    description:
      "Shows for each attempt the status of your answer or why there was none, and when the next attempt is due. Use it to find out why an endpoint receives nothing.",
    example: {
      data: {
        items: [
          {
            deliveryId: "019ab1c4-0d7b-7f20-9a11-3b4c5d6e7f80",
            eventId: EVENT.eventId,
            type: "email.received",
            attempt: 1,
            createdAt: "2026-01-31T12:00:00.000Z",
            durationMillis: 84,
            outcome: "failed",
            responseStatus: 503,
            error: "The endpoint answered with status 503.",
            nextAttemptAt: "2026-01-31T12:00:05.084Z"
          }
        ]
      }
    }
  })
}
