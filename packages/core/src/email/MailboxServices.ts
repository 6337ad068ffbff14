import { Effect, Schema, Struct } from "effect"
import { Conflict, invalid } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { type PaidService, ResourceGone } from "../payment/PaidService.ts"
import * as TokenGrant from "../payment/TokenGrant.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { CreateMailboxInput, DeleteMailboxInput, SCHEDULED_LIMIT, UpdateMailboxInput } from "./EmailInput.ts"
import { EmailProvider } from "./EmailProvider.ts"
import * as LocalPart from "./LocalPart.ts"
import { changeMailbox, newMailbox, toMailboxRecord } from "./Mailbox.ts"
import { hasRoomForMetadata, METADATA_LIMIT } from "./MailboxMetadata.ts"
import { MailboxStore } from "./MailboxStore.ts"
import { EventStore } from "../events/EventStore.ts"
import { ownedMailbox, remainingMailbox } from "./Mailboxes.ts"
import { MessageRetryStore, MessageStore } from "./MessageStore.ts"
import * as Revoking from "../payment/Revoking.ts"

const Plan = Schema.Struct({ ...TokenGrant.TokenGrantPlan, mailboxId: Uuid.Uuid })
type Plan = typeof Plan.Type

/**
 * Creates a mailbox and returns the access token of the wallet. No provider is called: all mail for the domain already
 * arrives at this service.
 */
export const mailboxCreation = Effect.gen(function* () {
  const store = yield* MailboxStore
  const provider = yield* EmailProvider
  const authenticationOf = yield* TokenGrant.make

  /** The conflict that tells a tenant from others. A wallet without a token is told apart only after it has paid. */
  const taken = Effect.fnUntraced(function* (localPart: string, tenantId: TenantId | null) {
    const address = `${localPart}@${provider.domain}`
    const own = tenantId === null ? [] : yield* store.list(tenantId)
    const existing = own.find((mailbox) => mailbox.localPart === localPart)
    return yield* new Conflict({
      ...(existing === undefined ? {} : { read: { kind: "mailbox" as const, id: existing.mailboxId } }),
      message:
        existing === undefined
          ? `localPart is already taken: ${address}. Choose another one, or send your access token if the mailbox was yours.`
          : `localPart is already taken: you own ${address}, the mailbox ${existing.mailboxId}. Use that mailbox, or choose another localPart.`
    })
  })

  /** Whether the local part is available to this tenant only, because it owned a mailbox with it before. */
  const hadBefore = Effect.fnUntraced(function* (localPart: string, tenantId: TenantId | null) {
    return (
      tenantId !== null &&
      !(yield* store.isAvailable(localPart, null)) &&
      (yield* store.isAvailable(localPart, tenantId))
    )
  })

  const service: PaidService<CreateMailboxInput, Plan, void> = {
    serviceId: "email.mailbox.create",
    input: CreateMailboxInput,
    plan: Plan,
    retryFor: Timestamp.HOUR,
    check: Effect.fnUntraced(function* (tenant, input) {
      const localPart = LocalPart.fold(input.localPart)
      const tenantId = tenant?.tenantId ?? null
      // A name may have become reserved after it was sold. It still belongs to the wallet that first owned it.
      if (LocalPart.isReserved(localPart) && !(yield* hadBefore(localPart, tenantId))) {
        return yield* invalid("localPart", "is reserved for the operator of the domain. Choose another one")
      }
      if (!(yield* store.isAvailable(localPart, tenantId))) return yield* taken(localPart, tenantId)
    }),
    prepare: Effect.fnUntraced(function* (context, input) {
      const localPart = LocalPart.fold(input.localPart)
      const reservation = yield* store.reserve(localPart, context.tenant.tenantId, context.operationId)
      return reservation === "reserved"
        ? { ...TokenGrant.planOf(context), mailboxId: yield* Uuid.next }
        : yield* taken(localPart, context.tenant.tenantId)
    }),
    abandon: (context) => store.release(context.operationId),
    record: Effect.fnUntraced(function* ({ createdAt, operationId, tenant }, plan, input) {
      const { localPart, ...settings } = input
      const mailbox = newMailbox(
        {
          mailboxId: plan.mailboxId,
          tenantId: tenant.tenantId,
          localPart: LocalPart.fold(localPart),
          domain: provider.domain,
          createdAt
        },
        settings
      )
      yield* store.create(mailbox, operationId)
      const authentication = yield* authenticationOf(tenant, plan)
      return { created: true, data: { mailbox: toMailboxRecord(mailbox), authentication } }
    })
  }
  return service
})

