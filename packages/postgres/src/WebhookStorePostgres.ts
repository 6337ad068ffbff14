import {
  ATTEMPTS_KEPT,
  type DueWebhooks,
  EventType,
  EventWebhook,
  FAILING_LATER,
  type NextLease,
  type WebhookAttempt,
  type WebhookEndpoint,
  type WebhookProgress,
  type WebhookQuery,
  WebhookRetry,
  WebhookStore,
  type WebhookLease
} from "@agentos/core"
import { Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"
import * as Table from "./Table.ts"

const toTypes = Schema.decodeUnknownSync(Schema.fromJsonString(EventWebhook.fields.types))
const toRetries = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(WebhookRetry)))

const WEBHOOKS = Table.table("event_webhooks", {
  tenantId: Table.uuid("tenant_id"),
  webhookId: Table.uuid("webhook_id"),
  url: Table.text("url"),
  types: Table.asText<EventWebhook["types"]>(toTypes, JSON.stringify).orNull("types"),
  state: Table.textOf<EventWebhook["state"]>().column("state"),
  secret: Table.group({ keyId: Table.integer("secret_key_id"), version: Table.integer("secret_version") }),
  previousSecret: Table.groupOrNull({
    keyId: Table.integer("previous_key_id"),
    version: Table.integer("previous_version"),
    validUntil: Table.moment("previous_valid_until")
  }),
  createdAt: Table.moment("created_at"),
  updatedAt: Table.moment("updated_at"),
  pausedAt: Table.momentOrNull("paused_at")
})

const PROGRESS = {
  retries: Table.asText<WebhookProgress["retries"]>(toRetries, JSON.stringify).column("retries"),
  failures: Table.integer("failures"),
  hasAnswered: Table.boolean("has_answered")
}

const LEASES = Table.table("event_webhooks", {
  webhook: Table.group(WEBHOOKS.fields),
  progress: Table.group(PROGRESS),
  fence: Table.integer("fence")
})

type LeaseRow = Table.Stored<typeof LEASES> & { readonly last_event_id: string | null }

type EndpointRow = Table.Stored<typeof LEASES> & {
  readonly due_at: bigint | null
  readonly is_leased: boolean
}

const toLease = (row: LeaseRow): WebhookLease => ({ ...LEASES.toRecord(row), newestEventId: row.last_event_id })

const ATTEMPTS = Table.table("event_webhook_attempts", {
  deliveryId: Table.uuid("delivery_id"),
  eventId: Table.uuid("event_id"),
  type: Table.literal(EventType).column("type"),
  attempt: Table.integer("attempt"),
  createdAt: Table.moment("created_at"),
  durationMillis: Table.integer("duration_millis"),
  outcome: Table.textOf<WebhookAttempt["outcome"]>().column("outcome"),
  responseStatus: Table.integerOrNull("response_status"),
  error: Table.textOrNull("error"),
  nextAttemptAt: Table.momentOrNull("next_attempt_at")
})

/** The fields that a new webhook of a tenant replaces. */
const { tenantId: _, ...REPLACED } = WEBHOOKS.fields

