import { OPERATIONS } from "@agentos/api"
import { Mailboxes, MessageContents, toMailboxRecord, toMessageRecord, toMessageSummaryRecord } from "@agentos/core"
import { Effect } from "effect"
import { downloadRoute, tenantRoute } from "../operation/FreeRoute.ts"

export const routes = Effect.gen(function* () {
  const mailboxes = yield* Mailboxes
  const contents = yield* MessageContents
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
    ),

    downloadRoute(OPERATIONS.getAttachment, (tenant, { params: { attachmentId, messageId } }) =>
      contents.openAttachment(tenant, messageId, attachmentId)
    ),

    downloadRoute(OPERATIONS.getRawMessage, (tenant, { params: { messageId } }) => contents.openRaw(tenant, messageId))
  ] as const
})
