import { MessageRetryStore, type RetryLease, Timestamp, type WaitingMessage } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
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

    const toWaiting = ({ dueAt, ended, lease, sendAt }: RetryRow, now: Timestamp.Timestamp): WaitingMessage => {
      const running = lease.attempts === 0 ? "scheduled" : dueAt > now ? "sending" : "unknown"
      const state = ended?.attempt === lease.attempts ? ended.outcome : running
      return { ...lease, state, dueAt, sendAt: sendAt ?? null }
    }

    const findDeferred = (messageId: string, now: Timestamp.Timestamp): RetryRow | undefined => {
      const row = messageRetries.get(messageId)
      return row !== undefined && toWaiting(row, now).state === "deferred" ? row : undefined
    }

    return MessageRetryStore.of({
      schedule: (messageId, tenantId, delayMillis, after = "deferred") =>
        run((now) =>
          messageRetries.set(messageId, {
            lease: { messageId, tenantId, attempts: 0 },
            dueAt: Timestamp.add(now, delayMillis),
            ...(typeof after === "string"
              ? { sendAt: undefined, ended: { attempt: 0, outcome: after } }
              : { sendAt: after.sendAt })
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
        run(() => messageRetries.get(messageId)?.lease.attempts === 0 && messageRetries.delete(messageId)),
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
      reschedule: (lease, millis, outcome) =>
        run((now) => {
          const row = heldBy(lease)
          if (row === undefined) return false
          const ended = { attempt: lease.attempts, outcome }
          messageRetries.set(lease.messageId, { ...row, dueAt: Timestamp.add(now, millis), ended })
          return true
        }),
      listWaiting: ({ after, before, limit, state, tenantId }) =>
        run((now) =>
          messageRetries
            .where("all", "all")
            .map((row) => toWaiting(row, now))
            .filter(
              (each) =>
                (state === undefined || each.state === state) &&
                (tenantId === undefined || each.tenantId === tenantId) &&
                (before === undefined || each.messageId < before) &&
                (after === undefined || each.messageId > after)
            )
            .toSorted((a, b) => (a.messageId < b.messageId ? -1 : 1))
            .slice(0, limit)
        ),
      findWaiting: (messageId) =>
        run((now) => Option.map(Option.fromUndefinedOr(messageRetries.get(messageId)), (row) => toWaiting(row, now))),
      makeDue: (messageId) =>
        run((now) => {
          const row = findDeferred(messageId, now)
          if (row !== undefined && row.dueAt > now) messageRetries.set(messageId, { ...row, dueAt: now })
          return row !== undefined
        }),
      giveUp: (messageId) =>
        run((now) => findDeferred(messageId, now) !== undefined && messageRetries.delete(messageId)),
      end: (lease) => run(() => heldBy(lease) !== undefined && messageRetries.delete(lease.messageId)),
      countWaiting: (limit) =>
        run(() => {
          const rows = messageRetries.where("all", "all").toSorted(dueFirst).slice(0, limit)
          const scheduled = rows.filter(({ lease, sendAt }) => sendAt !== undefined && lease.attempts === 0).length
          return { scheduled, deferred: rows.length - scheduled, firstDueAt: rows[0]?.dueAt ?? null }
        })
    })
  })
)
