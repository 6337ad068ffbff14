export * as Base62 from "./kernel/Base62.ts"
export * as Batcher from "./kernel/Batcher.ts"
export * as CallGroup from "./kernel/CallGroup.ts"
export type { Backlog } from "./kernel/Backlog.ts"
export * as Bytes from "./kernel/Bytes.ts"
export * as Cursor from "./kernel/Cursor.ts"
export { DateTime } from "./kernel/DateTime.ts"
export * from "./kernel/Keyring.ts"
export * as Lookup from "./kernel/Lookup.ts"
export * from "./kernel/Page.ts"
export * as PageInput from "./kernel/PageInput.ts"
export * from "./kernel/PlainText.ts"
export * as PollingWorker from "./kernel/PollingWorker.ts"
export * from "./kernel/ProviderError.ts"
export * from "./kernel/WithoutPersons.ts"
export * from "./kernel/ResourceError.ts"

export {
  ConfigurationInvalid,
  type InputKind,
  issuesOf,
  maxEntries,
  settingIssues,
  SettingName
} from "./kernel/SchemaIssues.ts"
export * as Timestamp from "./kernel/Timestamp.ts"
export * as Trace from "./kernel/Trace.ts"
export * from "./kernel/Transactor.ts"
export * as Uuid from "./kernel/Uuid.ts"

export * from "./ingress/ProviderIngress.ts"

export * from "./limits/ByteBudget.ts"
export * from "./limits/Counts.ts"
export * from "./limits/JsonScan.ts"
export * as ClientAddress from "./limits/ClientAddress.ts"
export * as RateLimiter from "./limits/RateLimiter.ts"
export * from "./limits/RateLimitStore.ts"
export { countRefusal, QuotaExceeded, type RefusalReason, TimedQuota } from "./limits/Refusals.ts"

export * as AccessToken from "./tenancy/AccessToken.ts"
export * as CallbackSecret from "./tenancy/CallbackSecret.ts"
export * from "./tenancy/Credentials.ts"
export * from "./tenancy/Retention.ts"
export * as SignIn from "./tenancy/SignIn.ts"
export { type SignInMessage, SignInProtocol, type SignInResource, type SignInTerms } from "./tenancy/SignIn.ts"
export * from "./tenancy/Tenant.ts"
export * from "./tenancy/TenantStore.ts"

export * from "./events/DurableEvent.ts"
export * from "./EventRecord.ts"
export * from "./TenantLimits.ts"
export * as EventMachine from "./events/EventMachine.ts"
export * from "./events/Events.ts"
export * from "./events/EventStore.ts"
export * as WebhookSchedule from "./events/EventWebhook.ts"
export {
  EventWebhook,
  EventWebhookRecord,
  NO_PROGRESS,
  toDeliveryRecord,
  toWebhookRecord,
  type WebhookAttempt,
  WebhookDeliveryRecord,
  type WebhookProgress,
  WebhookRetry
} from "./events/EventWebhook.ts"
export * from "./events/EventWebhooks.ts"
export * as RealtimeSession from "./events/RealtimeSession.ts"
export * from "./events/WebhookClient.ts"
export * as WebhookSecret from "./events/WebhookSecret.ts"
export * from "./events/WebhookStore.ts"
export * as WebhookWorker from "./events/WebhookWorker.ts"

export * from "./catalog/Catalog.ts"
export type { Authentication, Capability } from "./catalog/CatalogRow.ts"
export * from "./catalog/ErrorCode.ts"
export * from "./catalog/NumberCountry.ts"
export type { OperationName, OperationOf, PaidServiceId } from "./catalog/Rows.ts"
export { ServiceId } from "./catalog/ServiceId.ts"
export * as Usdt from "./catalog/Usdt.ts"

export type { Answer } from "./payment/Answer.ts"
export * as Ledger from "./payment/Ledger.ts"
export { LedgerCheck, type TokenLedger } from "./payment/LedgerCheck.ts"
export * from "./payment/OfferReceipts.ts"
export * from "./payment/Operation.ts"
export { WORK_LEASE } from "./payment/OperationJournal.ts"
export * from "./payment/OperationState.ts"
export * from "./payment/OperationStep.ts"
export * from "./payment/OperationStore.ts"
export * from "./payment/OperationWorker.ts"
export * from "./payment/PaidOperations.ts"
export type { PayError, Refused } from "./payment/Paying.ts"
export { IDEMPOTENCY_KEY_LIMIT, type PaidRequest } from "./payment/PaidRequest.ts"
export * from "./payment/PaidService.ts"
export * from "./payment/PaymentAdvice.ts"
export * from "./payment/PaymentError.ts"
export * from "./payment/PaymentNetworks.ts"
export * from "./payment/PaymentRail.ts"
export * from "./payment/PaymentStatus.ts"
export * from "./payment/PaymentTerms.ts"
export * as RequestBinding from "./payment/RequestBinding.ts"
export { ManualRefunds, TransactionHash } from "./payment/ManualRefunds.ts"
export * from "./payment/ManualRefundStore.ts"
export { Sales } from "./payment/Sales.ts"
export * from "./payment/SalesStop.ts"
export * from "./payment/SalesStopStore.ts"
export { type SignedIn, TokenRecovery } from "./payment/TokenRecovery.ts"
export type { ChainComparison, OwnTransfer } from "./payment/TransferComparison.ts"

