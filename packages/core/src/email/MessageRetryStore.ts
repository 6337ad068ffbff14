import { Context, type Effect } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"

/** A lease on the retry of a message. */
export interface RetryLease {
  readonly messageId: string
  readonly tenantId: TenantId
  /** The number of leases so far, including this one. It is the fence of the lease. */
  readonly attempts: number
}

/**
 * The port that stores which outbound messages are to be sent again, because the relay refused some of their recipients
 * temporarily. Which recipients these are is in the message. A retry ends with its message.
 */
export class MessageRetryStore extends Context.Service<
  MessageRetryStore,
  {
    /** Schedules the first retry of a message, in the transaction that stores the message. */
    readonly schedule: (messageId: string, tenantId: TenantId, delayMillis: number) => Effect.Effect<void>
    /** Leases up to `limit` due retries for `leaseMillis`, those due first; each lease counts as an attempt. */
    readonly lease: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<RetryLease>>
    /**
     * Makes the retry due `millis` from now: extends the lease, even if it has expired, or schedules the next attempt.
     * Returns false if the retry was leased again or has ended.
     */
    readonly renew: (lease: RetryLease, millis: number) => Effect.Effect<boolean>
    /** Ends the retries of the message. Returns false, and changes nothing, if the retry was leased again. */
    readonly end: (lease: RetryLease) => Effect.Effect<boolean>
  }
>()("@agentos/core/email/MessageRetryStore") {}
