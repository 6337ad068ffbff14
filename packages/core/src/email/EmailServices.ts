import { Effect, Layer } from "effect"
import { toStored } from "../payment/PaidService.ts"
import { MailboxCreation } from "./MailboxCreation.ts"
import { MailboxDeletion } from "./MailboxDeletion.ts"
import { MailboxUpdate } from "./MailboxUpdate.ts"
import { MessageSending } from "./MessageSending.ts"

export { MailboxCreation, MailboxDeletion, MailboxUpdate, MessageSending }

/** The paid services of the email half. */
export const emailServices = Layer.mergeAll(
  MailboxCreation.layer,
  MailboxUpdate.layer,
  MailboxDeletion.layer,
  MessageSending.layer
)

export const storedEmailServices = Effect.gen(function* () {
  return [
    toStored(yield* MailboxCreation),
    toStored(yield* MailboxUpdate),
    toStored(yield* MailboxDeletion),
    toStored(yield* MessageSending)
  ]
})
