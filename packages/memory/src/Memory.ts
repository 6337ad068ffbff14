import { EventSignal, Transactor } from "@agentos/core"
import { Effect, Layer } from "effect"
import * as AttachmentStoreMemory from "./AttachmentStoreMemory.ts"
import * as AuditStoreMemory from "./AuditStoreMemory.ts"
import * as AgentSessionStoreMemory from "./AgentSessionStoreMemory.ts"
import * as CallStoreMemory from "./CallStoreMemory.ts"
import * as EventStoreMemory from "./EventStoreMemory.ts"
import * as GasTransactionStoreMemory from "./GasTransactionStoreMemory.ts"
import * as InboundMailStoreMemory from "./InboundMailStoreMemory.ts"
import * as IncidentStoreMemory from "./IncidentStoreMemory.ts"
import * as JobStoreMemory from "./JobStoreMemory.ts"
import * as MailboxStoreMemory from "./MailboxStoreMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import * as ManualRefundStoreMemory from "./ManualRefundStoreMemory.ts"
import * as MessageRetryStoreMemory from "./MessageRetryStoreMemory.ts"
import * as MessageStoreMemory from "./MessageStoreMemory.ts"
import * as OperationStoreMemory from "./OperationStoreMemory.ts"
import * as OperatorStoreMemory from "./OperatorStoreMemory.ts"
import * as PhoneNumberStoreMemory from "./PhoneNumberStoreMemory.ts"
import * as RateLimitStoreMemory from "./RateLimitStoreMemory.ts"
import * as RetentionStoreMemory from "./RetentionStoreMemory.ts"
import * as SalesStopStoreMemory from "./SalesStopStoreMemory.ts"
import * as TenantErasureStoreMemory from "./TenantErasureStoreMemory.ts"
import * as TenantStoreMemory from "./TenantStoreMemory.ts"
import * as WebhookStoreMemory from "./WebhookStoreMemory.ts"

/** Transactions in memory, one after the other. A nested one is part of the one around it. */
const transactor = Layer.effect(
  Transactor,
  Effect.map(MemoryDatabase, ({ transact }) => Transactor.of({ transact, ready: Effect.succeed(true) }))
)

/** Wake-ups from the event store of the same database, after each commit. */
const signal = Layer.effect(
  EventSignal,
  Effect.map(MemoryDatabase, ({ listeners }) =>
    EventSignal.of({
      listen: (wake) =>
        Effect.acquireRelease(
          Effect.sync(() => void listeners.add(wake)),
          () => Effect.sync(() => void listeners.delete(wake))
        )
    })
  )
)

/** Every storage port on one database, into whose tables its host can look. */
export const stores = Layer.mergeAll(
  transactor,
  signal,
  AttachmentStoreMemory.layer,
  AuditStoreMemory.layer,
  AgentSessionStoreMemory.layer,
  CallStoreMemory.layer,
  EventStoreMemory.layer,
  GasTransactionStoreMemory.layer,
  InboundMailStoreMemory.layer,
  IncidentStoreMemory.layer,
  JobStoreMemory.layer,
  MailboxStoreMemory.layer,
  ManualRefundStoreMemory.layer,
  MessageRetryStoreMemory.layer,
  MessageStoreMemory.layer,
  OperationStoreMemory.layer,
  OperatorStoreMemory.layer,
  PhoneNumberStoreMemory.layer,
  RateLimitStoreMemory.layer,
  RetentionStoreMemory.layer,
  SalesStopStoreMemory.layer,
  TenantErasureStoreMemory.layer,
  TenantStoreMemory.layer,
  WebhookStoreMemory.layer
)

/** Every storage port, on one database of its own in memory. */
export const layer = Layer.provide(stores, MemoryDatabase.layer)
