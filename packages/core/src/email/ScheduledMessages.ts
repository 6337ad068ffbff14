import { Context, Effect, Layer } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import { Conflict, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Revoking from "../payment/Revoking.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recipientAfter } from "./DeliveryReport.ts"
import type { Message } from "./Message.ts"
import { MessageRetryStore, MessageStore } from "./MessageStore.ts"

/** The messages that are to be sent later. */
export class ScheduledMessages extends Context.Service<
  ScheduledMessages,
  {
    /**
     * Cancels a scheduled message, and owes the refund of its payment. Returns the canceled message, also if it was
     * canceled before. Fails with `Conflict` once its first attempt has begun, and for a message that was not scheduled.
     */
    readonly cancel: (
      tenant: Tenant,
      messageId: string
    ) => Effect.Effect<Message, ResourceNotFound | ResourceNotOwned | Conflict>
  }
>()("@agentos/core/email/ScheduledMessages") {
  static readonly layer = Layer.effect(
    ScheduledMessages,
    Effect.gen(function* () {
      const messages = yield* MessageStore
      const retries = yield* MessageRetryStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const { revoke } = yield* Revoking.make

      const conflict = (messageId: string, state: string) =>
        new Conflict({
          message: `The message can't be canceled: ${state}. Nothing was changed or refunded.`,
          read: { kind: "message", id: messageId }
        })

      const cancelLocked = Effect.fnUntraced(function* ({ tenantId }: Tenant, messageId: string) {
        yield* tenants.lock([tenantId])
        const message = yield* orFail(yield* messages.find(tenantId, messageId), "message", messageId)
        const { operationId, status } = message
        if (status === "canceled") return message
        if (status !== "scheduled" || operationId === undefined)
          return yield* conflict(messageId, `it is not scheduled, but ${status}`)
        if (!(yield* retries.withdraw(messageId))) return yield* conflict(messageId, "it is being sent")
        const recipients = message.recipients.map((recipient) => recipientAfter(recipient, "Cancel", null))
        yield* messages.setOutcome(messageId, { recipients, status: "canceled" })
        yield* revoke(operationId, { kind: "canceled", message: "You canceled the scheduled message." })
        return { ...message, recipients, status: "canceled" as const }
      })

      return ScheduledMessages.of({
        cancel: (tenant, messageId) => transactor.transact(cancelLocked(tenant, messageId))
      })
    })
  )
}