/**
 * Deletes a mailbox and its messages, refunds those that are scheduled, and expires its open events. Its address remains
 * reserved for the tenant.
 */
export const mailboxDeletion = Effect.gen(function* () {
  const store = yield* MailboxStore
  const events = yield* EventStore
  const messages = yield* MessageStore
  const retries = yield* MessageRetryStore
  const { revoke } = yield* Revoking.make

  /**
   * Returns the operations that paid for scheduled messages of a mailbox. A message whose first attempt has begun is one of
   * them: nothing would record its outcome.
   */
  const findScheduled = Effect.fnUntraced(function* (tenantId: TenantId, mailboxId: string) {
    const messageIds = yield* retries.listScheduled(tenantId, SCHEDULED_LIMIT)
    const found = yield* Effect.forEach(messageIds, (messageId) => messages.find(tenantId, messageId))
    return found.flatMap((each) => {
      if (each._tag !== "Owned" || each.value.mailboxId !== mailboxId || each.value.status !== "scheduled") return []
      return each.value.operationId ?? []
    })
  })

  const service: PaidService<DeleteMailboxInput, null, void> = {
    serviceId: "email.mailbox.delete",
    input: DeleteMailboxInput,
    plan: Schema.Null,
    retryFor: Timestamp.HOUR,
    check: (tenant, input) => Effect.asVoid(ownedMailbox(store, tenant, input.mailboxId)),
    prepare: ({ tenant }, input) => Effect.as(ownedMailbox(store, tenant, input.mailboxId), null),
    abandon: () => Effect.void,
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(store, tenant, input.mailboxId)),
    record: Effect.fnUntraced(function* ({ tenant }, _plan, { mailboxId }) {
      const scheduled = yield* findScheduled(tenant.tenantId, mailboxId)
      const messagesDeleted = yield* store.remove(tenant.tenantId, mailboxId)
      if (messagesDeleted === undefined) {
        return yield* new ResourceGone({ message: "The mailbox was already deleted." })
      }
      yield* Effect.forEach(scheduled, (operationId) =>
        revoke(operationId, { kind: "gone", message: "The mailbox was deleted before the message was sent." })
      )
      yield* events.expireAgent(tenant.tenantId, mailboxId)
      return { created: false, data: { mailboxId, deleted: true, messagesDeleted } }
    })
  }
  return service
})

const NO_ROOM = `would have more than ${METADATA_LIMIT} keys. Delete some in the same request, each by an empty value`

/** The names of the settings, as a list with "or". */
const SETTINGS = new Intl.ListFormat("en", { type: "disjunction" }).format(
  Struct.keys(Struct.omit(UpdateMailboxInput.fields, ["mailboxId"]))
)

export const mailboxUpdate = Effect.gen(function* () {
  const store = yield* MailboxStore
  const service: PaidService<UpdateMailboxInput, null, void> = {
    serviceId: "email.mailbox.update",
    input: UpdateMailboxInput,
    plan: Schema.Null,
    retryFor: Timestamp.HOUR,
    check: Effect.fnUntraced(function* (tenant, input) {
      const { metadata } = yield* ownedMailbox(store, tenant, input.mailboxId)
      if (!hasRoomForMetadata(metadata, input.metadata)) return yield* invalid("metadata", NO_ROOM)
      const { mailboxId: _, ...settings } = input
      if (Object.values(settings).every((value) => value === undefined)) {
        return yield* invalid("", `must contain ${SETTINGS}`)
      }
    }),
    prepare: ({ tenant }, input) => Effect.as(ownedMailbox(store, tenant, input.mailboxId), null),
    abandon: () => Effect.void,
    revalidate: ({ tenant }, _plan, input) => Effect.asVoid(remainingMailbox(store, tenant, input.mailboxId)),
    record: Effect.fnUntraced(function* ({ tenant }, _plan, input) {
      const { mailboxId, ...settings } = input
      const current = yield* remainingMailbox(store, tenant, mailboxId)
      // Another update may have added keys since the check.
      if (!hasRoomForMetadata(current.metadata, input.metadata)) {
        return yield* new ResourceGone({ message: `metadata ${NO_ROOM}.` })
      }
      const mailbox = changeMailbox(current, settings, yield* Timestamp.now)
      yield* store.update(mailbox)
      return { created: false, data: { mailbox: toMailboxRecord(mailbox) } }
    })
  }
  return service
})