/** Event webhooks on SQL. Rows of endpoints are locked after their tenant and its events. */
export const layer: Layer.Layer<WebhookStore, never, Database> = Layer.effect(
  WebhookStore,
  Effect.gen(function* () {
    const { sql, transact } = yield* Database
    const { clock } = yield* storeClock
    const columns = sql.literal(WEBHOOKS.qualified)
    const replaced = sql.literal(Table.replace(REPLACED))
    const now = sql`(select now from clock)`

    const set = (webhook: EventWebhook, isSameHost: boolean) => {
      const kept = Parameter.boolean(isSameHost)
      return sql`
        with ${clock()}
        insert into event_webhooks ${Table.insert(sql, { ...Table.valuesOf(WEBHOOKS.fields, webhook), due_at: now })}
        on conflict (tenant_id) do update set
          ${replaced}, due_at = excluded.due_at,
          failures = case when ${kept} then event_webhooks.failures else 0 end,
          has_answered = ${kept} and event_webhooks.has_answered, retries = '[]', fence = event_webhooks.fence + 1,
          leased_until = null, resting = false, seen_event_id = null`
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

    const take = (due: DueWebhooks, limit: number, leaseMillis: number) => sql<LeaseRow>`
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
      returning ${sql.literal(LEASES.qualified)}, (
        select last_event_id from tenants where tenants.tenant_id = event_webhooks.tenant_id
      ) as last_event_id`

    /** The endpoint of a lease that was not lost. A lease that has lapsed is held until another begins. */
    const isHeld = ({ fence, webhook }: WebhookLease) => sql`
      event_webhooks.webhook_id = ${Parameter.uuid(webhook.webhookId)}
        and event_webhooks.fence = ${Parameter.integer(fence)} and event_webhooks.leased_until is not null`

    const renew = (lease: WebhookLease, leaseMillis: number) => sql`
      with ${clock()}
      update event_webhooks set
        leased_until = ${now} + ${Parameter.integer(leaseMillis)}, due_at = ${now} + ${Parameter.integer(leaseMillis)}
      from tenants
      where tenants.tenant_id = event_webhooks.tenant_id and suspended_at is null and ${isHeld(lease)}
      returning event_webhooks.webhook_id`

    const stored = (progress: WebhookProgress) => Table.set(sql, Table.valuesOf(PROGRESS, progress))

    const record = Effect.fnUntraced(function* (
      lease: WebhookLease,
      attempt: WebhookAttempt,
      progress: WebhookProgress,
      state: EventWebhook["state"]
    ) {
      const webhookId = Parameter.uuid(lease.webhook.webhookId)
      const ended = state === "paused" ? sql`, paused_at = ${now}, leased_until = null, due_at = null` : sql``
      const changed = yield* sql`
        with ${clock()}
        update event_webhooks set state = ${Parameter.text(state)}, ${stored(progress)} ${ended}
        where ${isHeld(lease)} returning webhook_id`
      if (changed.length === 0) return false
      yield* sql`
        insert into event_webhook_attempts
        ${Table.insert(sql, { webhook_id: webhookId, ...Table.valuesOf(ATTEMPTS.fields, attempt) })}`
      yield* sql`
        delete from event_webhook_attempts where webhook_id = ${webhookId} and delivery_id <= (
          select delivery_id from event_webhook_attempts where webhook_id = ${webhookId}
          order by delivery_id desc offset ${Parameter.integer(ATTEMPTS_KEPT)} limit 1
        )`
      return true
    })

    const finish = (lease: WebhookLease, { dueIn, isResting }: NextLease, progress: WebhookProgress | null) => {
      const seen = Parameter.uuid(lease.newestEventId)
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
        from tenants where tenants.tenant_id = event_webhooks.tenant_id and ${isHeld(lease)}
        returning event_webhooks.webhook_id`
    }

    const isLeased = sql`coalesce(leased_until > ${now}, false)`

    const inState = (state: NonNullable<WebhookQuery["state"]>): Statement.Fragment => {
      if (state === "paused") return sql`state = 'paused'`
      return state === "due" ? sql`due_at <= ${now}` : sql`state = 'active' and (failures > 0 or retries <> '[]')`
    }

    const conditionsOf = ({ after, state, tenantId, webhookId }: WebhookQuery): ReadonlyArray<Statement.Fragment> => [
      sql`true`,
      ...(state === undefined ? [] : [inState(state)]),
      ...(webhookId === undefined ? [] : [sql`webhook_id = ${Parameter.uuid(webhookId)}`]),
      ...(tenantId === undefined ? [] : [sql`tenant_id = ${Parameter.uuid(tenantId)}`]),
      ...(after === undefined ? [] : [sql`webhook_id > ${Parameter.uuid(after)}`])
    ]

    const list = Effect.fnUntraced(function* (query: WebhookQuery) {
      const rows = yield* sql<EndpointRow>`
        with ${clock()}
        select ${sql.literal(LEASES.columns)}, due_at, ${isLeased} as is_leased from event_webhooks
        where ${sql.and(conditionsOf(query))} order by webhook_id limit ${Parameter.integer(query.limit)}`
      const ids = Parameter.uuids(rows.map(({ webhook_id }) => webhook_id))
      const attempts = yield* sql<Table.Stored<typeof ATTEMPTS> & { readonly webhook_id: string }>`
        select distinct on (webhook_id) webhook_id, ${sql.literal(ATTEMPTS.columns)} from event_webhook_attempts
        where webhook_id = any(${ids}) order by webhook_id, delivery_id desc`
      const last = new Map(attempts.map((row) => [row.webhook_id, ATTEMPTS.toRecord(row)]))
      return rows.map((row): WebhookEndpoint => {
        const { fence: _, ...endpoint } = LEASES.toRecord(row)
        const dueAt = Row.toMomentOrNull(row.due_at)
        return { ...endpoint, dueAt, isLeased: row.is_leased, lastAttempt: last.get(row.webhook_id) ?? null }
      })
    })

    const restart = Effect.fnUntraced(function* (
      webhookId: string,
      change: (progress: WebhookProgress) => WebhookProgress
    ) {
      const [row] = yield* sql<Table.Stored<typeof LEASES>>`
        select ${sql.literal(LEASES.columns)} from event_webhooks
        where webhook_id = ${Parameter.uuid(webhookId)} for update`
      if (row === undefined) return false
      yield* sql`
        with ${clock()}
        update event_webhooks set
          state = 'active', paused_at = null, fence = fence + 1, leased_until = null, due_at = ${now}, resting = false,
          ${stored(change(LEASES.toRecord(row).progress))}
        where webhook_id = ${Parameter.uuid(webhookId)}`
      return true
    })

    return WebhookStore.of({
      set: (webhook, isSameHost) => Row.run(set(webhook, isSameHost)),
      find: (tenantId) =>
        Row.first(WEBHOOKS.toRecord)(
          sql<
            Table.Stored<typeof WEBHOOKS>
          >`select ${columns} from event_webhooks where tenant_id = ${Parameter.uuid(tenantId)}`
        ),
      remove: (tenantId) =>
        Row.any(sql`delete from event_webhooks where tenant_id = ${Parameter.uuid(tenantId)} returning tenant_id`),
      attempts: (webhookId) =>
        Row.all(ATTEMPTS.toRecord)(sql<Table.Stored<typeof ATTEMPTS>>`
          select ${sql.literal(ATTEMPTS.columns)} from event_webhook_attempts where webhook_id = ${Parameter.uuid(webhookId)}
          order by delivery_id desc limit ${Parameter.integer(ATTEMPTS_KEPT)}`),
      take: (due, limit, leaseMillis) => Row.all(toLease)(take(due, limit, leaseMillis)),
      backlog: (limit) =>
        Effect.map(
          orDie(sql<Row.BacklogRow>`
            with ${clock()}, due as materialized (
              select due_at from event_webhooks where due_at <= ${now}
              order by due_at limit ${Parameter.integer(limit)}
            )
            select count(*) as count, min(due_at) as since from due`),
          Row.toBacklog
        ),
      list: (query) => orDie(list(query)),
      restart: (webhookId, change) => transact(orDie(restart(webhookId, change))),
      renew: (lease, leaseMillis) => Row.any(renew(lease, leaseMillis)),
      record: (lease, attempt, progress, state) => transact(orDie(record(lease, attempt, progress, state))),
      finish: (lease, next, progress) => Row.any(finish(lease, next, progress))
    })
  })
)
