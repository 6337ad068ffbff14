import {
  isInScope,
  filterTerms,
  Lookup,
  type Message,
  type MessageFilter,
  MessageStore,
  type MessageSummary,
  messageTerms,
  type NewMessage,
  type Position,
  REPORT_LIMIT,
  type Thread,
  threadOf,
  type TenantId,
  Timestamp
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { dropUnusedMail } from "./InboundMailStoreMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { addUsage, compositeKey, type FeedbackRow, removeAttachments, requireTenant, suppressedOf } from "./Tables.ts"

/** Messages in memory, and the suppressed addresses of tenants. */
export const layer = Layer.effect(
  MessageStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { feedback, mailboxes, mailReports, messageRetries, messages, sending, suppressions } = tables

    const isNew = ({ duplicateKey, message: { mailboxId, messageId, tenantId } }: NewMessage): boolean =>
      mailboxes.get(mailboxId)?.tenantId === tenantId &&
      !messages.has(messageId) &&
      (duplicateKey === null || messages.where("duplicateKey", compositeKey(mailboxId, duplicateKey)).length === 0)

    const threadsOf = (tenantId: TenantId): ReadonlyArray<Thread> => {
      const threads = Map.groupBy(
        messages.where("tenant", tenantId).map(({ message }) => message),
        ({ mailboxId, threadId }) => compositeKey(mailboxId, threadId)
      )
      return [...threads.values()].map(threadOf)
    }

    return MessageStore.of({
      insert: (batch) =>
        run(() => {
          const inserted = new Set<string>()
          for (const row of batch) {
            if (!isNew(row)) continue
            messages.set(row.message.messageId, row)
            addUsage(tables, row.message.mailboxId, 1, row.sizeBytes)
            inserted.add(row.message.messageId)
          }
          return inserted
        }),
      find: (tenantId, messageId) => run(() => Lookup.of(messages.get(messageId)?.message, tenantId)),
      list: (tenantId, filter, after, limit) =>
        run(() =>
          messages
            .where("tenant", tenantId)
            .map(({ message }) => message)
            .filter((message) => matches(message, filter) && follows(message, after))
            .toSorted(newestFirst)
            .slice(0, limit)
            .map(summaryOf)
        ),
      makeSearchable: () => Effect.succeed(0),
      addToThreads: () => Effect.succeed(0),
      findOld: ({ age, limit, ...scope }) =>
        run((now) =>
          messages
            .rows()
            .map(({ message }) => message)
            .filter(({ createdAt, messageId }) => createdAt <= now - age && !messageRetries.has(messageId))
            .filter(({ tenantId }) => isInScope(scope, tenantId))
            .toSorted(oldestFirst)
            .slice(0, limit)
            .map(({ messageId, tenantId }) => ({ messageId, tenantId }))
        ),
      remove: (tenantId, messageIds) =>
        run(() => {
          const removed = messageIds
            .flatMap((messageId) => messages.get(messageId) ?? [])
            .filter(({ message }) => message.tenantId === tenantId && !messageRetries.has(message.messageId))
          for (const { inboundMailId, message, sizeBytes } of removed) {
            messages.delete(message.messageId)
            addUsage(tables, message.mailboxId, -1, -sizeBytes)
            removeAttachments(tables, message.messageId)
            for (const [key, { messageId }] of mailReports.entries()) {
              if (messageId === message.messageId) mailReports.delete(key)
            }
            if (inboundMailId !== null) dropUnusedMail(tables, inboundMailId)
          }
          return removed.length
        }),
      findMarks: (tenantId, messageIds) =>
        run(() => {
          const found = messageIds.flatMap((messageId) => messages.get(messageId)?.message ?? [])
          return new Map(
            found.map((message) => [
              message.messageId,
              message.tenantId === tenantId
                ? Lookup.owned({ labels: message.labels, unread: message.unread })
                : Lookup.foreign
            ])
          )
        }),
      setMarks: (tenantId, marks) =>
        run(() => {
          for (const [messageId, { labels, unread }] of marks) {
            const row = messages.get(messageId)
            if (row?.message.tenantId !== tenantId) continue
            messages.set(messageId, { ...row, message: { ...row.message, labels, unread } })
          }
        }),
      listThreads: (tenantId, { label, mailboxId, unread }, after, limit) =>
        run(() =>
          threadsOf(tenantId)
            .filter(
              (thread) =>
                (mailboxId === undefined || thread.mailboxId === mailboxId) &&
                (label === undefined || thread.labels.includes(label)) &&
                (unread === undefined || thread.unreadCount > 0 === unread)
            )
            .map((thread) => ({ thread, createdAt: thread.lastMessageAt, messageId: thread.lastMessageId }))
            .filter((place) => follows(place, after))
            .toSorted(newestFirst)
            .slice(0, limit)
            .map(({ thread }) => thread)
        ),
      findThread: (tenantId, threadId, mailboxId) =>
        run(() => {
          const found = messages
            .where("thread", threadId)
            .map(({ message }) => message)
            .filter((message) => mailboxId === undefined || message.mailboxId === mailboxId)
          if (found.length === 0) return Lookup.missing
          const own = found.filter((message) => message.tenantId === tenantId)
          const [first] = own.toSorted((a, b) => a.createdAt - b.createdAt || (a.mailboxId < b.mailboxId ? -1 : 1))
          if (first === undefined) return Lookup.foreign
          return Lookup.owned(threadOf(own.filter((message) => message.mailboxId === first.mailboxId)))
        }),
      listThread: (tenantId, { mailboxId, threadId }, after, limit) =>
        run(() =>
          messages
            .where("thread", threadId)
            .map(({ message }) => message)
            .filter((message) => message.tenantId === tenantId && message.mailboxId === mailboxId)
            .filter((message) => after === undefined || oldestFirst(message, positioned(after)) > 0)
            .toSorted(oldestFirst)
            .slice(0, limit)
            .map(summaryOf)
        ),
      findThreads: (mailboxIds, messageIdHeaders) =>
        run(() => {
          const threads = new Map<string, string>()
          for (const mailboxId of mailboxIds) {
            const [newest] = messageIdHeaders
              .flatMap((header) => messages.where("header", compositeKey(mailboxId, header)))
              .map(({ message }) => message)
              .toSorted(newestFirst)
            if (newest !== undefined) threads.set(mailboxId, newest.threadId)
          }
          return threads
        }),
      findSuppressed: (tenantId, addresses) => run(() => suppressedOf(tables, tenantId, addresses)),
      suppress: (tenantId, addresses, reason) =>
        Effect.flatMap(Timestamp.now, (createdAt) =>
          run(() => {
            requireTenant(tables, tenantId)
            const fresh = [...new Set(addresses)].filter(
              (address) => !suppressions.has(compositeKey(tenantId, address))
            )
            for (const address of fresh) {
              const suppression = { address, reason, createdAt }
              suppressions.set(compositeKey(tenantId, address), { tenantId, suppression })
            }
            return fresh
          })
        ),
      listSuppressions: (tenantId, after, limit) =>
        run(() =>
          suppressions
            .where("tenant", tenantId)
            .map(({ suppression }) => suppression)
            .filter(({ address }) => after === undefined || address > after)
            .toSorted((a, b) => (a.address < b.address ? -1 : 1))
            .slice(0, limit)
        ),
      liftSuppression: (tenantId, address) => run(() => suppressions.delete(compositeKey(tenantId, address))),
      liftBounces: (lifted) =>
        run(() => {
          for (const { address, tenantId } of lifted) {
            const key = compositeKey(tenantId, address)
            if (suppressions.get(key)?.suppression.reason === "bounced") suppressions.delete(key)
          }
        }),
      addFeedback: ({ at, messageId, reason, reporters, tenantId }, windowMillis) =>
        run(() => {
          requireTenant(tables, tenantId)
          for (const reporter of reporters) {
            const row = { tenantId, reason, reporter, messageId, at }
            feedback.set(feedbackKey(row), row)
          }
          const expired = feedback.where("tenant", tenantId).filter((row) => row.at <= at - windowMillis)
          for (const row of expired) feedback.delete(feedbackKey(row))
          const counted = feedback.where("tenant", tenantId).filter((row) => row.reason === reason)
          return { reporters: counted.length, messages: new Set(counted.map((row) => row.messageId)).size }
        }),
      clearFeedback: (tenantId) =>
        run(() => {
          for (const row of feedback.where("tenant", tenantId)) feedback.delete(feedbackKey(row))
        }),
      findSent: (messageId) =>
        run(() => {
          const message = messages.get(messageId)?.message
          return message?.direction === "outbound" ? Option.some(summaryOf(message)) : Option.none()
        }),
      addReport: (report) =>
        run(() => {
          const key = compositeKey(report.reportId, report.messageId)
          if (mailReports.has(key) || mailReports.where("message", report.messageId).length >= REPORT_LIMIT)
            return false
          mailReports.set(key, report)
          return true
        }),
      listReports: (messageId) =>
        run(() =>
          mailReports
            .where("message", messageId)
            .toSorted((a, b) => a.receivedAt - b.receivedAt || (a.reportId < b.reportId ? -1 : 1))
        ),
      setOutcome: (messageId, { recipients, relayIds = [], status }) =>
        run(() => {
          const row = messages.get(messageId)
          if (row === undefined) return
          const added = relayIds.length === 0 ? {} : { relayIds: [...(row.message.relayIds ?? []), ...relayIds] }
          messages.set(messageId, { ...row, message: { ...row.message, recipients, status, ...added } })
        }),
      findSending: (tenantId) => run(() => sending.get(tenantId)),
      listPaused: (limit) =>
        run((now) =>
          sending
            .entries()
            .flatMap(([tenantId, { pause }]) =>
              pause !== null && pause.until > now ? [{ tenantId: tenantId as TenantId, pause }] : []
            )
            .toSorted((a, b) => a.pause.until - b.pause.until)
            .slice(0, limit)
        ),
      putSending: (tenantId, record) =>
        run(() => {
          requireTenant(tables, tenantId)
          sending.set(tenantId, record)
        })
    })
  })
)

