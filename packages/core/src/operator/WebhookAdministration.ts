import { Context, Effect, Layer, Schema } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Webhook from "../events/EventWebhook.ts"
import { type WebhookEndpoint, WebhookStore } from "../events/WebhookStore.ts"
import { DateTime } from "../kernel/DateTime.ts"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { plainText } from "../kernel/PlainText.ts"
import { ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordChange } from "./Audit.ts"
import { type ReportedAttempt, reportedAttempt } from "./OperationAdministration.ts"
import { tenantIdOf } from "./TenantDirectory.ts"

const LIMIT = 100
const DEFAULT_LIMIT = 20
const TENANT_NAME_LIMIT = 64
/** Events that one redelivery queues again or counts, over all endpoints. */
export const REDELIVERY_LIMIT = 1_000

/** Selects a page of event webhooks. The cursor of a page is the id of its last one. */
export const QueryWebhooksInput = Schema.Struct({
  /** `due`: its time has come; `failing`: an attempt failed since the last success; `paused`: after three days of failures. */
  state: Schema.optionalKey(Schema.Literals(["due", "failing", "paused"])),
  webhookId: Schema.optionalKey(Uuid.GivenUuid),
  /** An id or a wallet. */
  tenant: Schema.optionalKey(plainText(TENANT_NAME_LIMIT)),
  limit: PageInput.limit({ maximum: LIMIT, default: DEFAULT_LIMIT }),
  cursor: Schema.optionalKey(Uuid.GivenUuid)
})
export type QueryWebhooksInput = typeof QueryWebhooksInput.Type

export const RedeliverInput = Schema.Struct({
  /** Events that were created since then. */
  since: DateTime,
  /** Without it: every endpoint that fails or is paused. */
  webhookId: Schema.optionalKey(Uuid.GivenUuid),
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: REDELIVERY_LIMIT })))
})
export type RedeliverInput = typeof RedeliverInput.Type

/** An event webhook in its wire format, without the path of its URL, which may be a secret. */
export interface WebhookReport {
  readonly webhookId: string
  readonly tenantId: TenantId
  readonly host: string
  readonly state: "active" | "failing" | "paused"
  /** Failed attempts since the last successful one, of any event. */
  readonly failures: number
  /** Events that wait for a retry. */
  readonly waitingRetries: number
  /** Null: with the next event of the tenant, or not at all if it is paused. */
  readonly nextAttempt: ReportedAttempt | null
  /** Null before the first attempt. Its times are in ISO 8601. */
  readonly lastDelivery: Webhook.WebhookDeliveryRecord | null
}

/** The events of one endpoint that a redelivery queues again. */
export interface RedeliveredWebhook extends Pick<WebhookReport, "host" | "state" | "tenantId" | "webhookId"> {
  /** Events that had failed, and are pending again. */
  readonly failed: number
  /** Events that were not accepted yet, and whose retries no longer wait. */
  readonly waiting: number
}

export interface RedeliveryReport {
  readonly items: ReadonlyArray<RedeliveredWebhook>
  /** Whether these are all such endpoints and events. If not, repeat the redelivery after these were delivered. */
  readonly isWhole: boolean
}

/** The operator's view of event webhooks, over all tenants. */
export class WebhookAdministration extends Context.Service<
  WebhookAdministration,
  {
    readonly list: (query: QueryWebhooksInput) => Effect.Effect<Page<WebhookReport>>
    /** Counts what `redeliver` would queue again, and changes nothing. */
    readonly preview: (input: RedeliverInput) => Effect.Effect<RedeliveryReport, ResourceNotFound>
    /**
     * Ends pauses and delays of endpoints, and makes their failed events pending again. Their servers then send, in the order
     * of the events and under the ids that they had, each event that was not accepted. An accepted event is not sent again.
     */
    readonly redeliver: (input: RedeliverInput) => Effect.Effect<RedeliveryReport, ResourceNotFound>
  }
