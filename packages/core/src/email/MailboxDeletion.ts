import { Effect, Schema } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type PaidService, ResourceGone } from "../payment/PaidService.ts"
import { DeleteMailboxInput } from "./EmailInput.ts"
import { MailboxStore } from "./MailboxStore.ts"
import { ownedMailbox, remainingMailbox } from "./OwnedMailbox.ts"

/** Deletes a mailbox and its messages, and expires its open events. Its address remains reserved for the tenant. */
export const mailboxDeletion = Effect.gen(function* () {
  const store = yield* MailboxStore
  const events = yield* EventStore
  const service: PaidService<DeleteMailboxInput, null, void> = {
    serviceId: "email.mailbox.delete",
    input: DeleteMailboxInput,
    plan: Schema.Null,
    retryFor: Timestamp.HOUR,
    check: (tenant, input) => Effect.asVoid(ownedMailbox(store, tenant, input.mailboxId)),
    prepare: ({ tenant }, input) => Effect.as(ownedMailbox(store, tenant, input.mailboxId), null),
    abandon: () => Effect.void,
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(store, tenant, input.mailboxId)),
    perform: () => Effect.void,
    record: Effect.fnUntraced(function* ({ tenant }, _plan, { mailboxId }) {
      const messagesDeleted = yield* store.remove(tenant.tenantId, mailboxId)
      if (messagesDeleted === undefined) {
        return yield* new ResourceGone({ message: "The mailbox was already deleted." })
      }
      yield* events.expireAgent(tenant.tenantId, mailboxId)
      return { created: false, data: { mailboxId, deleted: true, messagesDeleted } }
    })
  }
  return service
})
