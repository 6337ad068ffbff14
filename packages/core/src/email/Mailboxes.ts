import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import { type Lookup, orFail } from "../kernel/Lookup.ts"
import type { Page, PageRequest } from "../kernel/Page.ts"
import { invalid, type InvalidRequest, ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { foldLabel } from "./Label.ts"
import type { Mailbox } from "./Mailbox.ts"
import { DEFAULT_MESSAGE_LIMIT } from "./EmailInput.ts"
import { MailboxStore } from "./MailboxStore.ts"
import type { Message, MessageSummary } from "./Message.ts"
import { type MessageFilter, MessageStore } from "./MessageStore.ts"
import { ResourceGone } from "../payment/PaidService.ts"

/** The read access of a tenant to its mail. All of it is free. */
export class Mailboxes extends Context.Service<
  Mailboxes,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<Mailbox>>
    /** Returns the messages that match a filter, newest first. */
    readonly listMessages: (
      tenant: Tenant,
      filter: MessageFilter,
      page: PageRequest
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
      const readPage = yield* Cursor.reader
      return Mailboxes.of({
        list: ({ tenantId }) => mailboxes.list(tenantId),
        listMessages: Effect.fnUntraced(function* (tenant, given, { cursor, limit = DEFAULT_MESSAGE_LIMIT }) {
          const { tenantId } = tenant
          const filter = { ...given, label: given.label === undefined ? undefined : foldLabel(given.label) }
          const { mailboxId, since, until } = filter
          if (since !== undefined && until !== undefined && since >= until) {
            return yield* invalid("after", "must be earlier than before")
          }
          if (mailboxId !== undefined) yield* ownedMailbox(mailboxes, tenant, mailboxId)
          return yield* readPage(
            { tenantId, list: "messages", filter: scopeOf(filter) },
            { cursor, limit },
            (after, count) => messages.list(tenantId, filter, after, count),
            ({ createdAt, messageId }) => ({ createdAt, id: messageId })
          )
        }),
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

/** Returns the filter as cursors are bound to it: that of a whole mailbox has been its id since the first version. */
const scopeOf = ({ mailboxId, ...rest }: MessageFilter): unknown =>
  Object.values(rest).every((part) => part === undefined)
    ? (mailboxId ?? null)
    : [mailboxId, rest.threadId, rest.direction, rest.from, rest.since, rest.until, rest.words, rest.label, rest.unread]

/** Returns the result of `find` for the tenant. A paid service on a mailbox is never offered without a tenant. */
export const owned = <A>(
  tenant: Tenant | null,
  mailboxId: string,
  find: (tenant: Tenant) => Effect.Effect<Lookup<A>>
): Effect.Effect<A, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a mailbox was called without a tenant"))
    : Effect.flatMap(find(tenant), (found) => orFail(found, "mailbox", mailboxId))

/** Returns the tenant's own mailbox. */
export const ownedMailbox = (
  store: MailboxStore["Service"],
  tenant: Tenant | null,
  mailboxId: string
): Effect.Effect<Mailbox, ResourceNotFound | ResourceNotOwned> =>
  owned(tenant, mailboxId, ({ tenantId }) => store.find(tenantId, mailboxId))

/** Returns the mailbox that was paid for, or fails with `ResourceGone` if it was deleted since. */
export const remainingMailbox = (
  store: MailboxStore["Service"],
  tenant: Tenant,
  mailboxId: string
): Effect.Effect<Mailbox, ResourceGone> =>
  Effect.mapError(
    ownedMailbox(store, tenant, mailboxId),
    () => new ResourceGone({ message: "The mailbox was deleted before the operation could complete." })
  )
