import { OPERATIONS } from "@agentos/api"
import { Mailboxes, toMailboxRecord, toMessageRecord, toMessageSummaryRecord } from "@agentos/core"
import { Effect } from "effect"
import { tenantRoute } from "../operation/FreeRoute.ts"

export const routes = Effect.gen(function* () {
  const mailboxes = yield* Mailboxes
  return [
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
