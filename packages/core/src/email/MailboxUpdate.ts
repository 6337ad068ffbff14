import { Effect, Schema } from "effect"
import { invalid } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { PaidService } from "../payment/PaidService.ts"
import { UpdateMailboxInput } from "./EmailInput.ts"
import { type Mailbox, toMailboxRecord } from "./Mailbox.ts"
import { MailboxStore } from "./MailboxStore.ts"
import { ownedMailbox, remainingMailbox } from "./OwnedMailbox.ts"
import * as SenderPolicy from "./SenderPolicy.ts"

export const mailboxUpdate = Effect.gen(function* () {
  const store = yield* MailboxStore
  const service: PaidService<UpdateMailboxInput, null, void> = {
    serviceId: "email.mailbox.update",
    input: UpdateMailboxInput,
    plan: Schema.Null,
    retryFor: Timestamp.HOUR,
    check: Effect.fnUntraced(function* (tenant, input) {
      yield* ownedMailbox(store, tenant, input.mailboxId)
      const { mailboxId: _, ...changes } = input
      if (Object.values(changes).every((value) => value === undefined)) {
        return yield* invalid("", "must contain displayName, outboundSignature, active or senderPolicy")
      }
    }),
    prepare: ({ tenant }, input) => Effect.as(ownedMailbox(store, tenant, input.mailboxId), null),
    abandon: () => Effect.void,
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(store, tenant, input.mailboxId)),
    perform: () => Effect.void,
    record: Effect.fnUntraced(function* ({ tenant }, _plan, input) {
      const current = yield* remainingMailbox(store, tenant, input.mailboxId)
      const mailbox = changed(current, input, yield* Timestamp.now)
      yield* store.update(mailbox)
      return { created: false, data: { mailbox: toMailboxRecord(mailbox) } }
    })
  }
  return service
})

/** Omitted fields stay as they are; an empty text clears the field. */
const changed = (mailbox: Mailbox, input: UpdateMailboxInput, updatedAt: Timestamp.Timestamp): Mailbox => ({
  ...mailbox,
  displayName: input.displayName === undefined ? mailbox.displayName : input.displayName || null,
  outboundSignature:
    input.outboundSignature === undefined ? mailbox.outboundSignature : input.outboundSignature || null,
  active: input.active ?? mailbox.active,
  senderPolicy: input.senderPolicy === undefined ? mailbox.senderPolicy : SenderPolicy.fromInput(input.senderPolicy),
  updatedAt
})