const feedbackKey = ({ reason, reporter, tenantId }: FeedbackRow): string => compositeKey(tenantId, reason, reporter)

const matches = (message: Message, filter: MessageFilter): boolean => {
  const { mailboxId = message.mailboxId, since = message.createdAt, until } = filter
  if (message.mailboxId !== mailboxId || message.createdAt < since) return false
  if (until !== undefined && message.createdAt >= until) return false
  if (filter.label !== undefined && !message.labels.includes(filter.label)) return false
  if (filter.unread !== undefined && message.unread !== filter.unread) return false
  const wanted = filterTerms(filter)
  if (wanted.length === 0) return true
  const terms = new Set(messageTerms(message))
  return wanted.every((each) => terms.has(each))
}

type Placed = Pick<Message, "createdAt" | "messageId">

const newestFirst = (a: Placed, b: Placed): number =>
  b.createdAt - a.createdAt || (a.messageId > b.messageId ? -1 : Number(a.messageId < b.messageId))

const oldestFirst = (a: Placed, b: Placed): number => newestFirst(b, a)

const positioned = ({ createdAt, id }: Position): Placed => ({
  createdAt: Timestamp.fromMillis(createdAt),
  messageId: id
})

/** Returns whether a message comes after a position in a list that begins with the newest. */
const follows = ({ createdAt, messageId }: Placed, after: Position | undefined): boolean =>
  after === undefined || createdAt < after.createdAt || (createdAt === after.createdAt && messageId < after.id)

const summaryOf = ({ extractedText: _1, html: _2, links: _3, text: _4, ...summary }: Message): MessageSummary => summary
