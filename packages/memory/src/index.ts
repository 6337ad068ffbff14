/**
 * Every storage port in memory: for tests, and for hosts that need no durable data.
 *
 * `Memory.layer` provides them all on one database of its own. It has real transactions, which run one after
 * the other, uses Effect's Clock and Random, and reads `EventPolicy` when it is built.
 */
export * as AttachmentStoreMemory from "./AttachmentStoreMemory.ts"
export * as AuditStoreMemory from "./AuditStoreMemory.ts"
export * as AgentSessionStoreMemory from "./AgentSessionStoreMemory.ts"
export * as CallStoreMemory from "./CallStoreMemory.ts"
export * as EventSignalMemory from "./EventSignalMemory.ts"
export * as EventStoreMemory from "./EventStoreMemory.ts"
export * as GasTransactionStoreMemory from "./GasTransactionStoreMemory.ts"
export * as InboundMailStoreMemory from "./InboundMailStoreMemory.ts"
export * as IncidentStoreMemory from "./IncidentStoreMemory.ts"
export * as JobStoreMemory from "./JobStoreMemory.ts"
export * as MailboxStoreMemory from "./MailboxStoreMemory.ts"
export * as Memory from "./Memory.ts"
export * from "./MemoryDatabase.ts"
export * as ManualRefundStoreMemory from "./ManualRefundStoreMemory.ts"
export * as MessageRetryStoreMemory from "./MessageRetryStoreMemory.ts"
export * as MessageStoreMemory from "./MessageStoreMemory.ts"
export * as OperationStoreMemory from "./OperationStoreMemory.ts"
export * as OperatorStoreMemory from "./OperatorStoreMemory.ts"
export * as PhoneNumberStoreMemory from "./PhoneNumberStoreMemory.ts"
export * as RateLimitStoreMemory from "./RateLimitStoreMemory.ts"
export * as RetentionStoreMemory from "./RetentionStoreMemory.ts"
export * as SalesStopStoreMemory from "./SalesStopStoreMemory.ts"
export * as TenantStoreMemory from "./TenantStoreMemory.ts"
export * as TransactorMemory from "./TransactorMemory.ts"
