import { Context, type Effect, Schema } from "effect"
import type { TenantId } from "./Tenant.ts"

/** The data of which an operator may keep another period for one tenant. */
export const RetainedData = Schema.Literals(["messages", "calls", "transcripts", "events", "answers"])
export type RetainedData = typeof RetainedData.Type

/** The shortest periods, in days: events can be replayed, and answers repeated, for 30 days. */
export const RETENTION_DAYS_MIN: Readonly<Record<RetainedData | "audit", number>> = {
  messages: 1,
  calls: 1,
  transcripts: 1,
  events: 30,
  answers: 30,
  audit: 365
}
export const RETENTION_DAYS_MAX = 36_500

/** How long data is kept that has no policy of its own, in milliseconds; null: permanently. Configured by the operator. */
export interface RetentionPolicy {
  /**
   * The answers of final operations after their claim, with requests and authorizations. What the ledger is compared with,
   * and the keys that prevent another charge, are kept permanently.
   */
  readonly answers: number | null
  /** The records of operators' changes. */
  readonly audit: number | null
}

export const DEFAULT_RETENTION_POLICY: RetentionPolicy = { answers: null, audit: null }

/** The policy of the host; `DEFAULT_RETENTION_POLICY` unless the host provides another. */
export const RetentionPolicy = Context.Reference<RetentionPolicy>("@agentos/core/tenancy/RetentionPolicy", {
  defaultValue: () => DEFAULT_RETENTION_POLICY
})

/** The tenant whose rows a job deletes; or the tenants of which it deletes none, because they have a period of their own. */
export interface RetentionScope {
  readonly tenantId?: TenantId
  readonly except?: ReadonlyArray<TenantId>
}

/** Selects up to `limit` rows of at least `age` milliseconds. */
export interface OldRows extends RetentionScope {
  readonly age: number
  readonly limit: number
}

/** Another period for one tenant; `age` is null if its data is kept permanently. */
export interface TenantRetention {
  readonly tenantId: TenantId
  readonly data: RetainedData
  readonly age: number | null
}

/** The port that stores the periods of single tenants. */
export class RetentionStore extends Context.Service<
  RetentionStore,
  {
    /** Returns the periods of all tenants for this data, by ascending tenant. */
    readonly listOfData: (data: RetainedData) => Effect.Effect<ReadonlyArray<TenantRetention>>
    readonly listOfTenant: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<TenantRetention>>
    /** Stores a period, or replaces it. Call it under the tenant's lock. */
    readonly put: (retention: TenantRetention) => Effect.Effect<void>
    /** Removes a period, so that the tenant has the default one. */
    readonly remove: (tenantId: TenantId, data: RetainedData) => Effect.Effect<void>
  }
>()("@agentos/core/tenancy/RetentionStore") {}

export const isInScope = ({ except, tenantId }: RetentionScope, owner: TenantId): boolean =>
  tenantId === undefined ? except?.includes(owner) !== true : owner === tenantId
