import type {
  AgentSessionStore,
  AttachmentStore,
  AuditStore,
  CallStore,
  EventSignal,
  EventStore,
  InboundMailStore,
  IncidentStore,
  JobStore,
  MailboxStore,
  ManualRefundStore,
  MessageRetryStore,
  MessageStore,
  OperationStore,
  OperatorStore,
  PhoneNumberStore,
  RateLimitStore,
  RetentionStore,
  SalesStopStore,
  TenantErasureStore,
  WebhookStore
} from "@agentos/core"
import { type Contract, type ContractTests, type HarnessServices, type StoreHarness, withHarness } from "./Contract.ts"
import { AttachmentStoreContract } from "./email/AttachmentStoreContract.ts"
import { InboundMailStoreContract } from "./email/InboundMailStoreContract.ts"
import { MailboxStoreContract } from "./email/MailboxStoreContract.ts"
import { MessageRetryStoreContract } from "./email/MessageRetryStoreContract.ts"
import { MessageStoreContract } from "./email/MessageStoreContract.ts"
import { EventStoreContract } from "./events/EventStoreContract.ts"
import { WebhookStoreContract } from "./events/WebhookStoreContract.ts"
import { JobStoreContract } from "./jobs/JobStoreContract.ts"
import { TransactorContract } from "./kernel/TransactorContract.ts"
import { RateLimitStoreContract } from "./limits/RateLimitStoreContract.ts"
import { AuditStoreContract } from "./operator/AuditStoreContract.ts"
import { TenantErasureStoreContract } from "./operator/TenantErasureStoreContract.ts"
import { IncidentStoreContract } from "./operator/IncidentStoreContract.ts"
import { OperatorStoreContract } from "./operator/OperatorStoreContract.ts"
import { ManualRefundStoreContract } from "./payment/ManualRefundStoreContract.ts"
import { OperationStoreContract } from "./payment/OperationStoreContract.ts"
import { SalesStopStoreContract } from "./payment/SalesStopStoreContract.ts"
import { AgentSessionStoreContract } from "./phone/AgentSessionStoreContract.ts"
import { CallStoreContract } from "./phone/CallStoreContract.ts"
import { PhoneNumberStoreContract } from "./phone/PhoneNumberStoreContract.ts"
import { RetentionStoreContract } from "./tenancy/RetentionStoreContract.ts"
import { TenantStoreContract } from "./tenancy/TenantStoreContract.ts"

export type StoragePorts =
  | AgentSessionStore
  | HarnessServices
  | AttachmentStore
  | AuditStore
  | CallStore
  | EventSignal
  | EventStore
  | InboundMailStore
  | JobStore
  | MailboxStore
  | ManualRefundStore
  | MessageRetryStore
  | MessageStore
  | OperationStore
  | OperatorStore
  | IncidentStore
  | PhoneNumberStore
  | RateLimitStore
  | RetentionStore
  | SalesStopStore
  | TenantErasureStore
  | WebhookStore

const registerAll: ContractTests<StoragePorts> = (it, capabilities) => {
  TenantStoreContract.register(it, capabilities)
  AgentSessionStoreContract.register(it, capabilities)
  TransactorContract.register(it, capabilities)
  EventStoreContract.register(it, capabilities)
  OperationStoreContract.register(it, capabilities)
  MailboxStoreContract.register(it, capabilities)
  MessageStoreContract.register(it, capabilities)
  MessageRetryStoreContract.register(it, capabilities)
  AttachmentStoreContract.register(it, capabilities)
  InboundMailStoreContract.register(it, capabilities)
  JobStoreContract.register(it, capabilities)
  PhoneNumberStoreContract.register(it, capabilities)
  CallStoreContract.register(it, capabilities)
  RateLimitStoreContract.register(it, capabilities)
  RetentionStoreContract.register(it, capabilities)
  SalesStopStoreContract.register(it, capabilities)
  ManualRefundStoreContract.register(it, capabilities)
  IncidentStoreContract.register(it, capabilities)
  OperatorStoreContract.register(it, capabilities)
  AuditStoreContract.register(it, capabilities)
  TenantErasureStoreContract.register(it, capabilities)
  WebhookStoreContract.register(it, capabilities)
}

/** All suites on one harness, whose layer is built once for all of them. */
export const StorageContract: Contract<StoragePorts> = Object.assign(
  (harness: StoreHarness<StoragePorts>) => withHarness(harness, registerAll),
  { register: registerAll }
)
