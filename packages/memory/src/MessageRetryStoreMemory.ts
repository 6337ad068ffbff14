import { MessageRetryStore, type RetryLease, Timestamp } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import type { RetryRow } from "./Tables.ts"

const dueFirst = (a: RetryRow, b: RetryRow): number =>
  a.dueAt - b.dueAt || (a.lease.messageId < b.lease.messageId ? -1 : 1)

/** The retries of outbound messages in memory. */
export const layer = Layer.effect(
  MessageRetryStore,
  Effect.map(MemoryDatabase, ({ run, tables: { messageRetries } }) => {
    const heldBy = ({ attempts, messageId }: RetryLease): RetryRow | undefined => {
      const row = messageRetries.get(messageId)
      return row?.lease.attempts === attempts ? row : undefined
    }

    return MessageRetryStore.of({
      schedule: (messageId, tenantId, delayMillis, sendAt) =>
        run((now) =>
          messageRetries.set(messageId, {
            lease: { messageId, tenantId, attempts: 0 },
            dueAt: Timestamp.add(now, delayMillis),
            sendAt
          })
        ),
      listScheduled: (tenantId, limit) =>
        run(() =>
          messageRetries
            .where("all", "all")
            .flatMap(({ lease, sendAt }) =>
              sendAt !== undefined && lease.tenantId === tenantId ? [{ lease, sendAt }] : []
            )
            .toSorted((a, b) => a.sendAt - b.sendAt || (a.lease.messageId < b.lease.messageId ? -1 : 1))
            .slice(0, limit)
            .map(({ lease }) => lease.messageId)
        ),
      withdraw: (messageId) =>
        run(() => {
          const isNew = messageRetries.get(messageId)?.lease.attempts === 0
          if (isNew) messageRetries.delete(messageId)
          return isNew
        }),
      lease: (limit, leaseMillis) =>
        run((now) =>
          messageRetries
            .where("all", "all")
            .filter(({ dueAt }) => dueAt <= now)
            .toSorted(dueFirst)
            .slice(0, limit)
            .map((row) => {
              const { attempts, messageId, tenantId } = row.lease
              const lease = { messageId, tenantId, attempts: attempts + 1 }
              messageRetries.set(messageId, { ...row, lease, dueAt: Timestamp.add(now, leaseMillis) })
              return lease
            })
        ),
      renew: (lease, millis) =>
        run((now) => {
          const row = heldBy(lease)
          if (row !== undefined) messageRetries.set(lease.messageId, { ...row, dueAt: Timestamp.add(now, millis) })
          return row !== undefined
        }),
      end: (lease) =>
        run(() => {
          const isHeld = heldBy(lease) !== undefined
          if (isHeld) messageRetries.delete(lease.messageId)
          return isHeld
        }),
      countWaiting: (limit) =>
        run(() => {
          const rows = messageRetries.where("all", "all").toSorted(dueFirst).slice(0, limit)
          const scheduled = rows.filter(({ lease, sendAt }) => sendAt !== undefined && lease.attempts === 0).length
          return { scheduled, deferred: rows.length - scheduled, firstDueAt: rows[0]?.dueAt ?? null }
        })
    })
  })
)
