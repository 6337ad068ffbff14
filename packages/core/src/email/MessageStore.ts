import { Context, Effect, type Option, Schema } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Position } from "../kernel/Page.ts"
import { IsoTimestamp, type Timestamp, toIso } from "../kernel/Timestamp.ts"
import type { OldRows } from "../tenancy/Retention.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { DeliveryReport } from "./DeliveryReport.ts"
import type { MessageMarks } from "./Label.ts"
import type { Message, MessageSummary } from "./Message.ts"
import type { FeedbackCount, PauseReason, SendingRecord } from "./SendingQuota.ts"
import type { Thread, ThreadFilter } from "./Thread.ts"

/** A message to store, with the key that identifies its duplicates (inbound only) and its raw mail (inbound only). */
export interface NewMessage {
  readonly message: Message
  /**
   * Envelope sender, Message-ID and body hash. Two messages of a mailbox with the same key are duplicates. Null: never
   * a duplicate.
   */
  readonly duplicateKey: string | null
  /** The stored mail from which it was parsed. */
  readonly inboundMailId: string | null
  /** The bytes that it adds to the usage of its mailbox, including raw mail. */
  readonly sizeBytes: number
}

/** The maximum number of reports that are stored for one message; 50 recipients may have several each. */
export const REPORT_LIMIT = 500

/** A report as kept for audit. */
export interface StoredReport {
  /** The id of the mail that contained it. */
  readonly reportId: string
  readonly messageId: string
  readonly receivedAt: Timestamp
  /** The address of the server that sent it. */
  readonly remoteAddress: string
  readonly report: DeliveryReport
}

/** An address that a tenant may no longer write to. */
export interface Suppression {
  /** Folded. */
  readonly address: string
  readonly reason: PauseReason
  readonly createdAt: Timestamp
}

/** A suppression as clients see it. */
export const SuppressionRecord = Schema.Struct({
  address: Schema.String.annotateKey({ description: "The address, in lower case." }),
  reason: Schema.Literals(["bounced", "complained"]).annotateKey({
    description: "bounced: the address does not exist. complained: its owner marked your mail as spam."
  }),
  createdAt: IsoTimestamp.annotateKey({ description: "When the address was suppressed." })
}).annotate({ identifier: "Suppression" })
export type SuppressionRecord = typeof SuppressionRecord.Type

export const toSuppressionRecord = ({ address, createdAt, reason }: Suppression): SuppressionRecord => ({
  address,
  reason,
  createdAt: toIso(createdAt)
})

/** A tenant whose sending is paused after bounces or complaints. */
export interface PausedTenant {
  readonly tenantId: TenantId
  readonly pause: NonNullable<SendingRecord["pause"]>
}

/** Bounces of, or complaints about, a message of a tenant that count towards a pause of its sending. */
export interface Feedback {
  readonly tenantId: TenantId
  readonly reason: PauseReason
  /** Those who count as one reporter each: addresses, or domains with a leading `@`. */
  readonly reporters: ReadonlyArray<string>
  readonly messageId: string
  readonly at: Timestamp
}

/** Selects messages: each given part must match. */
export interface MessageFilter {
  readonly mailboxId?: string | undefined
  readonly threadId?: string | undefined
  readonly direction?: Message["direction"] | undefined
  /** The address of the author, in any case. */
  readonly from?: string | undefined
  /** Created at this time or later. */
  readonly since?: Timestamp | undefined
  /** Created earlier than this time. */
  readonly until?: Timestamp | undefined
  /** An id that a relay gave the message. */
  readonly relayId?: string | undefined
  /** Words as `searchWords` returns them; the message must contain all. */
  readonly words?: ReadonlyArray<string> | undefined
  /** Folded. */
  readonly label?: string | undefined
  readonly unread?: boolean | undefined
}

/**
 * The port that stores messages, the sending records of tenants, and the addresses that a tenant may no longer write
 * to.
 */
