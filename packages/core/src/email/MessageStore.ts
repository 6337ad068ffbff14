import { Context, Effect } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Position } from "../kernel/Page.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Message, MessageSummary } from "./Message.ts"
import type { SendingRecord } from "./SendingQuota.ts"

/** A message to store, with what makes it recognisable as a copy (inbound alone) and its raw mail (inbound alone). */
export interface NewMessage {
  readonly message: Message
  /** Envelope sender, Message-ID and body hash: two of a mailbox with the same are one. Null: never a copy. */
  readonly duplicateKey: string | null
  /** The stored mail that it was read from. */
  readonly inboundMailId: string | null
  /** What it counts for in the usage of its mailbox, raw mail included. */
  readonly sizeBytes: number
}

/** The port that keeps messages, how much a tenant sends, and the addresses it may no longer write to. */
export class MessageStore extends Context.Service<
  MessageStore,
  {
    /** Stores messages; answers the ids of those that were new. A copy, or one whose mailbox is gone, is left out. */
    readonly insert: (messages: ReadonlyArray<NewMessage>) => Effect.Effect<ReadonlySet<string>>
    readonly find: (tenantId: TenantId, messageId: string) => Effect.Effect<Lookup<Message>>
    /** Newest first, strictly after `after` in that order; of one mailbox, or of all when it is undefined. */
    readonly list: (
      tenantId: TenantId,
      mailboxId: string | undefined,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<MessageSummary>>
    /** For each mailbox, the thread of its newest message whose Message-ID is among the given; mailboxes without one are left out. */
    readonly findThreads: (
      mailboxIds: ReadonlyArray<string>,
      messageIdHeaders: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, string>>
    /** Which of these (folded) addresses the tenant may no longer write to. */
    readonly findSuppressed: (
      tenantId: TenantId,
      addresses: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<string>>
    /** Suppresses (folded) addresses for the tenant; returns how many of them were not suppressed before. */
    readonly suppress: (
      tenantId: TenantId,
      addresses: ReadonlyArray<string>,
      reason: "bounced" | "complained"
    ) => Effect.Effect<number>
    readonly findSending: (tenantId: TenantId) => Effect.Effect<SendingRecord | undefined>
    /** Replaces the tenant's record. Whoever changes it holds the tenant's lock since it was read. */
    readonly putSending: (tenantId: TenantId, record: SendingRecord) => Effect.Effect<void>
  }
>()("@agentos/core/email/MessageStore") {}
