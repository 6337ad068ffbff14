import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import { Keyring } from "../kernel/Keyring.ts"
import { orFail } from "../kernel/Lookup.ts"
import type { Page } from "../kernel/Page.ts"
import type { InvalidRequest, ResourceNotFound, ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { DEFAULT_MESSAGE_LIMIT } from "./EmailInput.ts"
import { foldLabel } from "./Label.ts"
import { ownedMailbox } from "./Mailboxes.ts"
import { MailboxStore } from "./MailboxStore.ts"
import type { MessageSummary } from "./Message.ts"
import { MessageStore } from "./MessageStore.ts"
import type { Thread, ThreadFilter } from "./Thread.ts"

interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

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
      const keyring = yield* Keyring
      return Threads.of({
        list: Effect.fnUntraced(
          function* (tenant, { label, mailboxId, unread }, { cursor, limit = DEFAULT_MESSAGE_LIMIT }) {
            if (mailboxId !== undefined) yield* ownedMailbox(mailboxes, tenant, mailboxId)
            const { tenantId } = tenant
            const filter = { mailboxId, label: label === undefined ? undefined : foldLabel(label), unread }
            const scope = { tenantId, list: "threads", filter: [mailboxId, filter.label, unread] }
            const after = cursor === undefined ? undefined : yield* Cursor.decode(scope, cursor)
            const found = yield* store.listThreads(tenantId, filter, after, limit + 1)
            return yield* Cursor.page(scope, found, limit, ({ lastMessageAt, lastMessageId }) => ({
              createdAt: lastMessageAt,
              id: lastMessageId
            }))
          },
          Effect.provideService(Keyring, keyring)
        ),
        get: Effect.fnUntraced(
          function* ({ tenantId }, threadId, mailboxId, { cursor, limit = DEFAULT_MESSAGE_LIMIT }) {
            const thread = yield* orFail(yield* store.findThread(tenantId, threadId, mailboxId), "thread", threadId)
            const scope = { tenantId, list: "thread", filter: [thread.mailboxId, threadId] }
            const after = cursor === undefined ? undefined : yield* Cursor.decode(scope, cursor)
            const found = yield* store.listThread(tenantId, thread, after, limit + 1)
            const messages = yield* Cursor.page(scope, found, limit, ({ createdAt, messageId }) => ({
              createdAt,
              id: messageId
            }))
            return { thread, messages }
          },
          Effect.provideService(Keyring, keyring)
        )
      })
    })
  )
}