>()("@agentos/core/operator/WebhookAdministration") {
  static readonly layer = Layer.effect(
    WebhookAdministration,
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const events = yield* EventStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const selected = Effect.fnUntraced(function* (webhookId: string | undefined) {
        if (webhookId === undefined) {
          const [failing, paused] = [
            yield* store.list({ state: "failing", limit: LIMIT + 1 }),
            yield* store.list({ state: "paused", limit: LIMIT + 1 })
          ]
          return [...failing, ...paused]
        }
        const found = yield* store.list({ webhookId, limit: 1 })
        return found.length > 0 ? found : yield* new ResourceNotFound({ kind: "event webhook", id: webhookId })
      })

      /** Finds the events of endpoints that were not accepted, as far as the limit goes. */
      const plan = Effect.fnUntraced(function* ({ limit = REDELIVERY_LIMIT, since, webhookId }: RedeliverInput) {
        const endpoints = yield* selected(webhookId)
        const planned: Array<RedeliveredWebhook & { readonly failedIds: ReadonlyArray<string> }> = []
        let [left, isWhole] = [limit, endpoints.length <= LIMIT]
        for (const endpoint of endpoints.slice(0, LIMIT)) {
          if (left <= 0) {
            isWhole = false
            break
          }
          const { tenantId, types } = endpoint.webhook
          const filter = { from: since, ...(types === null ? {} : { types }) }
          const open = yield* events.list(
            tenantId,
            { ...filter, statuses: ["pending", "delivered"] },
            undefined,
            left + 1
          )
          const room = Math.max(0, left - open.length)
          const ended = yield* events.list(tenantId, { ...filter, statuses: ["failed"] }, undefined, room + 1)
          isWhole = isWhole && open.length <= left && ended.length <= room
          const failedIds = ended.slice(0, room).map(({ eventId }) => eventId)
          const waiting = Math.min(open.length, left)
          left -= waiting + failedIds.length
          planned.push({ ...placeOf(endpoint), failed: failedIds.length, waiting, failedIds })
        }
        return { planned, isWhole }
      })

      const toResult = ({ isWhole, planned }: Effect.Success<ReturnType<typeof plan>>): RedeliveryReport => ({
        items: planned.map(({ failedIds: _, ...item }) => item),
        isWhole
      })

      const queueAgain = Effect.fnUntraced(function* (input: RedeliverInput) {
        const found = yield* selected(input.webhookId)
        yield* tenants.lock([...new Set(found.map(({ webhook }) => webhook.tenantId))])
        const planned = yield* plan(input)
        for (const { failedIds, tenantId, webhookId } of planned.planned) {
          yield* events.requeue(tenantId, failedIds)
          yield* store.restart(webhookId, (progress) => Webhook.recovered(progress, input.since))
        }
        const result = toResult(planned)
        const states = result.items.map(({ state, webhookId }) => ({ webhookId, state }))
        yield* recordChange({ webhooks: states }, { since: Timestamp.toIso(input.since), ...result })
        return result
      })

      return WebhookAdministration.of({
        list: Effect.fnUntraced(function* ({ cursor, limit = DEFAULT_LIMIT, tenant, ...query }) {
          const tenantId = tenant === undefined ? undefined : yield* tenantIdOf(tenants, tenant)
          const found = yield* store.list({ ...query, tenantId, after: cursor, limit: limit + 1 })
          const now = yield* Timestamp.now
          const items = found.slice(0, limit).map((endpoint) => toReport(endpoint, now))
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.webhookId ?? null) : null }
        }),
        preview: (input) => Effect.map(plan(input), toResult),
        redeliver: Effect.fnUntraced(function* (input) {
          const result = yield* transact(queueAgain(input))
          const ids = result.items.map(({ webhookId }) => webhookId).join(", ")
          yield* Effect.logWarning(`event webhooks restarted by the operator: ${ids}`)
          return result
        })
      })
    })
  )
}

const placeOf = ({ progress, webhook }: WebhookEndpoint) => {
  const isFailing = webhook.state === "active" && (progress.failures > 0 || progress.retries.length > 0)
  const { tenantId, url, webhookId } = webhook
  return { webhookId, tenantId, host: new URL(url).host, state: isFailing ? ("failing" as const) : webhook.state }
}

const toReport = (endpoint: WebhookEndpoint, now: Timestamp.Timestamp): WebhookReport => {
  const { dueAt, isLeased, lastAttempt, progress } = endpoint
  return {
    ...placeOf(endpoint),
    failures: progress.failures,
    waitingRetries: progress.retries.length,
    nextAttempt: dueAt === null ? null : reportedAttempt({ dueAt, isLeased }, now),
    lastDelivery: lastAttempt === null ? null : Webhook.toDeliveryRecord(lastAttempt)
  }
}
