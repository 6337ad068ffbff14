import { Layer } from "effect"
import * as AttachmentStorePostgres from "./AttachmentStorePostgres.ts"
import * as AuditStorePostgres from "./AuditStorePostgres.ts"
import * as AgentSessionStorePostgres from "./AgentSessionStorePostgres.ts"
import * as CallStorePostgres from "./CallStorePostgres.ts"
import * as EventSignalPostgres from "./EventSignalPostgres.ts"
import * as EventStorePostgres from "./EventStorePostgres.ts"
import * as GasTransactionStorePostgres from "./GasTransactionStorePostgres.ts"
import * as InboundMailStorePostgres from "./InboundMailStorePostgres.ts"
import * as IncidentStorePostgres from "./IncidentStorePostgres.ts"
import * as JobStorePostgres from "./JobStorePostgres.ts"
import * as MailboxStorePostgres from "./MailboxStorePostgres.ts"
import * as ManualRefundStorePostgres from "./ManualRefundStorePostgres.ts"
import * as MessageRetryStorePostgres from "./MessageRetryStorePostgres.ts"
import * as MessageStorePostgres from "./MessageStorePostgres.ts"
import * as OperationStorePostgres from "./OperationStorePostgres.ts"
import * as OperatorStorePostgres from "./OperatorStorePostgres.ts"
import * as PhoneNumberStorePostgres from "./PhoneNumberStorePostgres.ts"
import * as RateLimitStorePostgres from "./RateLimitStorePostgres.ts"
import * as RetentionStorePostgres from "./RetentionStorePostgres.ts"
import * as SalesStopStorePostgres from "./SalesStopStorePostgres.ts"
import * as TenantErasureStorePostgres from "./TenantErasureStorePostgres.ts"
import * as TenantStorePostgres from "./TenantStorePostgres.ts"
import * as TransactorPostgres from "./TransactorPostgres.ts"
import * as WebhookStorePostgres from "./WebhookStorePostgres.ts"

/** Every storage port of the core on one database: `Layer.provide(Postgres.layer, layerPostgres({ url }))`. */
export const layer = Layer.mergeAll(
  TransactorPostgres.layer,
  AgentSessionStorePostgres.layer,
  TenantStorePostgres.layer,
  TenantErasureStorePostgres.layer,
  EventStorePostgres.layer,
  EventSignalPostgres.layer,
  OperationStorePostgres.layer,
  OperatorStorePostgres.layer,
  GasTransactionStorePostgres.layer,
  MailboxStorePostgres.layer,
  ManualRefundStorePostgres.layer,
  MessageStorePostgres.layer,
  MessageRetryStorePostgres.layer,
  AttachmentStorePostgres.layer,
  AuditStorePostgres.layer,
  InboundMailStorePostgres.layer,
  IncidentStorePostgres.layer,
  JobStorePostgres.layer,
  PhoneNumberStorePostgres.layer,
  CallStorePostgres.layer,
  RateLimitStorePostgres.layer,
  RetentionStorePostgres.layer,
  SalesStopStorePostgres.layer,
  WebhookStorePostgres.layer
)
