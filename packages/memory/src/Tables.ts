import {
  type AttemptOutcome,
  type AuditRecord,
  type Call,
  type DeclinedCalls,
  type DurableEvent,
  type EventWebhook,
  type Feedback,
  type Incident,
  type InboundMail,
  type JobRecord,
  type LedgerBalance,
  type Mailbox,
  type MailUsage,
  type ManualRefund,
  type NewMessage,
  type Operation,
  type Operator,
  type PaymentProof,
  type PhoneNumber,
  type PostedEntry,
  type ProofKey,
  type RetryLease,
  type SalesStop,
  type StoredAttachment,
  type StoredReport,
  type SendingRecord,
  type Suppression,
  proofKey,
  type Tenant,
  type TenantId,
  type Timestamp,
  type Turn,
  type WebhookAttempt,
  type WebhookProgress,
  type TenantRetention
} from "@agentos/core"
import type { GasTransaction, GasWallet } from "@agentos/x402/GasTransactionStore"
import { Table, type UndoLog } from "./Table.ts"

/** Encodes several values as one key, which no other values share. */
export const compositeKey = (...parts: ReadonlyArray<string>): string => JSON.stringify(parts)

/** An event with the state of its delivery. */
export interface EventRow {
  readonly event: DurableEvent
  readonly dedupeKey: string
  /** Remains after it expires, until the next lease counts it as a lapse. */
  readonly lease: {
    readonly sessionId: string
    readonly deliveryId: string
    readonly until: Timestamp.Timestamp
  } | null
  readonly lapses: number
}

/** The last event of a tenant: the next one is created at that time or later, and has a greater id. */
export interface LastEvent {
  readonly createdAt: Timestamp.Timestamp
  readonly eventId: string | undefined
}

/**
 * The state of a local part: owned permanently by the tenant that first had a mailbox with it, and reserved by
 * an operation.
 */
export interface LocalPartRow {
  readonly localPart: string
  readonly owner: TenantId | null
  readonly heldBy: { readonly tenantId: TenantId; readonly operationId: string } | null
}

/** `dueAt` is the end of the lease while an attempt runs. */
export interface RetryRow {
  readonly lease: RetryLease
  readonly dueAt: Timestamp.Timestamp
  readonly sendAt: Timestamp.Timestamp | undefined
  /** The last attempt that ended, and its outcome. */
  readonly ended?: { readonly attempt: number; readonly outcome: AttemptOutcome }
}

/** An inbound mail. It leaves the queue when it is completed. */
export interface InboundMailRow {
  readonly mail: InboundMail
  readonly leasedUntil: Timestamp.Timestamp | null
  readonly completed: boolean
  /** The mailboxes in which it counts as a message until it is completed. */
  readonly mailboxIds: ReadonlyArray<string>
  /** The last attempt that failed, and why. */
  readonly failed?: { readonly attempt: number; readonly failure: string }
  readonly replayedAfter?: number
}

/** An attachment of an outbound message; staged while it has no owner. */
export interface AttachmentRow {
  readonly id: string
  readonly attachment: StoredAttachment
  readonly content: Uint8Array
  readonly operationId: string
  readonly position: number
  readonly owner: { readonly tenantId: TenantId; readonly messageId: string } | null
  readonly stagedAt: Timestamp.Timestamp
}

/** A call, the token that admits one socket to it, the number of its turns, and whether they were deleted. */
export interface CallRow {
  readonly call: Call
  readonly relayTokenHash: string | null
  readonly redeemedHash: string | null
  readonly turnCount: number
  readonly turnsRemoved?: true
}

export type FeedbackRow = Omit<Feedback, "reporters"> & { readonly reporter: string }

/** Returns those of the addresses that the tenant may no longer write to. */
export const suppressedOf = (
  { suppressions }: Tables,
  tenantId: string,
  addresses: ReadonlyArray<string>
): ReadonlyArray<string> =>
  [...new Set(addresses)].filter((address) => suppressions.has(compositeKey(tenantId, address)))

const proofIndex = (key: ProofKey): string => compositeKey(key.network, key.asset, key.payer, key.nonce)

/** The unique keys of operations. Each belongs to one operation permanently. */
export const operationKeys = {
  proof: (key: ProofKey) => proofIndex(key),
  request: (payer: PaymentProof["payer"], endpoint: string, idempotencyKey: string) =>
    compositeKey(payer, endpoint, idempotencyKey)
}

/** An event webhook with its work. */
export interface WebhookRow {
  readonly webhook: EventWebhook
  readonly progress: WebhookProgress
  readonly fence: number
  readonly leasedUntil: Timestamp.Timestamp | null
  /** Null: with the tenant's next event. */
  readonly dueAt: Timestamp.Timestamp | null
  readonly isResting: boolean
  /** The tenant's newest event at the beginning of the last turn. */
  readonly seenEventId: string | null
}