export * from "./email/AttachmentStore.ts"
export * from "./email/DeliveryReport.ts"
export * from "./email/DomainName.ts"
export * from "./email/EmailAddress.ts"
export * from "./email/EmailInput.ts"
export * from "./email/EmailProvider.ts"
export * from "./email/InboundMail.ts"
export type { InboundSender } from "./email/InboundAdmission.ts"
export * from "./email/InboundMails.ts"
export * from "./email/Label.ts"
export * as LocalPart from "./email/LocalPart.ts"
export * from "./email/Mailbox.ts"
export * from "./email/Mailboxes.ts"
export * from "./email/MailboxMetadata.ts"
export * from "./email/MailboxStore.ts"
export { confirmationLink } from "./email/ConfirmationLink.ts"
export * from "./email/Message.ts"
export { oneTimeCode, type ReadableMail } from "./email/OneTimeCode.ts"
export { DEFAULT_MAIL_POLICY, type InboundPerHour, MailPolicy, type MailUsage } from "./email/MailPolicy.ts"
export { type MessageContent, MessageContents } from "./email/MessageContents.ts"
export { MessageLabels } from "./email/MessageLabels.ts"
export { type GivenUpMessage, ScheduledMessages } from "./email/ScheduledMessages.ts"
export { MessageRetries } from "./email/MessageRetries.ts"
export * from "./email/MessageStore.ts"
export * from "./email/MailboxServices.ts"
export * from "./email/RefusedMail.ts"
export * from "./email/Subject.ts"
export { messageSending } from "./email/MessageSending.ts"
export { filterTerms, messageTerms, searchWords, term } from "./email/MessageTerms.ts"
export * as ReturnPath from "./email/ReturnPath.ts"
export * as SenderPolicy from "./email/SenderPolicy.ts"
export * as SendingQuota from "./email/SendingQuota.ts"
export type { SendingPolicy, SendingRecord } from "./email/SendingQuota.ts"
export { Suppressions } from "./email/Suppression.ts"
export * from "./email/Thread.ts"
export { Threads } from "./email/Threads.ts"

export * from "./phone/AgentCallback.ts"
export * from "./phone/AgentSessions.ts"
export {
  type AgentTurn,
  type ConnectedSession,
  TURNS_IN_FLIGHT_MAX,
  type TurnReply
} from "./phone/ConnectedSessions.ts"
export * from "./phone/AgentSessionStore.ts"
export * as Allowance from "./phone/Allowance.ts"
export * from "./phone/Call.ts"
export { CallRecord, toCallRecord } from "./phone/CallRecord.ts"
export * from "./phone/CallAdmission.ts"
export { readCallerId, type CallerId, WithheldReason } from "./phone/CallerId.ts"
export { CallPolicy, type CallsPerHour, DEFAULT_CALL_POLICY } from "./phone/CallPolicy.ts"
export * as CallProgress from "./phone/CallProgress.ts"
export * from "./phone/Calls.ts"
export * from "./phone/CallStore.ts"
export { makeCarrierNumbers, NumberNotUnrecorded } from "./phone/CarrierNumbers.ts"
export * from "./phone/DeclinedCalls.ts"
export * from "./phone/NumberingPlan.ts"
export { Numbers } from "./phone/Numbers.ts"
export * from "./phone/PhoneInput.ts"
export * from "./phone/PhoneNumber.ts"
export * from "./phone/PhoneNumberStore.ts"
export {
  CALL_TRANSITIONS,
  CallMove,
  CallState,
  NUMBER_TRANSITIONS,
  NumberMove,
  NumberState,
  Suspension
} from "./phone/PhoneState.ts"
export * from "./phone/TelephonyProvider.ts"
export { toTranscriptRecord, TranscriptRecord, Turn, TurnRole, TURNS_MAX } from "./phone/Transcript.ts"
export * from "./phone/Voice.ts"
export * from "./phone/VoiceConversations.ts"
export type { RelayCommand, RelayEvent, SendToRelay } from "./phone/VoiceRelay.ts"

export * as CallWatch from "./jobs/CallWatch.ts"
export { type Job, Jobs } from "./jobs/Job.ts"
export * from "./jobs/JobRunner.ts"
export * from "./jobs/JobStore.ts"
export { numberExpiry, numberNotices } from "./jobs/NumberEnds.ts"
export * as OperationCompletion from "./jobs/OperationCompletion.ts"

export {
  AUDIT_LIMIT,
  AUDIT_REASON_LIMIT,
  audited,
  AuditReason,
  type AuditReport,
  listAudit,
  nameTarget,
  type Mutation,
  QueryAuditInput
} from "./operator/Audit.ts"
export * from "./operator/AuditStore.ts"
export { type CallHistory, listTenantCalls, QueryTenantCallsInput, showCall } from "./operator/CallHistory.ts"
export * from "./operator/MailAdministration.ts"
export { type Condition, type Incident, IncidentKind, INCIDENTS_MAX, type Notification } from "./operator/Incident.ts"
export * from "./operator/IncidentStore.ts"
export {
  ConditionSources,
  type ConditionSource,
  NotInformed,
  type OperatorChannel,
  OperatorChannels
} from "./operator/IncidentWatch.ts"
export { releaseUnrecorded } from "./operator/NumberAdministration.ts"
export * from "./operator/OperationAdministration.ts"
export type { TimelineEntry } from "./operator/OperationTimeline.ts"
export * from "./operator/Operators.ts"
export * from "./operator/OperatorStore.ts"
export * from "./operator/SalesAdministration.ts"
export * from "./operator/StoreFigures.ts"
export * from "./operator/TenantAdministration.ts"
export * from "./operator/TenantDirectory.ts"
export * from "./operator/TenantErasure.ts"
export * from "./operator/TenantErasureStore.ts"
export * from "./operator/TenantExport.ts"
export * from "./operator/WebhookAdministration.ts"
export * from "./operator/TenantRetentions.ts"

export * as Core from "./CoreLayer.ts"