export class MessageStore extends Context.Service<
  MessageStore,
  {
    /**
     * Stores messages and returns the ids of the new ones. Duplicates, and messages whose mailbox is gone, are left
     * out.
     */
    readonly insert: (messages: ReadonlyArray<NewMessage>) => Effect.Effect<ReadonlySet<string>>
    readonly find: (tenantId: TenantId, messageId: string) => Effect.Effect<Lookup<Message>>
    /** Returns the messages that match the filter, newest first, strictly after `after` in that order. */
    readonly list: (
      tenantId: TenantId,
      filter: MessageFilter,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<MessageSummary>>
    /**
     * Makes up to `limit` messages searchable that were stored by a version without search, and returns their number.
     * Until then, they match no filter but the mailbox and the time.
     */
    readonly makeSearchable: (limit: number) => Effect.Effect<number>
    /**
     * Adds up to `limit` messages to their threads that were stored by a version without threads, and returns their
     * number. Until then, no thread counts them, and they match no filter by label and none by unread.
     */
    readonly addToThreads: (limit: number) => Effect.Effect<number>
    /**
     * Returns up to `limit` messages that were created at least `age` milliseconds ago, oldest first. Leaves out those
     * that wait for an attempt or have one.
     */
    readonly findOld: (old: OldRows) => Effect.Effect<ReadonlyArray<Pick<Message, "messageId" | "tenantId">>>
    /**
     * Deletes messages of the tenant with their labels, attachments and reports, and their raw mail if no other message refers to
     * it. Returns their number. Leaves out those that wait for an attempt or have one. Call it under the tenant's lock.
     */
    readonly remove: (tenantId: TenantId, messageIds: ReadonlyArray<string>) => Effect.Effect<number>
    /** Returns the marks of those of these messages that exist. */
    readonly findMarks: (
      tenantId: TenantId,
      messageIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, Lookup<MessageMarks>>>
    /** Replaces the marks of messages of the tenant. Call it under the tenant's lock, held since they were read. */
    readonly setMarks: (tenantId: TenantId, marks: ReadonlyMap<string, MessageMarks>) => Effect.Effect<void>
    /**
     * Returns the threads that match the filter, newest activity first, strictly after `after` in that order: the time
     * and the id of the newest message.
     */
    readonly listThreads: (
      tenantId: TenantId,
      filter: ThreadFilter,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Thread>>
    /** Returns a thread. Without a mailbox, that of the mailbox in which it began first. */
    readonly findThread: (
      tenantId: TenantId,
      threadId: string,
      mailboxId: string | undefined
    ) => Effect.Effect<Lookup<Thread>>
    /** Returns the messages of a thread in a mailbox, oldest first, strictly after `after` in that order. */
    readonly listThread: (
      tenantId: TenantId,
      thread: Pick<Thread, "threadId" | "mailboxId">,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<MessageSummary>>
    /**
     * Returns, for each mailbox, the thread of its newest message with one of these Message-IDs. Mailboxes without such
     * a message are left out.
     */
    readonly findThreads: (
      mailboxIds: ReadonlyArray<string>,
      messageIdHeaders: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, string>>
    /** Returns those of these (folded) addresses that the tenant may no longer write to. */
    readonly findSuppressed: (
      tenantId: TenantId,
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Suppresses (folded) addresses for the tenant; returns those that were not suppressed before, each once. */
    readonly suppress: (
      tenantId: TenantId,
      addresses: ReadonlyArray<string>,
      reason: PauseReason
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Returns the suppressions of the tenant by ascending address (code points), strictly after `after`. */
    readonly listSuppressions: (
      tenantId: TenantId,
      after: string | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Suppression>>
    /** Lifts the suppression of a (folded) address. Returns false if the tenant has none. */
    readonly liftSuppression: (tenantId: TenantId, address: string) => Effect.Effect<boolean>
    /** Lifts the suppressions of (folded) addresses that bounced, each for its tenant. Complaints stay. */
    readonly liftBounces: (
      lifted: ReadonlyArray<{ readonly tenantId: TenantId; readonly address: string }>
    ) => Effect.Effect<void>
    /**
     * Stores feedback, and returns how much of the tenant with the same reason is less than `windowMillis` older. A
     * reporter is stored once, with its latest message. Deletes the tenant's feedback that is older.
     */
    readonly addFeedback: (feedback: Feedback, windowMillis: number) => Effect.Effect<FeedbackCount>
    readonly clearFeedback: (tenantId: TenantId) => Effect.Effect<void>
    /** Returns an outbound message of any tenant. For reports about it only. */
    readonly findSent: (messageId: string) => Effect.Effect<Option.Option<MessageSummary>>
    /**
     * Stores a report for audit, unless one with its id is stored or its message already has `REPORT_LIMIT` of them.
     * Returns whether it was stored.
     */
    readonly addReport: (report: StoredReport) => Effect.Effect<boolean>
    /** Returns the reports about a message, oldest first. */
    readonly listReports: (messageId: string) => Effect.Effect<ReadonlyArray<StoredReport>>
    /** Replaces recipients and status of a message, and adds ids of relays. Call it under the tenant's lock, held since they were read. */
    readonly setOutcome: (
      messageId: string,
      outcome: Pick<MessageSummary, "recipients" | "status"> & {
        readonly relayIds?: ReadonlyArray<string> | undefined
      }
    ) => Effect.Effect<void>
    readonly findSending: (tenantId: TenantId) => Effect.Effect<SendingRecord | undefined>
    /** Returns up to `limit` tenants whose sending is paused now, on the store's clock, those whose pause ends first before others. */
    readonly listPaused: (limit: number) => Effect.Effect<ReadonlyArray<PausedTenant>>
    /** Replaces the tenant's record. Code that changes it must hold the tenant's lock from reading to writing. */
    readonly putSending: (tenantId: TenantId, record: SendingRecord) => Effect.Effect<void>
  }
>()("@agentos/core/email/MessageStore") {}

export interface RetryLease {
  readonly messageId: string
  readonly tenantId: TenantId
  /** The number of leases so far, including this one. It is the fence of the lease. */
  readonly attempts: number
}

/** The outbound messages that wait for an attempt, or have one. */
export interface WaitingMessages {
  /** Messages that were scheduled with `sendAt`, before their first attempt. */
  readonly scheduled: number
  /** The others: the relay refused some of their recipients temporarily. */
  readonly deferred: number
  /** When the first of them is due, or its lease ends; null without messages. */
  readonly firstDueAt: Timestamp | null
}

/**
 * A waiting outbound message by its last attempt:
 *
 * - `scheduled`: none, because it is to be sent later;
 * - `deferred`: the relay did not take it for some recipients, or could not be reached;
 * - `sending`: an attempt runs;
 * - `unknown`: the relay may have taken it: the connection was lost after the handover, or the server died.
 */
export const WaitingState = Schema.Literals(["scheduled", "deferred", "sending", "unknown"])
export type WaitingState = typeof WaitingState.Type

/** How an attempt ended that is followed by another. */
export type AttemptOutcome = Extract<WaitingState, "deferred" | "unknown">

export interface WaitingMessage extends RetryLease {
  readonly state: WaitingState
  /** When its next attempt is due, or the lease of this one ends. */
  readonly dueAt: Timestamp
  /** When the tenant wants it sent; null for one that was to be sent at once. */
  readonly sendAt: Timestamp | null
}

/** Selects a page of waiting messages, oldest first. All given conditions must match. */
export interface WaitingMessageQuery {
  readonly state?: WaitingState | undefined
  readonly tenantId?: TenantId | undefined
  /** Only messages before this id. */
  readonly before?: string | undefined
  /** Only messages after the one with this id. */
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * The port that stores which outbound messages are to be sent later, or again, because the relay refused some of their
 * recipients temporarily. Which recipients these are is in the message. A retry ends with its message.
 */
export class MessageRetryStore extends Context.Service<
  MessageRetryStore,
  {
    /**
     * Schedules the first retry of a message, in the transaction that stores the message, after its attempt with this outcome
     * (by default `deferred`). A message with `sendAt` is to be sent later, and had none.
     */
    readonly schedule: (
      messageId: string,
      tenantId: TenantId,
      delayMillis: number,
      after?: AttemptOutcome | { readonly sendAt: Timestamp }
    ) => Effect.Effect<void>
    /**
     * Returns the ids of up to `limit` messages of the tenant that were scheduled with `sendAt` and whose attempts have not
     * ended, those due first.
     */
    readonly listScheduled: (tenantId: TenantId, limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** Ends the retries of a message that were never leased. Returns false, and changes nothing, if it has no such retry. */
    readonly withdraw: (messageId: string) => Effect.Effect<boolean>
    /** Leases up to `limit` due retries for `leaseMillis`, those due first; each lease counts as an attempt. */
    readonly lease: (limit: number, leaseMillis: number) => Effect.Effect<ReadonlyArray<RetryLease>>
    /**
     * Extends the lease to `millis` from now, even if it has expired. Returns false if the retry was leased again or has ended.
     */
    readonly renew: (lease: RetryLease, millis: number) => Effect.Effect<boolean>
    /**
     * Ends the lease with the outcome of its attempt, and schedules the next one in `millis`. Returns false if the retry was
     * leased again or has ended.
     */
    readonly reschedule: (lease: RetryLease, millis: number, outcome: AttemptOutcome) => Effect.Effect<boolean>
    /** Returns a page of waiting messages by their ids, which begin with the time of their creation. */
    readonly listWaiting: (query: WaitingMessageQuery) => Effect.Effect<ReadonlyArray<WaitingMessage>>
    readonly findWaiting: (messageId: string) => Effect.Effect<Option.Option<WaitingMessage>>
    /** Makes a deferred message due at once. Returns false, and changes nothing, for a message in another state. */
    readonly makeDue: (messageId: string) => Effect.Effect<boolean>
    /** Ends the retries of a deferred message. Returns false, and changes nothing, for a message in another state. */
    readonly giveUp: (messageId: string) => Effect.Effect<boolean>
    /** Ends the retries of the message. Returns false, and changes nothing, if the retry was leased again. */
    readonly end: (lease: RetryLease) => Effect.Effect<boolean>
    /** Counts the messages that wait: all of them, or the `limit` that are due first if there are more. */
    readonly countWaiting: (limit: number) => Effect.Effect<WaitingMessages>
  }
>()("@agentos/core/email/MessageRetryStore") {}
