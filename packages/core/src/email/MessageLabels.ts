import { Context, Effect, Layer } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import * as Lookup from "../kernel/Lookup.ts"
import { invalid, type InvalidRequest, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { UpdateMessagesInput } from "./EmailInput.ts"
import { changeMarks, foldLabel, LABEL_LIMIT, type MessageMarks } from "./Label.ts"
import { MessageStore } from "./MessageStore.ts"

/** The labels and the unread flags of messages. */
export class MessageLabels extends Context.Service<
  MessageLabels,
  {
    /** Changes all of the messages, or none if it fails. Returns the marks of each message after the change. */
    readonly update: (
      tenant: Tenant,
      change: UpdateMessagesInput
    ) => Effect.Effect<ReadonlyMap<string, MessageMarks>, ResourceNotFound | ResourceNotOwned | InvalidRequest>
  }
>()("@agentos/core/email/MessageLabels") {
  static readonly layer = Layer.effect(
    MessageLabels,
    Effect.gen(function* () {
      const messages = yield* MessageStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor

      const requireChange = Effect.fnUntraced(function* ({ addLabels, removeLabels, unread }: UpdateMessagesInput) {
        if (addLabels === undefined && removeLabels === undefined && unread === undefined) {
          return yield* invalid("", "must contain addLabels, removeLabels or unread")
        }
        const removed = new Set(removeLabels?.map(foldLabel))
        const both = addLabels?.findIndex((label) => removed.has(foldLabel(label))) ?? -1
        if (both >= 0) return yield* invalid(`addLabels.${both}`, "is in removeLabels as well")
      })

      const updateLocked = Effect.fnUntraced(function* ({ tenantId }: Tenant, change: UpdateMessagesInput) {
        yield* tenants.lock([tenantId])
        const found = yield* messages.findMarks(tenantId, change.messageIds)
        const changed = new Map<string, MessageMarks>()
        for (const [place, messageId] of change.messageIds.entries()) {
          const marks = yield* orFail(found.get(messageId) ?? Lookup.missing, "message", messageId)
          const after = changeMarks(marks, change)
          if (after.labels.length > LABEL_LIMIT) {
            return yield* invalid(
              `messageIds.${place}`,
              `would have ${after.labels.length} labels; the maximum is ${LABEL_LIMIT}. Remove some in the same request`
            )
          }
          changed.set(messageId, after)
        }
        yield* messages.setMarks(tenantId, changed)
        return changed
      })

      return MessageLabels.of({
        update: Effect.fnUntraced(function* (tenant, change) {
          yield* requireChange(change)
          return yield* transactor.transact(updateLocked(tenant, change))
        })
      })
    })
  )
}
