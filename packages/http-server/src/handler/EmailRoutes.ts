import { OPERATIONS } from "@agentos/api"
import {
  invalid,
  Mailboxes,
  MessageContents,
  MessageLabels,
  ScheduledMessages,
  searchWords,
  Suppressions,
  Threads,
  toMailboxRecord,
  toMessageRecord,
  toMessageSummaryRecord,
  toSuppressionRecord,
  toThreadRecord
} from "@agentos/core"
import { Effect } from "effect"
import { downloadRoute, tenantRoute } from "../operation/FreeRoute.ts"

export const routes = Effect.gen(function* () {
  const mailboxes = yield* Mailboxes
  const contents = yield* MessageContents
  const suppressions = yield* Suppressions
  const threads = yield* Threads
  const labels = yield* MessageLabels
  const scheduled = yield* ScheduledMessages
  return [
    tenantRoute(OPERATIONS.listMailboxes, (tenant) =>
      Effect.map(mailboxes.list(tenant), (found) => ({ items: found.map(toMailboxRecord) }))
    ),

    tenantRoute(
      OPERATIONS.queryMessages,
      Effect.fnUntraced(function* (tenant, { query: { cursor, limit, mailboxId, messageId, ...filters } }) {
        if (messageId !== undefined) {
          const [other] = Object.keys(filters)
          if (other !== undefined) {
            return yield* invalid("messageId", `selects one message, and cannot be combined with ${other}`)
          }
          return { message: toMessageRecord(yield* mailboxes.getMessage(tenant, messageId, mailboxId)) }
        }
        const { after: since, before: until, q, ...rest } = filters
        const filter = { ...rest, mailboxId, since, until, words: q === undefined ? undefined : searchWords(q) }
        const { items, nextCursor } = yield* mailboxes.listMessages(tenant, filter, { limit, cursor })
        return { items: items.map(toMessageSummaryRecord), nextCursor }
      })
    ),

    tenantRoute(
      OPERATIONS.queryThreads,
      Effect.fnUntraced(function* (tenant, { query: { cursor, limit, mailboxId, threadId, ...filters } }) {
        const page = { limit, cursor }
        if (threadId !== undefined) {
          const [other] = Object.keys(filters)
          if (other !== undefined) {
            return yield* invalid("threadId", `selects one thread, and cannot be combined with ${other}`)
          }
          const { messages, thread } = yield* threads.get(tenant, threadId, mailboxId, page)
          const { items, nextCursor } = messages
          return { thread: toThreadRecord(thread), messages: items.map(toMessageSummaryRecord), nextCursor }
        }
        const { items, nextCursor } = yield* threads.list(tenant, { ...filters, mailboxId }, page)
        return { items: items.map(toThreadRecord), nextCursor }
      })
    ),

    tenantRoute(OPERATIONS.updateMessages, (tenant, { payload }) =>
      Effect.map(labels.update(tenant, payload), (changed) => ({
        items: [...changed].map(([messageId, marks]) => ({ messageId, ...marks }))
      }))
    ),

    tenantRoute(OPERATIONS.cancelMessage, (tenant, { payload: { messageId } }) =>
      Effect.map(scheduled.cancel(tenant, messageId), (message) => ({ message: toMessageRecord(message) }))
    ),

    downloadRoute(OPERATIONS.getAttachment, (tenant, { params: { attachmentId, messageId } }) =>
      contents.openAttachment(tenant, messageId, attachmentId)
    ),

    downloadRoute(OPERATIONS.getRawMessage, (tenant, { params: { messageId } }) => contents.openRaw(tenant, messageId)),

    tenantRoute(OPERATIONS.listSuppressions, ({ tenantId }, { query }) =>
      Effect.map(suppressions.list(tenantId, query), ({ items, nextCursor }) => ({
        items: items.map(toSuppressionRecord),
        nextCursor
      }))
    ),

    tenantRoute(OPERATIONS.liftSuppression, ({ tenantId }, { payload: { address } }) =>
      Effect.map(suppressions.lift(tenantId, address), (lifted) => ({ address, lifted }))
    )
  ] as const
})
