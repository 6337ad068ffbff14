import { addRefused, Lookup, type Mailbox, type MailboxStanding, MailboxStore, type TenantId } from "@agentos/core"
import { Effect, Layer } from "effect"
import { dropUnusedMail } from "./InboundMailStoreMemory.ts"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { type LocalPartRow, removeAttachments, requireTenant, suppressedOf, type Tables, usageOf } from "./Tables.ts"

/** Mailboxes in memory, and the owners of local parts. */
export const layer = Layer.effect(
  MailboxStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { localParts, mailboxes, mailUsages, messages } = tables

    const owned = (tenantId: TenantId, mailboxId: string): Mailbox | undefined => {
      const mailbox = mailboxes.get(mailboxId)
      return mailbox?.tenantId === tenantId ? mailbox : undefined
    }

    const standingOf = ({ mailboxId, tenantId }: Mailbox): MailboxStanding => {
      const usages = mailboxes.where("tenant", tenantId).map((mailbox) => usageOf(mailUsages, mailbox.mailboxId))
      const tenantUsage = {
        messages: usages.reduce((sum, usage) => sum + usage.messages, 0),
        bytes: usages.reduce((sum, usage) => sum + usage.bytes, 0)
      }
      const isTenantSuspended = tables.tenants.get(tenantId)?.suspension !== undefined
      return { usage: usageOf(mailUsages, mailboxId), tenantUsage, isTenantSuspended }
    }

    return MailboxStore.of({
      find: (tenantId, mailboxId) => run(() => Lookup.of(mailboxes.get(mailboxId), tenantId)),
      list: (tenantId) => run(() => mailboxes.where("tenant", tenantId).toSorted(oldestFirst)),
      findActive: (parts) =>
        run(() =>
          [...new Set(parts)].flatMap((part) => mailboxes.where("localPart", part)).filter(({ active }) => active)
        ),
      findStandings: (mailboxIds) =>
        run(() => {
          const found = mailboxIds.flatMap((mailboxId) => mailboxes.get(mailboxId) ?? [])
          return new Map(found.map((mailbox) => [mailbox.mailboxId, standingOf(mailbox)]))
        }),
      findSender: (tenantId, mailboxId, addresses) =>
        run(() =>
          Lookup.map(Lookup.of(mailboxes.get(mailboxId), tenantId), (mailbox) => ({
            mailbox,
            standing: standingOf(mailbox),
            suppressed: suppressedOf(tables, tenantId, addresses),
            sending: tables.sending.get(tenantId)
          }))
        ),
      isAvailable: (localPart, tenantId) => run(() => isAvailable(tables, localPart, tenantId)),
      reserve: (localPart, tenantId, operationId) =>
        run(() => {
          requireTenant(tables, tenantId)
          const row = rowOf(tables, localPart)
          if (isHeldBy(row, tenantId, operationId)) return "reserved"
          if (!isAvailable(tables, localPart, tenantId)) return "taken"
          localParts.set(localPart, { ...row, heldBy: { tenantId, operationId } })
          return "reserved"
        }),
      release: (operationId) =>
        run(() => {
          for (const row of localParts.where("operation", operationId)) {
            if (row.owner === null) localParts.delete(row.localPart)
            else localParts.set(row.localPart, { ...row, heldBy: null })
          }
        }),
      create: (mailbox, operationId) =>
        run(() => {
          const { localPart, mailboxId, tenantId } = mailbox
          if (!isHeldBy(rowOf(tables, localPart), tenantId, operationId)) {
            throw new Error(`operation ${operationId} holds no reservation of ${localPart}`)
          }
          localParts.set(localPart, { localPart, owner: tenantId, heldBy: null })
          mailboxes.set(mailboxId, mailbox)
        }),
      update: (mailbox) =>
        run(() => {
          const { refused } = owned(mailbox.tenantId, mailbox.mailboxId) ?? {}
          if (refused === undefined) return false
          mailboxes.set(mailbox.mailboxId, { ...mailbox, refused })
          return true
        }),
      addRefused: (localPart, counts) =>
        run(() => {
          for (const mailbox of mailboxes.where("localPart", localPart).filter(({ active }) => active)) {
            mailboxes.set(mailbox.mailboxId, { ...mailbox, refused: addRefused(mailbox.refused, counts) })
          }
        }),
      remove: (tenantId, mailboxId) =>
        run(() => {
          if (owned(tenantId, mailboxId) === undefined) return undefined
          const removed = messages.where("mailbox", mailboxId)
          mailboxes.delete(mailboxId)
          mailUsages.delete(mailboxId)
          for (const { inboundMailId, message } of removed) {
            messages.delete(message.messageId)
            removeAttachments(tables, message.messageId)
            if (inboundMailId !== null) dropUnusedMail(tables, inboundMailId)
          }
          return removed.length
        })
    })
  })
)

const oldestFirst = (a: Mailbox, b: Mailbox): number =>
  a.createdAt - b.createdAt || (a.mailboxId < b.mailboxId ? -1 : 1)

const rowOf = ({ localParts }: Tables, localPart: string): LocalPartRow =>
  localParts.get(localPart) ?? { localPart, owner: null, heldBy: null }

const isHeldBy = ({ heldBy }: LocalPartRow, tenantId: TenantId, operationId: string): boolean =>
  heldBy?.tenantId === tenantId && heldBy.operationId === operationId

/** Returns whether a tenant may have the local part; null stands for a wallet without a tenant. */
const isAvailable = (tables: Tables, localPart: string, tenantId: TenantId | null): boolean => {
  const { heldBy, owner } = rowOf(tables, localPart)
  return (
    tables.mailboxes.where("localPart", localPart).length === 0 &&
    heldBy === null &&
    (owner === null || owner === tenantId)
  )
}
