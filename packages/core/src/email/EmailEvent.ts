import { Schema } from "effect"
import { declareEvent, draftEvent, type EventDraft } from "../events/DurableEvent.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { type Message, SenderAuthentication } from "./Message.ts"

export const EMAIL_RECEIVED = declareEvent(
  "email.received",
  "Mail arrived at one of your active mailboxes. The payload never contains the body: `emailId` is the `messageId` by which `queryMessages` reads it.",
  {
    mailboxId: Uuid,
    /** The messageId of the message. */
    emailId: Uuid,
    /** The address of the sender, which only `authentication` can prove. */
    from: Schema.String,
    subject: Schema.String,
    /** Null for mail that could not be parsed. */
    authentication: Schema.NullOr(SenderAuthentication),
    receivedAt: Timestamp.IsoTimestamp
  }
)

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
      receivedAt: Timestamp.toIso(message.createdAt)
    }
  })
