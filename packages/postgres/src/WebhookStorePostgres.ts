import {
  ATTEMPTS_KEPT,
  type DueWebhooks,
  EventType,
  EventWebhook,
  FAILING_LATER,
  type NextTurn,
  type WebhookAttempt,
  type WebhookProgress,
  WebhookRetry,
  WebhookStore,
  type WebhookTurn
} from "@agentos/core"
import { Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

interface WebhookRow {
  readonly tenant_id: string
  readonly webhook_id: string
  readonly url: string
  readonly types: string | null
  readonly state: EventWebhook["state"]
  readonly secret_key_id: number
  readonly secret_version: number
  readonly previous_key_id: number | null
  readonly previous_version: number | null
  readonly previous_valid_until: bigint | null
  readonly created_at: bigint
  readonly updated_at: bigint
  readonly paused_at: bigint | null
}

const COLUMNS = `tenant_id, webhook_id, url, types, state, secret_key_id, secret_version, previous_key_id,
  previous_version, previous_valid_until, created_at, updated_at, paused_at`

interface TurnRow extends WebhookRow {
  readonly retries: string
  readonly failures: number
  readonly has_answered: boolean
  readonly fence: number
  readonly last_event_id: string | null
}

interface AttemptRow {
  readonly delivery_id: string
  readonly event_id: string
  readonly type: string
  readonly attempt: number
  readonly created_at: bigint
  readonly duration_millis: number
  readonly outcome: WebhookAttempt["outcome"]
  readonly response_status: number | null
  readonly error: string | null
  readonly next_attempt_at: bigint | null
}

const toTypes = Schema.decodeUnknownSync(Schema.fromJsonString(EventWebhook.fields.types))
const toType = Row.literalOf(EventType)
const toRetries = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(WebhookRetry)))

const toWebhook = (row: WebhookRow): EventWebhook => ({
  webhookId: row.webhook_id,
  tenantId: row.tenant_id,
  url: row.url,
  types: row.types === null ? null : toTypes(row.types),
  state: row.state,
  secret: { keyId: row.secret_key_id, version: row.secret_version },
  previousSecret:
    row.previous_key_id === null || row.previous_version === null || row.previous_valid_until === null
      ? null
      : {
          keyId: row.previous_key_id,
          version: row.previous_version,
          validUntil: Row.toMoment(row.previous_valid_until)
        },
  createdAt: Row.toMoment(row.created_at),
  updatedAt: Row.toMoment(row.updated_at),
  pausedAt: Row.toMomentOrNull(row.paused_at)
})

const toTurn = (row: TurnRow): WebhookTurn => ({
  webhook: toWebhook(row),
  fence: row.fence,
  progress: { retries: toRetries(row.retries), failures: row.failures, hasAnswered: row.has_answered },
  newestEventId: row.last_event_id
})

const toAttempt = (row: AttemptRow): WebhookAttempt => ({
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  type: toType(row.type),
  attempt: row.attempt,
  createdAt: Row.toMoment(row.created_at),
  durationMillis: row.duration_millis,
  outcome: row.outcome,
  responseStatus: row.response_status,
  error: row.error,
  nextAttemptAt: Row.toMomentOrNull(row.next_attempt_at)
})

