import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import { Keyring } from "../kernel/Keyring.ts"
import { orFail } from "../kernel/Lookup.ts"
import type { Page } from "../kernel/Page.ts"
import { type InvalidRequest, ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import type { Mailbox } from "./Mailbox.ts"
import { DEFAULT_MESSAGE_LIMIT } from "./EmailInput.ts"
import { MailboxStore } from "./MailboxStore.ts"
import type { Message, MessageSummary } from "./Message.ts"
import { MessageStore } from "./MessageStore.ts"
import { ownedMailbox } from "./OwnedMailbox.ts"

/** The read access of a tenant to its mail. All of it is free. */
export class Mailboxes extends Context.Service<
  Mailboxes,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<Mailbox>>
    /** Returns messages of one mailbox or of all mailboxes, newest first. */
    readonly listMessages: (
      tenant: Tenant,
      mailboxId: string | undefined,
      page: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    ) => Effect.Effect<Page<MessageSummary>, ResourceNotFound | ResourceNotOwned | InvalidRequest>
    /** Returns a message with its bodies. If a mailboxId is given, the message must be in that mailbox. */
    readonly getMessage: (
      tenant: Tenant,
      messageId: string,
      mailboxId?: string
    ) => Effect.Effect<Message, ResourceNotFound | ResourceNotOwned>
  }
>()("@agentos/core/email/Mailboxes") {
  static readonly layer = Layer.effect(
    Mailboxes,
    Effect.gen(function* () {
      const mailboxes = yield* MailboxStore
      const messages = yield* MessageStore
      const keyring = yield* Keyring
      return Mailboxes.of({
        list: ({ tenantId }) => mailboxes.list(tenantId),
        listMessages: Effect.fnUntraced(
          function* (tenant, mailboxId, page) {
            if (mailboxId !== undefined) yield* ownedMailbox(mailboxes, tenant, mailboxId)
            const scope = { tenantId: tenant.tenantId, list: "messages", filter: mailboxId ?? null }
            const limit = page.limit ?? DEFAULT_MESSAGE_LIMIT
            const after = page.cursor === undefined ? undefined : yield* Cursor.decode(scope, page.cursor)
            const found = yield* messages.list(tenant.tenantId, mailboxId, after, limit + 1)
            return yield* Cursor.page(scope, found, limit, ({ createdAt, messageId }) => ({ createdAt, id: messageId }))
          },
          Effect.provideService(Keyring, keyring)
        ),
        getMessage: Effect.fnUntraced(function* ({ tenantId }, messageId, mailboxId) {
          const message = yield* orFail(yield* messages.find(tenantId, messageId), "message", messageId)
          return mailboxId === undefined || message.mailboxId === mailboxId
            ? message
            : yield* new ResourceNotFound({ kind: "message", id: messageId })
        })
      })
    })
  )
}
