import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import { orFail } from "../kernel/Lookup.ts"
import type { Page, PageRequest } from "../kernel/Page.ts"
import type { InvalidRequest, ResourceNotFound, ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { DEFAULT_MESSAGE_LIMIT } from "./EmailInput.ts"
import { foldLabel } from "./Label.ts"
import { ownedMailbox } from "./Mailboxes.ts"
import { MailboxStore } from "./MailboxStore.ts"
import type { MessageSummary } from "./Message.ts"
import { MessageStore } from "./MessageStore.ts"
import type { Thread, ThreadFilter } from "./Thread.ts"

type ThreadError = ResourceNotFound | ResourceNotOwned | InvalidRequest

/** The threads of a tenant's mail. */
export class Threads extends Context.Service<
  Threads,
  {
    /** Returns the threads that match a filter, newest activity first. */
    readonly list: (tenant: Tenant, filter: ThreadFilter, page: PageRequest) => Effect.Effect<Page<Thread>, ThreadError>
    /**
     * Returns a thread with a page of its messages, oldest first. Without a mailbox, it is that of the mailbox in which
     * it began first.
     */
    readonly get: (
      tenant: Tenant,
      threadId: string,
      mailboxId: string | undefined,
      page: PageRequest
    ) => Effect.Effect<{ readonly thread: Thread; readonly messages: Page<MessageSummary> }, ThreadError>
  }
>()("@agentos/core/email/Threads") {
  static readonly layer = Layer.effect(
    Threads,
    Effect.gen(function* () {
      const mailboxes = yield* MailboxStore
      const store = yield* MessageStore
      const readPage = yield* Cursor.reader
      return Threads.of({
        list: Effect.fnUntraced(function* (tenant, given, { cursor, limit = DEFAULT_MESSAGE_LIMIT }) {
          const { label, mailboxId, unread } = given
          if (mailboxId !== undefined) yield* ownedMailbox(mailboxes, tenant, mailboxId)
          const { tenantId } = tenant
          const filter = { mailboxId, label: label === undefined ? undefined : foldLabel(label), unread }
          return yield* readPage(
            { tenantId, list: "threads", filter: [mailboxId, filter.label, unread] },
            { cursor, limit },
            (after, count) => store.listThreads(tenantId, filter, after, count),
            ({ lastMessageAt, lastMessageId }) => ({ createdAt: lastMessageAt, id: lastMessageId })
          )
        }),
        get: Effect.fnUntraced(function* (
          { tenantId },
          threadId,
          mailboxId,
          { cursor, limit = DEFAULT_MESSAGE_LIMIT }
        ) {
          const thread = yield* orFail(yield* store.findThread(tenantId, threadId, mailboxId), "thread", threadId)
          const messages = yield* readPage(
            { tenantId, list: "thread", filter: [thread.mailboxId, threadId] },
            { cursor, limit },
            (after, count) => store.listThread(tenantId, thread, after, count),
            ({ createdAt, messageId }) => ({ createdAt, id: messageId })
          )
          return { thread, messages }
        })
      })
    })
  )
}