/** Event webhooks on SQL. Rows of endpoints are locked after their tenant and its events. */
export const layer: Layer.Layer<WebhookStore, never, Database> = Layer.effect(
  WebhookStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { clock } = yield* storeClock
    const columns = sql.literal(Row.qualified("event_webhooks", COLUMNS))
    const now = sql`(select now from clock)`

    const set = (webhook: EventWebhook, isSameHost: boolean) => {
      const { previousSecret, secret } = webhook
      const kept = Parameter.boolean(isSameHost)
      return sql`
        with ${clock()}
        insert into event_webhooks (${sql.literal(COLUMNS)}, due_at)
        values (
          ${Parameter.uuid(webhook.tenantId)}, ${Parameter.uuid(webhook.webhookId)}, ${Parameter.text(webhook.url)},
          ${Parameter.text(webhook.types === null ? null : JSON.stringify(webhook.types))},
          ${Parameter.text(webhook.state)}, ${Parameter.integer(secret.keyId)}, ${Parameter.integer(secret.version)},
          ${Parameter.integer(previousSecret?.keyId ?? null)}, ${Parameter.integer(previousSecret?.version ?? null)},
          ${Parameter.integer(previousSecret?.validUntil ?? null)}, ${Parameter.integer(webhook.createdAt)},
          ${Parameter.integer(webhook.updatedAt)}, ${Parameter.integer(webhook.pausedAt)}, ${now}
        )
        on conflict (tenant_id) do update set
          webhook_id = excluded.webhook_id, url = excluded.url, types = excluded.types, state = excluded.state,
          secret_key_id = excluded.secret_key_id, secret_version = excluded.secret_version,
          previous_key_id = excluded.previous_key_id, previous_version = excluded.previous_version,
          previous_valid_until = excluded.previous_valid_until, created_at = excluded.created_at,
          updated_at = excluded.updated_at, paused_at = excluded.paused_at, due_at = excluded.due_at,
          failures = case when ${kept} then event_webhooks.failures else 0 end,
          has_answered = ${kept} and event_webhooks.has_answered, retries = '[]', fence = event_webhooks.fence + 1, leased_until = null, resting = false,
          seen_event_id = null`
    }

    /**
     * Each search uses an index of its own; only the last one reads every endpoint. Arrays show the planner that the rows
     * are then found by their ids.
     */
    const searches = ({ all, woken }: DueWebhooks): ReadonlyArray<Statement.Fragment> => [
      sql`select tenant_id from event_webhooks where due_at <= ${now}`,
      ...(woken.length === 0
        ? []
        : [sql`select tenant_id from event_webhooks where tenant_id = any(${Parameter.uuids(woken)}) and not resting`]),
      ...(all
        ? [
            sql`
              select tenant_id from event_webhooks join tenants using (tenant_id)
              where not resting and last_event_id is distinct from seen_event_id`
          ]
        : [])
    ]

    const take = (due: DueWebhooks, limit: number, leaseMillis: number) => sql<TurnRow>`
      with ${clock()}, found as materialized (
        select tenant_id from event_webhooks
        where tenant_id = any(array(${sql.join(" union all ", false)(searches(due))}))
          and state = 'active' and (leased_until is null or leased_until <= ${now})
          and exists (
            select 1 from tenants where tenants.tenant_id = event_webhooks.tenant_id and suspended_at is null
          )
          ${due.onlyAnswering ? sql`and has_answered and failures = 0` : sql``}
        order by due_at + case when failures > 0 then ${Parameter.integer(FAILING_LATER)} else 0 end nulls last limit ${Parameter.integer(limit)}
        for update of event_webhooks skip locked
      )
      update event_webhooks set
        fence = fence + 1,
        leased_until = ${now} + ${Parameter.integer(leaseMillis)}, due_at = ${now} + ${Parameter.integer(leaseMillis)}
      where tenant_id = any(array(select tenant_id from found))
      returning ${columns}, retries, failures, has_answered, fence, (
        select last_event_id from tenants where tenants.tenant_id = event_webhooks.tenant_id
      ) as last_event_id`

    /** The endpoint of a turn that still holds its lease. A lease that has lapsed is held until another begins. */
    const isHeld = ({ fence, webhook }: WebhookTurn) => sql`
      event_webhooks.webhook_id = ${Parameter.uuid(webhook.webhookId)}
        and event_webhooks.fence = ${Parameter.integer(fence)} and event_webhooks.leased_until is not null`

    const renew = (turn: WebhookTurn, leaseMillis: number) => sql`
      with ${clock()}
      update event_webhooks set
        leased_until = ${now} + ${Parameter.integer(leaseMillis)}, due_at = ${now} + ${Parameter.integer(leaseMillis)}
      from tenants
      where tenants.tenant_id = event_webhooks.tenant_id and suspended_at is null and ${isHeld(turn)}
      returning event_webhooks.webhook_id`

    const stored = ({ failures, hasAnswered, retries }: WebhookProgress) => sql`
      retries = ${Parameter.text(JSON.stringify(retries))}, failures = ${Parameter.integer(failures)},
      has_answered = ${Parameter.boolean(hasAnswered)}`

    const record = Effect.fnUntraced(function* (
      turn: WebhookTurn,
      attempt: WebhookAttempt,
      progress: WebhookProgress,
      state: EventWebhook["state"]
    ) {
      const webhookId = Parameter.uuid(turn.webhook.webhookId)
      const ended = state === "paused" ? sql`, paused_at = ${now}, leased_until = null, due_at = null` : sql``
      const changed = yield* sql`
        with ${clock()}
        update event_webhooks set state = ${Parameter.text(state)}, ${stored(progress)} ${ended}
        where ${isHeld(turn)} returning webhook_id`
      if (changed.length === 0) return false
      yield* sql`
        insert into event_webhook_attempts (
          webhook_id, delivery_id, event_id, type, attempt, created_at, duration_millis, outcome, response_status, error,
          next_attempt_at
        ) values (
          ${webhookId}, ${Parameter.uuid(attempt.deliveryId)}, ${Parameter.uuid(attempt.eventId)},
          ${Parameter.text(attempt.type)}, ${Parameter.integer(attempt.attempt)}, ${Parameter.integer(attempt.createdAt)},
          ${Parameter.integer(attempt.durationMillis)}, ${Parameter.text(attempt.outcome)},
          ${Parameter.integer(attempt.responseStatus)}, ${Parameter.text(attempt.error)},
          ${Parameter.integer(attempt.nextAttemptAt)}
        )`
      yield* sql`
        delete from event_webhook_attempts where webhook_id = ${webhookId} and delivery_id <= (
          select delivery_id from event_webhook_attempts where webhook_id = ${webhookId}
          order by delivery_id desc offset ${Parameter.integer(ATTEMPTS_KEPT)} limit 1
        )`
      return true
    })

    const finish = (turn: WebhookTurn, { dueIn, isResting }: NextTurn, progress: WebhookProgress | null) => {
      const seen = Parameter.uuid(turn.newestEventId)
      const resting = Parameter.boolean(isResting)
      return sql`
        with ${clock()}
        update event_webhooks set
          leased_until = null, resting = ${resting}, seen_event_id = ${seen},
          due_at = case
            when not ${resting} and tenants.last_event_id is distinct from ${seen} then ${now}
            else ${now} + ${Parameter.integer(dueIn)}
          end
          ${progress === null ? sql`` : sql`, ${stored(progress)}`}
        from tenants where tenants.tenant_id = event_webhooks.tenant_id and ${isHeld(turn)}
        returning event_webhooks.webhook_id`
    }

    return WebhookStore.of({
      set: (webhook, isSameHost) => orDie(Effect.asVoid(set(webhook, isSameHost))),
      find: (tenantId) =>
        Effect.map(
          orDie(sql<WebhookRow>`select ${columns} from event_webhooks where tenant_id = ${Parameter.uuid(tenantId)}`),
          Row.first(toWebhook)
        ),
      remove: (tenantId) =>
        Effect.map(
          orDie(sql`delete from event_webhooks where tenant_id = ${Parameter.uuid(tenantId)} returning tenant_id`),
          Row.any
        ),
      attempts: (webhookId) =>
        Effect.map(
          orDie(sql<AttemptRow>`
            select * from event_webhook_attempts where webhook_id = ${Parameter.uuid(webhookId)}
            order by delivery_id desc limit ${Parameter.integer(ATTEMPTS_KEPT)}`),
          Row.all(toAttempt)
        ),
      take: (due, limit, leaseMillis) => Effect.map(orDie(take(due, limit, leaseMillis)), Row.all(toTurn)),
      renew: (turn, leaseMillis) => Effect.map(orDie(renew(turn, leaseMillis)), Row.any),
      record: (turn, attempt, progress, state) => transact(orDie(record(turn, attempt, progress, state))),
      finish: (turn, next, progress) => Effect.map(orDie(finish(turn, next, progress)), Row.any)
    })
  })
)