/** The keys of gas wallets and of their transactions. */
export const gasKeys = {
  wallet: ({ address, network }: GasWallet) => compositeKey(network, address),
  transaction: ({ address, network }: GasWallet, accountNonce: number) =>
    compositeKey(network, address, String(accountNonce)),
  reference: ({ address, network }: GasWallet, reference: string) => compositeKey(network, address, reference)
}

/** The one value of the indexes `open` of events and `queue` of operations. */
export const OPEN = "open"

export const isOpen = ({ event }: Pick<EventRow, "event">): boolean =>
  event.status === "pending" || event.status === "delivered"

/** A shared bucket of the rate limiters: the tokens missing at `updatedAt`, and when it is full at the latest. */
export interface RateLimitRow {
  readonly missing: number
  readonly updatedAt: Timestamp.Timestamp
  readonly fullAt: Timestamp.Timestamp
}

/** Makes the tables of a database; their changes are recorded in this undo log. */
export const makeTables = (undoLog: UndoLog) => ({
  /** By tenantId. */
  tenants: new Table<Tenant, "wallet">(undoLog, { wallet: (tenant) => tenant.wallet }),
  /** By tenantId and nonce: when a used sign-in message expires. */
  signIns: new Table<Timestamp.Timestamp>(undoLog, {}),
  /** By eventId. */
  events: new Table<EventRow, "tenant" | "open" | "openOfTenant" | "dedupeKey" | "session">(undoLog, {
    tenant: (row) => row.event.tenantId,
    open: (row) => (isOpen(row) ? OPEN : null),
    openOfTenant: (row) => (isOpen(row) ? row.event.tenantId : null),
    dedupeKey: (row) => compositeKey(row.event.tenantId, row.dedupeKey),
    session: (row) => row.lease?.sessionId ?? null
  }),
  /** By tenantId. */
  lastEvents: new Table<LastEvent>(undoLog, {}),
  /** By operationId. */
  operations: new Table<Operation, "proof" | "request" | "payer" | "queue">(undoLog, {
    proof: (operation) => operationKeys.proof(proofKey(operation.proof)),
    request: (operation) =>
      operationKeys.request(proofKey(operation.proof).payer, operation.endpoint, operation.idempotencyKey),
    payer: (operation) => proofKey(operation.proof).payer,
    queue: ({ dueAt }) => (dueAt === null ? null : OPEN)
  }),
  /** By transferId: the operation that the transfer proves. */
  transfers: new Table<string>(undoLog, {}),
  /** By account, network and asset. */
  balances: new Table<LedgerBalance>(undoLog, {}),
  /** By wallet: the next account nonce. */
  gasWallets: new Table<number>(undoLog, {}),
  /** By wallet and account nonce. */
  gasTransactions: new Table<GasTransaction, "wallet" | "reference">(undoLog, {
    wallet: ({ wallet }) => gasKeys.wallet(wallet),
    reference: ({ reference, wallet }) => gasKeys.reference(wallet, reference)
  }),
  /** By mailboxId. */
  mailboxes: new Table<Mailbox, "tenant" | "localPart">(undoLog, {
    tenant: (mailbox) => mailbox.tenantId,
    localPart: (mailbox) => mailbox.localPart
  }),
  /** By local part. */
  localParts: new Table<LocalPartRow, "operation">(undoLog, {
    operation: (row) => row.heldBy?.operationId ?? null
  }),
  /** By mailboxId. */
  mailUsages: new Table<MailUsage>(undoLog, {}),
  /** By messageId. */
  messages: new Table<NewMessage, "tenant" | "mailbox" | "thread" | "duplicateKey" | "header" | "inboundMail">(
    undoLog,
    {
      tenant: ({ message }) => message.tenantId,
      mailbox: ({ message }) => message.mailboxId,
      thread: ({ message }) => message.threadId,
      duplicateKey: ({ duplicateKey, message }) =>
        duplicateKey === null ? null : compositeKey(message.mailboxId, duplicateKey),
      header: ({ message }) =>
        message.messageIdHeader === null ? null : compositeKey(message.mailboxId, message.messageIdHeader),
      inboundMail: ({ inboundMailId }) => inboundMailId
    }
  ),
  /** By reportId and messageId. */
  mailReports: new Table<StoredReport, "message">(undoLog, { message: ({ messageId }) => messageId }),
  /** By id. */
  sentAttachments: new Table<AttachmentRow, "staged" | "message">(undoLog, {
    staged: ({ operationId, owner }) => (owner === null ? operationId : null),
    message: ({ owner }) => owner?.messageId ?? null
  }),
  /** By phoneNumberId. */
  phoneNumbers: new Table<PhoneNumber, "tenant" | "number" | "active" | "suspended" | "unreleased">(undoLog, {
    tenant: ({ tenantId }) => tenantId,
    number: ({ number, state }) => (state === "released" ? null : number),
    active: ({ state }) => (state === "active" ? OPEN : null),
    suspended: ({ state }) => (state === "suspended" ? OPEN : null),
    unreleased: ({ state }) => (state === "released" ? null : OPEN)
  }),
  /** By number: the operation that has reserved it. */
  reservedNumbers: new Table<{ readonly number: string; readonly operationId: string }, "operation">(undoLog, {
    operation: ({ operationId }) => operationId
  }),
  /** By callId. */
  calls: new Table<CallRow, "provider" | "tenant" | "live" | "outbound" | "watched" | "relay">(undoLog, {
    provider: ({ call }) => call.providerCallId,
    tenant: ({ call }) => call.tenantId,
    live: ({ call }) => (call.state === "ended" ? null : call.phoneNumberId),
    outbound: ({ call }) => (call.direction === "outbound" ? call.tenantId : null),
    watched: ({ call }) => (call.watchAt === null ? null : OPEN),
    relay: ({ relayTokenHash }) => relayTokenHash
  }),
  /** By operationId: the extended call, and the seconds that were added. */
  callExtensions: new Table<{ readonly callId: string; readonly seconds: number }>(undoLog, {}),
  /** By phoneNumberId and caller. */
  declinedCalls: new Table<DeclinedCalls, "number">(undoLog, { number: ({ phoneNumberId }) => phoneNumberId }),
  /** By callId and index. */
  turns: new Table<{ readonly callId: string; readonly turn: Turn }, "call">(undoLog, { call: ({ callId }) => callId }),
  /** By tenantId and address. */
  suppressions: new Table<{ readonly tenantId: TenantId; readonly suppression: Suppression }, "tenant">(undoLog, {
    tenant: ({ tenantId }) => tenantId
  }),
  /** By tenantId, reason and reporter. */
  feedback: new Table<FeedbackRow, "tenant">(undoLog, { tenant: ({ tenantId }) => tenantId }),
  /** By tenantId. */
  sending: new Table<SendingRecord>(undoLog, {}),
  incidents: new Table<Incident>(undoLog, {}),
  /** By tenantId. */
  webhooks: new Table<WebhookRow>(undoLog, {}),
  /** By deliveryId. */
  webhookAttempts: new Table<{ readonly webhookId: string; readonly attempt: WebhookAttempt }, "webhook">(undoLog, {
    webhook: ({ webhookId }) => webhookId
  }),
  /** By name. */
  jobs: new Table<JobRecord>(undoLog, {}),
  /** By operationId. */
  entries: new Table<ReadonlyArray<PostedEntry>>(undoLog, {}),
  /** By transferId. */
  manualRefunds: new Table<ManualRefund>(undoLog, {}),
  /** By name. */
  operators: new Table<Operator>(undoLog, {}),
  /** By auditId. */
  auditRecords: new Table<AuditRecord>(undoLog, {}),
  /** By service. */
  salesStops: new Table<SalesStop>(undoLog, {}),
  /** By tenant and data. */
  retentions: new Table<TenantRetention>(undoLog, {}),
  /** By rule and subject. */
  rateLimits: new Table<RateLimitRow>(undoLog, {}),
  /** By messageId. */
  messageRetries: new Table<RetryRow, "all">(undoLog, { all: () => "all" }),
  /** By inboundMailId. */
  inboundMails: new Table<InboundMailRow, "queue">(undoLog, {
    queue: ({ completed }) => (completed ? null : "waiting")
  })
})
export type Tables = ReturnType<typeof makeTables>

/** Adds to the usage of a mailbox, if the mailbox exists. */
export const addUsage = (
  { mailUsages, mailboxes }: Tables,
  mailboxId: string,
  messages: number,
  bytes: number
): void => {
  if (!mailboxes.has(mailboxId)) return
  const usage = usageOf(mailUsages, mailboxId)
  mailUsages.set(mailboxId, { messages: usage.messages + messages, bytes: usage.bytes + bytes })
}

export const removeAttachments = ({ sentAttachments }: Tables, messageId: string): void => {
  for (const { id } of sentAttachments.where("message", messageId)) sentAttachments.delete(id)
}

export const usageOf = (mailUsages: Tables["mailUsages"], mailboxId: string): MailUsage =>
  mailUsages.get(mailboxId) ?? { messages: 0, bytes: 0 }

/** Dies unless the tenant is stored, like a foreign key in a database. */
export const requireTenant = ({ tenants }: Tables, tenantId: TenantId): void => {
  if (!tenants.has(tenantId)) throw new Error(`tenant ${tenantId} does not exist`)
}
