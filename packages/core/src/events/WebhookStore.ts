import { Context, Effect, Option } from "effect"
import type { Backlog } from "../kernel/Backlog.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { EventWebhook, WebhookAttempt, WebhookProgress } from "./EventWebhook.ts"

/** Number of attempts that are kept for each endpoint. */
export const ATTEMPTS_KEPT = 100

/** The lease of one server on one endpoint. */
export interface WebhookLease {
  readonly webhook: EventWebhook
  /** Raised with each lease and each change by the tenant. Writes under an older one fail. */
  readonly fence: number
  readonly progress: WebhookProgress
  /** The tenant's newest event when the lease began; null without events. */
  readonly newestEventId: string | null
}

/** When an endpoint is due after its lease has ended. */
export interface NextLease {
  /** Milliseconds from now; null: with the next event of the tenant. */
  readonly dueIn: number | null
  /** Whether a new event leaves the due time unchanged. */
  readonly isResting: boolean
}

/**
 * Selects due endpoints: those whose time has come, and those that do not rest and have news. An endpoint has news if
 * its tenant is in `woken` or, with `all`, has a newer event than when the last lease began.
 */
export interface DueWebhooks {
  readonly woken: ReadonlyArray<TenantId>
  readonly all: boolean
  /** Only endpoints that have answered, and have not failed since. */
  readonly onlyAnswering: boolean
}

/** An endpoint with the state of its deliveries. */
export interface WebhookEndpoint {
  readonly webhook: EventWebhook
  readonly progress: WebhookProgress
  /** When it is due, or its lease ends; null: with the next event of the tenant, or not at all if it is paused. */
  readonly dueAt: Timestamp | null
  readonly isLeased: boolean
  /** Null before the first attempt. */
  readonly lastAttempt: WebhookAttempt | null
}

/** Selects a page of endpoints by webhookId. All given conditions must match. */
export interface WebhookQuery {
  /** `due`: its time has come, and no server serves it; `failing`: not paused, and its last attempt, or that at an event, failed. */
  readonly state?: "due" | "failing" | "paused" | undefined
  readonly webhookId?: string | undefined
  readonly tenantId?: TenantId | undefined
  /** Only endpoints after the one with this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Milliseconds added to the due time of an endpoint with failures since its last answer, to sort endpoints. */
export const FAILING_LATER = 10_000

/** The port that stores event webhooks, their leases and their attempts. Leases use the store's own clock. */
export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    /**
     * Stores the endpoint of a tenant, or replaces it: without retries, due at once, its lease ended. The rest of the
     * progress stays if `isSameHost`.
     */
    readonly set: (webhook: EventWebhook, isSameHost: boolean) => Effect.Effect<void>
    readonly find: (tenantId: TenantId) => Effect.Effect<Option.Option<EventWebhook>>
    /** Deletes the endpoint and its attempts. Returns false if the tenant has none. */
    readonly remove: (tenantId: TenantId) => Effect.Effect<boolean>
    /** Returns the last `ATTEMPTS_KEPT` attempts, newest first. */
    readonly attempts: (webhookId: string) => Effect.Effect<ReadonlyArray<WebhookAttempt>>
    /**
     * Leases up to `limit` due endpoints for `leaseMillis`, sorted by due time plus, after failures, `FAILING_LATER`.
     * Skips paused endpoints, those of suspended tenants, and those that another server holds.
     */
    readonly take: (due: DueWebhooks, limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<WebhookLease>>
    /** Counts the endpoints that are due, the longest first, up to `limit`. One that is leased is due at the end of its lease. */
    readonly backlog: (limit: number) => Effect.Effect<Backlog>
    readonly list: (query: WebhookQuery) => Effect.Effect<ReadonlyArray<WebhookEndpoint>>
    /**
     * Ends the lease and a pause of the endpoint, and makes it due at once with the progress that `change` returns for its own.
     * Returns false if it does not exist. Call it in a transaction.
     */
    readonly restart: (
      webhookId: string,
      change: (progress: WebhookProgress) => WebhookProgress
    ) => Effect.Effect<boolean>
    /**
     * Extends the lease to `leaseMillis` from now. Returns false if it was lost: another server has the endpoint, its
     * tenant has changed or deleted it, or was suspended.
     */
    readonly renew: (lease: WebhookLease, leaseMillis: number) => Effect.Effect<boolean>
    /** Stores an attempt and the progress after it, and pauses the endpoint if asked. Returns false without the lease. */
    readonly record: (
      lease: WebhookLease,
      attempt: WebhookAttempt,
      progress: WebhookProgress,
      state: EventWebhook["state"]
    ) => Effect.Effect<boolean>
    /**
     * Ends the lease, and stores the progress unless it is null. The endpoint is due at once, unless it rests, if its
     * tenant has a newer event than when the lease began. Returns false if the lease was lost.
     */
    readonly finish: (lease: WebhookLease, next: NextLease, progress: WebhookProgress | null) => Effect.Effect<boolean>
  }
>()("@agentos/core/events/WebhookStore") {}
