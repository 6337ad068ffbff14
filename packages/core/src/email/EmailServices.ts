import { Effect } from "effect"
import { toStored } from "../payment/PaidService.ts"
import { mailboxCreation, mailboxDeletion, mailboxUpdate } from "./MailboxServices.ts"
import { messageSending } from "./MessageSending.ts"

/** The paid services of the email half. */
export const emailServices = Effect.all([
  Effect.map(mailboxCreation, toStored),
  Effect.map(mailboxUpdate, toStored),
  Effect.map(mailboxDeletion, toStored),
  Effect.map(messageSending, toStored)
])
