import { isFinal, TenantErasureStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { withoutAnswer } from "./OperationStoreMemory.ts"
import { removeAttachments } from "./Tables.ts"

const ERASED_ENDPOINT = "erased"
/** The owner of the local parts of erased tenants. */
const NOBODY = "erased"
const ERASED_FAILURE = "Erased."

/** Erases tenants in memory, whose rows are few enough for one step. */
export const layer = Layer.effect(
  TenantErasureStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const operationsOf = (tenantId: string) =>
      tables.operations.rows().filter((operation) => operation.tenantId === tenantId)

    /** Deletes the rows that satisfy a condition, and returns how many. */
    const remove = <Row>(
      table: { entries: () => ReadonlyArray<readonly [string, Row]>; delete: (key: string) => void },
      condition: (row: Row, key: string) => boolean
    ): number => {
      const keys = table.entries().flatMap(([key, row]) => (condition(row, key) ? [key] : []))
      for (const key of keys) table.delete(key)
      return keys.length
    }

    const eraseOperations = (tenantId: string): number => {
      const left = operationsOf(tenantId).filter(({ endpoint }) => endpoint !== ERASED_ENDPOINT)
      for (const operation of left) {
        const { failure, operationId, terms } = operation
        const bare = withoutAnswer(operation)
        tables.operations.set(operationId, {
          ...bare,
          endpoint: ERASED_ENDPOINT,
          idempotencyKey: operationId,
          fingerprint: "",
          requestId: "",
          trace: null,
          failure: failure === null ? null : { ...failure, message: ERASED_FAILURE },
          proof: { ...bare.proof, digest: "" },
          terms: { ...terms, extra: {} }
        })
      }
      return left.length
    }

    return TenantErasureStore.of({
      countContents: (tenantId) =>
        run(() => ({
          mailboxes: tables.mailboxes.where("tenant", tenantId).length,
          messages: tables.messages.where("tenant", tenantId).length,
          events: tables.events.where("tenant", tenantId).length,
          calls: tables.calls.where("tenant", tenantId).length,
          numbers: tables.phoneNumbers.where("tenant", tenantId).length,
          operations: operationsOf(tenantId).length
        })),
      findObstacles: (tenantId) =>
        run(() => {
          const mailboxIds = new Set(tables.mailboxes.where("tenant", tenantId).map(({ mailboxId }) => mailboxId))
          return {
            openOperations: operationsOf(tenantId).filter(({ state }) => !isFinal(state)).length,
            numbers: tables.phoneNumbers.where("tenant", tenantId).filter(({ state }) => state !== "released").length,
            liveCalls: tables.calls.where("tenant", tenantId).filter(({ call }) => call.state !== "ended").length,
            waitingMails: tables.inboundMails
              .where("queue", "waiting")
              .filter((mail) => mail.mailboxIds.some((id) => mailboxIds.has(id))).length
          }
        }),
      erase: ({ tenantId }) =>
        run(() => {
          const messages = tables.messages.where("tenant", tenantId)
          const messageIds = new Set(messages.map(({ message }) => message.messageId))
          const mails = new Set(messages.map(({ inboundMailId }) => inboundMailId))
          const mailboxes = tables.mailboxes.where("tenant", tenantId)
          const callIds = new Set(tables.calls.where("tenant", tenantId).map(({ call }) => call.callId))
          const numberIds = new Set(tables.phoneNumbers.where("tenant", tenantId).map((one) => one.phoneNumberId))
          const webhookId = tables.webhooks.get(tenantId)?.webhook.webhookId
          // The names stay in memory, where nothing is stored, so that no one else gets the addresses.
          const localParts = tables.localParts.rows().filter(({ owner }) => owner === tenantId)
          for (const { localPart } of localParts) {
            tables.localParts.set(localPart, { localPart, owner: NOBODY, heldBy: null })
          }
          for (const id of messageIds) removeAttachments(tables, id)
          for (const { mailboxId } of mailboxes) tables.mailUsages.delete(mailboxId)
          return [
            remove(tables.mailReports, ({ messageId }) => messageIds.has(messageId)),
            remove(tables.messageRetries, (_, messageId) => messageIds.has(messageId)),
            remove(tables.messages, ({ message }) => message.tenantId === tenantId),
            remove(
              tables.inboundMails,
              ({ completed }, id) => completed && mails.has(id) && tables.messages.where("inboundMail", id).length === 0
            ),
            remove(tables.mailboxes, (mailbox) => mailbox.tenantId === tenantId),
            remove(tables.suppressions, (row) => row.tenantId === tenantId),
            remove(tables.feedback, (row) => row.tenantId === tenantId),
            remove(tables.sending, (_, key) => key === tenantId),
            remove(tables.events, ({ event }) => event.tenantId === tenantId),
            remove(tables.webhookAttempts, (row) => row.webhookId === webhookId),
            remove(tables.webhooks, (_, key) => key === tenantId),
            remove(tables.turns, ({ callId }) => callIds.has(callId)),
            remove(tables.callExtensions, ({ callId }) => callIds.has(callId)),
            remove(tables.declinedCalls, ({ phoneNumberId }) => numberIds.has(phoneNumberId)),
            remove(tables.calls, ({ call }) => call.tenantId === tenantId),
            remove(tables.phoneNumbers, (number) => number.tenantId === tenantId),
            remove(tables.retentions, (row) => row.tenantId === tenantId),
            eraseOperations(tenantId)
          ].reduce((sum, count) => sum + count, 0)
        })
    })
  })
)
