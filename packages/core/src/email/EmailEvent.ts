import { Schema } from "effect"
import { declareEvent, draftEvent, type EventDraft } from "../events/DurableEvent.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { automaticField, type Message, SenderAuthentication } from "./Message.ts"

export const EMAIL_RECEIVED = declareEvent(
  "email.received",
  "Mail arrived at one of your active mailboxes. The payload never contains the body: `emailId` is the `messageId` by which `queryMessages` reads it.",
  {
    mailboxId: Uuid.annotateKey({ description: "Id of the mailbox that received the mail." }),
    emailId: Uuid.annotateKey({ description: "The messageId of the message, with which `queryMessages` reads it." }),
    from: Schema.String.annotateKey({ description: "Address of the author, which only `authentication` can prove." }),
    subject: Schema.String.annotateKey({ description: "Subject, on one line." }),
    authentication: Schema.NullOr(SenderAuthentication).annotateKey({
      description: "Results of the checks of the sender; null for a mail that could not be parsed."
    }),
    automatic: automaticField,
    receivedAt: Timestamp.IsoTimestamp.annotateKey({ description: "When the mail was received." })
  }
)

export const EMAIL_EVENTS = [EMAIL_RECEIVED] as const

/** The event that a message was received. `source` is the mail provider. */
export const emailReceived = (message: Message, source: string): EventDraft =>
  draftEvent(EMAIL_RECEIVED, {
    tenantId: message.tenantId,
    source,
    service: "email",
    resourceId: message.messageId,
    agentId: message.mailboxId,
    once: message.messageId,
    payload: {
      mailboxId: message.mailboxId,
      emailId: message.messageId,
      from: message.from,
      subject: message.subject,
      authentication: message.authentication,
      automatic: message.automatic,
      receivedAt: Timestamp.toIso(message.createdAt)
    }
  })
