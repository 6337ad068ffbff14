import {
  ATTEMPTS_KEPT,
  FAILING_LATER,
  NO_PROGRESS,
  type TenantId,
  Timestamp,
  type WebhookEndpoint,
  WebhookStore,
  type WebhookLease
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import type { WebhookRow } from "./Tables.ts"

/** Event webhooks in memory. */
export const layer = Layer.effect(
  WebhookStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { lastEvents, tenants, webhookAttempts, webhooks } = tables
    const newestOf = (tenantId: TenantId) => lastEvents.get(tenantId)?.eventId ?? null
    const orderOf = ({ dueAt, progress }: WebhookRow) =>
      (dueAt ?? Infinity) + (progress.failures > 0 ? FAILING_LATER : 0)
    const isActive = (tenantId: TenantId) => tenants.get(tenantId)?.suspension === undefined
    const isLeased = ({ leasedUntil }: WebhookRow, now: Timestamp.Timestamp) =>
      leasedUntil !== null && leasedUntil > now
    /** Returns the row of a lease that was not lost. A lease that has lapsed is held until another begins. */
    const held = ({ fence, webhook }: WebhookLease): WebhookRow | undefined => {
      const row = webhooks.get(webhook.tenantId)
      return row !== undefined && row.fence === fence && row.leasedUntil !== null ? row : undefined
    }
    const removeAttempts = (webhookId: string, kept: number) => {
      const rows = webhookAttempts.where("webhook", webhookId)
      const newest = rows.map(({ attempt }) => attempt.deliveryId).toSorted()
      for (const id of newest.slice(0, Math.max(0, newest.length - kept))) webhookAttempts.delete(id)
    }

    return WebhookStore.of({
      set: (webhook, isSameHost) =>
        run((now) => {
          const known = webhooks.get(webhook.tenantId)
          const fence = (known?.fence ?? 0) + 1
          const progress = isSameHost && known !== undefined ? { ...known.progress, retries: [] } : NO_PROGRESS
          const due = { leasedUntil: null, dueAt: now, isResting: false, seenEventId: null }
          webhooks.set(webhook.tenantId, { webhook, progress, fence, ...due })
        }),
      find: (tenantId) => run(() => Option.fromUndefinedOr(webhooks.get(tenantId)?.webhook)),
      remove: (tenantId) =>
        run(() => {
          const row = webhooks.get(tenantId)
          if (row === undefined) return false
          removeAttempts(row.webhook.webhookId, 0)
          webhooks.delete(tenantId)
          return true
        }),
      attempts: (webhookId) =>
        run(() =>
          webhookAttempts
            .where("webhook", webhookId)
            .map(({ attempt }) => attempt)
            .toSorted((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1))
        ),
      take: ({ all, onlyAnswering, woken }, limit, leaseMillis) =>
        run((now) => {
          const isDue = (row: WebhookRow) => {
            const { tenantId } = row.webhook
            if (row.dueAt !== null && row.dueAt <= now) return true
            if (row.isResting) return false
            return woken.includes(tenantId) || (all && newestOf(tenantId) !== row.seenEventId)
          }
          return webhooks
            .rows()
            .filter((row) => row.webhook.state === "active" && isActive(row.webhook.tenantId))
            .filter((row) => !isLeased(row, now) && isDue(row))
            .filter(({ progress }) => !onlyAnswering || (progress.hasAnswered && progress.failures === 0))
            .toSorted((a, b) => orderOf(a) - orderOf(b))
            .slice(0, limit)
            .map((row): WebhookLease => {
              const { progress, webhook } = row
              const fence = row.fence + 1
              const until = Timestamp.add(now, leaseMillis)
              webhooks.set(webhook.tenantId, { ...row, fence, leasedUntil: until, dueAt: until })
              return { webhook, fence, progress, newestEventId: newestOf(webhook.tenantId) }
            })
        }),
      backlog: (limit) =>
        run((now) => {
          const due = webhooks.rows().flatMap(({ dueAt }) => (dueAt !== null && dueAt <= now ? [dueAt] : []))
          const first = due.toSorted((a, b) => a - b).slice(0, limit)
          return { count: first.length, since: first[0] ?? null }
        }),
      list: ({ after, limit, state, tenantId, webhookId }) =>
        run((now) => {
          const isIn = (row: WebhookRow) => {
            const isFailing = row.progress.failures > 0 || row.progress.retries.length > 0
            if (state === "due") return row.dueAt !== null && row.dueAt <= now
            return state === "failing" ? isFailing && row.webhook.state === "active" : row.webhook.state === "paused"
          }
          return webhooks
            .rows()
            .filter((row) => state === undefined || isIn(row))
            .filter(({ webhook }) => tenantId === undefined || webhook.tenantId === tenantId)
            .filter(({ webhook }) => webhookId === undefined || webhook.webhookId === webhookId)
            .filter(({ webhook }) => after === undefined || webhook.webhookId > after)
            .toSorted((a, b) => (a.webhook.webhookId < b.webhook.webhookId ? -1 : 1))
            .slice(0, limit)
            .map((row): WebhookEndpoint => {
              const { dueAt, progress, webhook } = row
              const attempts = webhookAttempts.where("webhook", webhook.webhookId).map(({ attempt }) => attempt)
              const lastAttempt = attempts.toSorted((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1))[0] ?? null
              return { webhook, progress, dueAt, isLeased: isLeased(row, now), lastAttempt }
            })
        }),
      restart: (webhookId, change) =>
        run((now) => {
          const row = webhooks.rows().find(({ webhook }) => webhook.webhookId === webhookId)
          if (row === undefined) return false
          webhooks.set(row.webhook.tenantId, {
            ...row,
            webhook: { ...row.webhook, state: "active", pausedAt: null },
            progress: change(row.progress),
            fence: row.fence + 1,
            leasedUntil: null,
            dueAt: now,
            isResting: false
          })
          return true
        }),
      renew: (lease, leaseMillis) =>
        run((now) => {
          const row = held(lease)
          if (row === undefined || !isActive(lease.webhook.tenantId)) return false
          const until = Timestamp.add(now, leaseMillis)
          webhooks.set(lease.webhook.tenantId, { ...row, leasedUntil: until, dueAt: until })
          return true
        }),
      record: (lease, attempt, progress, state) =>
        run((now) => {
          const row = held(lease)
          if (row === undefined) return false
          const { tenantId, webhookId } = lease.webhook
          const isPaused = state === "paused"
          const pausedAt = isPaused ? now : null
          webhooks.set(tenantId, {
            ...row,
            webhook: { ...row.webhook, state, pausedAt },
            progress,
            ...(isPaused ? { leasedUntil: null, dueAt: null } : {})
          })
          webhookAttempts.set(attempt.deliveryId, { webhookId, attempt })
          removeAttempts(webhookId, ATTEMPTS_KEPT)
          return true
        }),
      finish: (lease, { dueIn, isResting }, progress) =>
        run((now) => {
          const row = held(lease)
          if (row === undefined) return false
          const { tenantId } = lease.webhook
          const isBehind = !isResting && newestOf(tenantId) !== lease.newestEventId
          const dueAt = dueIn === null ? null : Timestamp.add(now, dueIn)
          webhooks.set(tenantId, {
            ...row,
            progress: progress ?? row.progress,
            leasedUntil: null,
            dueAt: isBehind ? now : dueAt,
            isResting,
            seenEventId: lease.newestEventId
          })
          return true
        })
    })
  })
)
