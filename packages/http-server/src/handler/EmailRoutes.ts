import { OPERATIONS } from "@agentos/api"
import {
  MailboxCreation,
  MailboxDeletion,
  Mailboxes,
  MailboxUpdate,
  MessageSending,
  toMailboxRecord,
  toMessageRecord,
  toMessageSummaryRecord
} from "@agentos/core"
import { Effect } from "effect"
import { tenantRoute } from "../operation/FreeRoute.ts"
import { paidRoute } from "../operation/PaidRoute.ts"

export const routes = Effect.gen(function* () {
  const mailboxes = yield* Mailboxes
  return [
    paidRoute(OPERATIONS.createMailbox, yield* MailboxCreation),
    paidRoute(OPERATIONS.updateMailbox, yield* MailboxUpdate),
    paidRoute(OPERATIONS.deleteMailbox, yield* MailboxDeletion),
    paidRoute(OPERATIONS.sendMessage, yield* MessageSending),

    tenantRoute(OPERATIONS.listMailboxes, (tenant) =>
      Effect.map(mailboxes.list(tenant), (found) => ({ items: found.map(toMailboxRecord) }))
    ),

    tenantRoute(OPERATIONS.queryMessages, (tenant, { query: { cursor, limit, mailboxId, messageId } }) =>
      messageId === undefined
        ? Effect.map(mailboxes.listMessages(tenant, mailboxId, { limit, cursor }), ({ items, nextCursor }) => ({
            items: items.map(toMessageSummaryRecord),
            nextCursor
          }))
        : Effect.map(mailboxes.getMessage(tenant, messageId, mailboxId), (message) => ({
            message: toMessageRecord(message)
          }))
    )
  ] as const
})
