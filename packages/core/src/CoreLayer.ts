import { Effect, Layer } from "effect"
import { InboundMails } from "./email/InboundMails.ts"
import { Mailboxes } from "./email/Mailboxes.ts"
import { mailboxCreation, mailboxDeletion, mailboxUpdate } from "./email/MailboxServices.ts"
import { MessageContents } from "./email/MessageContents.ts"
import { MessageRetries } from "./email/MessageRetries.ts"
import { messageSending } from "./email/MessageSending.ts"
import { ScheduledMessages } from "./email/ScheduledMessages.ts"
import { MessageLabels } from "./email/MessageLabels.ts"
import { Suppressions } from "./email/Suppression.ts"
import { Threads } from "./email/Threads.ts"
import { Events } from "./events/Events.ts"
import { EventWebhooks } from "./events/EventWebhooks.ts"
import { type Job, Jobs } from "./jobs/Job.ts"
import { JobRunner } from "./jobs/JobRunner.ts"
import * as LedgerAudit from "./jobs/LedgerAudit.ts"
import { numberExpiry, numberNotices } from "./jobs/NumberEnds.ts"
import * as NumberReconciliation from "./jobs/NumberReconciliation.ts"
import * as StoreUpkeep from "./jobs/StoreUpkeep.ts"
import * as AuditRetention from "./operator/AuditRetention.ts"
import * as IncidentWatch from "./operator/IncidentWatch.ts"
import { MailAdministration } from "./operator/MailAdministration.ts"
import { OperationAdministration } from "./operator/OperationAdministration.ts"
import { Operators } from "./operator/Operators.ts"
import { SalesAdministration } from "./operator/SalesAdministration.ts"
import { TenantAdministration } from "./operator/TenantAdministration.ts"
import { TenantErasure } from "./operator/TenantErasure.ts"
import { TenantRetentions } from "./operator/TenantRetentions.ts"
import { WebhookAdministration } from "./operator/WebhookAdministration.ts"
import { LedgerCheck } from "./payment/LedgerCheck.ts"
import { ManualRefunds } from "./payment/ManualRefunds.ts"
import { OperationWorker } from "./payment/OperationWorker.ts"
import { PaidOperations } from "./payment/PaidOperations.ts"
import { PaidServices, type StoredService, toStored } from "./payment/PaidService.ts"
import { PaymentNetworks } from "./payment/PaymentNetworks.ts"
import { PaymentStatuses } from "./payment/PaymentStatus.ts"
import { Sales } from "./payment/Sales.ts"
import { TokenRecovery } from "./payment/TokenRecovery.ts"
import { AgentSessions } from "./phone/AgentSessions.ts"
import { CallAdmission } from "./phone/CallAdmission.ts"
import { fiveMinuteCall, oneMinuteCall } from "./phone/CallPlacing.ts"
import { CallReports, Calls } from "./phone/Calls.ts"
import { callExtension, inboundMinutes, numberRenewal } from "./phone/Extensions.ts"
import { canadaNumberPurchase, usNumberPurchase } from "./phone/NumberPurchase.ts"
import { Numbers } from "./phone/Numbers.ts"
import { VoiceConversations } from "./phone/VoiceConversations.ts"
import { Credentials } from "./tenancy/Credentials.ts"
import { TenantLimits } from "./TenantLimits.ts"

const emailServices = Effect.all([
  Effect.map(mailboxCreation, toStored),
  Effect.map(mailboxUpdate, toStored),
  Effect.map(mailboxDeletion, toStored),
  Effect.map(messageSending, toStored)
])

const phoneServices = Effect.all([
  Effect.map(usNumberPurchase, toStored),
  Effect.map(canadaNumberPurchase, toStored),
  Effect.map(numberRenewal, toStored),
  Effect.map(inboundMinutes, toStored),
  Effect.map(oneMinuteCall, toStored),
  Effect.map(fiveMinuteCall, toStored),
  Effect.map(callExtension, toStored)
])

const phoneHalf = Layer.mergeAll(CallAdmission.layer, Numbers.layer, Calls.layer, VoiceConversations.layer).pipe(
  Layer.provideMerge(AgentSessions.layer),
  Layer.provideMerge(CallReports.layer)
)

const commonJobs = Effect.zipWith(LedgerAudit.make, StoreUpkeep.make, (audit, upkeep) => [audit, ...upkeep])
const phoneJobs = Effect.all([numberNotices, numberExpiry, NumberReconciliation.make])
const operatorJobs = Effect.zipWith(AuditRetention.make, IncidentWatch.make, (retention, watch) => [
  retention,
  ...watch
])

const concatenated = <A, E1, R1, E2, R2>(
  one: Effect.Effect<ReadonlyArray<A>, E1, R1>,
  other: Effect.Effect<ReadonlyArray<A>, E2, R2>
) => Effect.zipWith(one, other, (a, b) => [...a, ...b])

/** The layer that both halves share, given the paid services and the jobs of the enabled halves. */
const foundation = <R1, R2>(
  stored: Effect.Effect<ReadonlyArray<StoredService>, never, R1>,
  jobs: Effect.Effect<ReadonlyArray<Job>, never, R2>
) => {
  const paidServices = Layer.effect(
    PaidServices,
    Effect.map(stored, (services) => new Map(services.map((service) => [service.serviceId, service])))
  )
  return Layer.mergeAll(
    Credentials.layer,
    Events.layer,
    Mailboxes.layer,
    MessageContents.layer,
    InboundMails.layer,
    MessageRetries.layer,
    Suppressions.layer,
    MessageLabels.layer,
    ScheduledMessages.layer,
    Threads.layer,
    JobRunner.layer.pipe(Layer.provideMerge(Layer.effect(Jobs, jobs)), Layer.provideMerge(LedgerCheck.layer)),
    PaymentStatuses.layer,
    PaymentNetworks.layer,
    PaidOperations.layer.pipe(
      Layer.provideMerge(OperationWorker.layer),
      Layer.provideMerge(paidServices),
      Layer.provideMerge(Sales.layer)
    )
  )
}

/**
 * The email half of the core over its ports. A host provides the ports (storage, keys, payment rail, mail) and gets the
 * whole service except the phone half.
 */
export const layer = foundation(emailServices, commonJobs)

/**
 * Both halves of the core: `layer` plus numbers, calls and event webhooks, for a host that also provides a carrier, a
 * numbering plan, the callback to agents and the client of webhooks.
 */
export const layerWithPhone = Layer.mergeAll(
  ManualRefunds.layer,
  MailAdministration.layer,
  OperationAdministration.layer,
  Operators.layer,
  SalesAdministration.layer,
  TenantAdministration.layer,
  TenantErasure.layer,
  TenantRetentions.layer,
  TenantLimits.layer,
  EventWebhooks.layer,
  WebhookAdministration.layer
).pipe(
  Layer.provideMerge(
    foundation(
      concatenated(emailServices, phoneServices),
      concatenated(concatenated(commonJobs, phoneJobs), operatorJobs)
    )
  ),
  Layer.provideMerge(phoneHalf)
)

/** `layerWithPhone` plus token recovery, for a host that also provides the protocol by which wallets sign in. */
export const layerWithSignIn = TokenRecovery.layer.pipe(Layer.provideMerge(layerWithPhone))
