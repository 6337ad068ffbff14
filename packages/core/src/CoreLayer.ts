import { Effect, Layer } from "effect"
import { InboundMails } from "./email/InboundMails.ts"
import { Mailboxes } from "./email/Mailboxes.ts"
import { MailboxCreation } from "./email/MailboxCreation.ts"
import { MailboxDeletion } from "./email/MailboxDeletion.ts"
import { MailboxUpdate } from "./email/MailboxUpdate.ts"
import { MessageSending } from "./email/MessageSending.ts"
import { Events } from "./events/Events.ts"
import { LedgerCheck } from "./payment/LedgerCheck.ts"
import * as EventExpiry from "./jobs/EventExpiry.ts"
import * as EventRetention from "./jobs/EventRetention.ts"
import * as InboundMailRetention from "./jobs/InboundMailRetention.ts"
import { Jobs } from "./jobs/Job.ts"
import { JobRunner } from "./jobs/JobRunner.ts"
import * as LedgerAudit from "./jobs/LedgerAudit.ts"
import { OperationWorker } from "./payment/OperationWorker.ts"
import { PaidOperations } from "./payment/PaidOperations.ts"
import { PaidServices, toStored } from "./payment/PaidService.ts"
import { Credentials } from "./tenancy/Credentials.ts"

const emailServices = Layer.mergeAll(
  MailboxCreation.layer,
  MailboxUpdate.layer,
  MailboxDeletion.layer,
  MessageSending.layer
)

const paidServices = Layer.effect(
  PaidServices,
  Effect.gen(function* () {
    const services = [
      toStored(yield* MailboxCreation),
      toStored(yield* MailboxUpdate),
      toStored(yield* MailboxDeletion),
      toStored(yield* MessageSending)
    ]
    return new Map(services.map((service) => [service.serviceId, service]))
  })
)

const jobs = Layer.effect(
  Jobs,
  Effect.all([LedgerAudit.make, EventExpiry.make, EventRetention.make, InboundMailRetention.make])
)

/**
 * Every use-case service of the core over its ports. A host provides the ports
 * (storage, keys, payment rail, mail) and has the whole service.
 */
export const layer = Layer.mergeAll(
  Credentials.layer,
  Events.layer,
  Mailboxes.layer,
  InboundMails.layer,
  JobRunner.layer.pipe(Layer.provide(jobs), Layer.provideMerge(LedgerCheck.layer)),
  PaidOperations.layer.pipe(Layer.provideMerge(OperationWorker.layer), Layer.provide(paidServices))
).pipe(Layer.provideMerge(emailServices))
