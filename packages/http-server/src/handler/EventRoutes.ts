import { OPERATIONS, REALTIME_PATH, UpgradeRequired } from "@agentos/api"
import {
  Credentials,
  Events,
  EventWebhooks,
  type PendingPage,
  Timestamp,
  toDeliveryRecord,
  toEventRecord,
  toWebhookRecord
} from "@agentos/core"
import { Effect, Redacted } from "effect"
import { WEBHOOK_SET_COST } from "../edge/RequestCost.ts"
import { documentRoute } from "../edge/Route.ts"
import { Replaced, tenantRoute } from "../operation/FreeRoute.ts"
import { ServerSettings } from "../ServerSettings.ts"

const toPendingRecords = ({ items, nextCursor, pending }: PendingPage) => ({
  items: items.map(toEventRecord),
  nextCursor,
  pending
})

export const routes = Effect.gen(function* () {
  const events = yield* Events
  const webhooks = yield* EventWebhooks
  const credentials = yield* Credentials
  const { publicUrl } = yield* ServerSettings
  const websocketUrl = `${publicUrl.replace(/^http/, "ws")}${REALTIME_PATH}`

  return [
    tenantRoute(
      OPERATIONS.getRealtimeToken,
      Effect.fnUntraced(function* (tenant, { query }) {
        const waiting = yield* events.replay(tenant.tenantId, query)
        const { expiresAt, token } = yield* credentials.issueRealtime(tenant)
        return {
          realtime: { token: Redacted.value(token), expiresAt: Timestamp.toIso(expiresAt), websocketUrl },
          ...toPendingRecords(waiting)
        }
      })
    ),

    tenantRoute(OPERATIONS.listEvents, ({ tenantId }, { payload: { cursor, limit, status, ...filter } }) =>
      Effect.map(
        events.list(
          tenantId,
          { ...filter, ...(status === undefined ? {} : { statuses: [status] }) },
          { limit, cursor }
        ),
        ({ items, nextCursor }) => ({ items: items.map(toEventRecord), nextCursor })
      )
    ),

    tenantRoute(OPERATIONS.getEvent, ({ tenantId }, { payload: { eventId } }) =>
      Effect.map(events.get(tenantId, eventId), (event) => ({ event: toEventRecord(event) }))
    ),

    tenantRoute(OPERATIONS.acknowledgeEvent, ({ tenantId }, { payload: { eventId } }) =>
      Effect.map(events.acknowledge(tenantId, eventId), (event) => ({ event: toEventRecord(event) }))
    ),

    tenantRoute(OPERATIONS.acknowledgeAllEvents, ({ tenantId }, { payload }) =>
      Effect.map(events.acknowledgeAll(tenantId, payload), (acknowledged) => ({ acknowledged }))
    ),

    tenantRoute(OPERATIONS.replayEvents, ({ tenantId }, { query }) =>
      Effect.map(events.replay(tenantId, query), toPendingRecords)
    ),

    tenantRoute(OPERATIONS.acknowledgeEventById, ({ tenantId }, { params: { eventId } }) =>
      Effect.map(events.acknowledge(tenantId, eventId), (event) => ({ event: toEventRecord(event) }))
    ),

    tenantRoute(
      OPERATIONS.setEventWebhook,
      ({ tenantId }, { payload }) =>
        Effect.map(webhooks.set(tenantId, payload), ({ isNew, signingSecret, webhook }) => {
          const data = { webhook: toWebhookRecord(webhook), signingSecret: Redacted.value(signingSecret) }
          return isNew ? data : new Replaced(data)
        }),
      WEBHOOK_SET_COST
    ),

    tenantRoute(OPERATIONS.getEventWebhook, ({ tenantId }) =>
      Effect.map(webhooks.get(tenantId), (webhook) => ({ webhook: toWebhookRecord(webhook) }))
    ),

    tenantRoute(OPERATIONS.deleteEventWebhook, ({ tenantId }) =>
      Effect.map(webhooks.remove(tenantId), ({ webhookId }) => ({ webhookId, deleted: true as const }))
    ),

    tenantRoute(OPERATIONS.listWebhookDeliveries, ({ tenantId }) =>
      Effect.map(webhooks.attempts(tenantId), (attempts) => ({ items: attempts.map(toDeliveryRecord) }))
    ),

    // The gateway takes upgrades before they reach the router, so a request here is not an upgrade.
    documentRoute(REALTIME_PATH, () => Effect.fail(new UpgradeRequired()))
  ] as const
})
