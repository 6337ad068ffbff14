import { Context, Effect, Layer, Option } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import { Conflict, ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Revoking from "../payment/Revoking.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recipientAfter, statusOf } from "./DeliveryReport.ts"
import type { Message, MessageSummary } from "./Message.ts"
import { MessageRetryStore, MessageStore, type WaitingMessage } from "./MessageStore.ts"
import { hasReachedNobody, isQueued } from "./OutboundMail.ts"

/** A message whose attempts were ended. */
export interface GivenUpMessage {
  readonly message: MessageSummary
  /** Its status before. */
  readonly before: MessageSummary["status"]
  /** The payment of a message that was scheduled. */
  readonly operationId: string | null
  /** Whether the refund is owed, because it reached no recipient. */
  readonly isRefunded: boolean
}

const BY_OPERATOR = "the operator canceled it"

/** Says why a waiting message is not changed now. */
export const whyWaiting = ({
  dueAt,
  messageId,
  state
}: Pick<WaitingMessage, "messageId" | "state"> & { readonly dueAt: string }): string => {
  const next = `It is due at ${dueAt}.`
  if (state === "unknown") {
    return `The relay may have taken the message ${messageId}: its last attempt ended without an answer. ${next}`
  }
  return state === "scheduled"
    ? `The message ${messageId} is sent at the time that its tenant chose. ${next}`
    : `The message ${messageId} is being sent. Read it again in a few seconds.`
}

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
    /**
     * Ends the attempts at a scheduled or deferred message of any tenant, for the operator. Owes the refund as the end of the
     * last attempt would: of a scheduled message that reached no recipient. Fails with `Conflict` for a message that is being sent,
     * and for one that the relay may have taken.
     */
    readonly giveUp: (messageId: string) => Effect.Effect<GivenUpMessage, ResourceNotFound | Conflict>
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

      const giveUpWaiting = Effect.fnUntraced(function* (messageId: string) {
        const found = yield* retries.findWaiting(messageId)
        const sent = yield* messages.findSent(messageId)
        if (Option.isNone(found) || Option.isNone(sent)) {
          return yield* new ResourceNotFound({ kind: "waiting message", id: messageId })
        }
        yield* tenants.lock([found.value.tenantId])
        const isScheduled = found.value.state === "scheduled"
        if (!(yield* isScheduled ? retries.withdraw(messageId) : retries.giveUp(messageId))) {
          const now = Option.getOrElse(yield* retries.findWaiting(messageId), () => found.value)
          const why = whyWaiting({ ...now, dueAt: Timestamp.toIso(now.dueAt) })
          return yield* new Conflict({ message: `${why} Nothing was changed or refunded.` })
        }
        // Read under the lock.
        const message = Option.getOrElse(yield* messages.findSent(messageId), () => sent.value)
        const move = isScheduled ? "Cancel" : "GiveUp"
        const recipients = message.recipients.map((each) =>
          isQueued(each) ? recipientAfter(each, move, BY_OPERATOR) : each
        )
        const status = statusOf(recipients)
        yield* messages.setOutcome(messageId, { recipients, status })
        const { operationId = null, status: before } = message
        const failure = { kind: "canceled", message: `The scheduled message was not sent: ${BY_OPERATOR}` } as const
        const isRefunded = operationId !== null && hasReachedNobody(recipients) && (yield* revoke(operationId, failure))
        return { message: { ...message, recipients, status }, before, operationId, isRefunded }
      })

      return ScheduledMessages.of({
        giveUp: (messageId) => transactor.transact(giveUpWaiting(messageId)),
        cancel: (tenant, messageId) => transactor.transact(cancelLocked(tenant, messageId))
      })
    })
  )
}
