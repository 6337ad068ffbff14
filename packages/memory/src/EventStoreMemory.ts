import {
  type AcknowledgementOutcome,
  type Delivery,
  type DurableEvent,
  type EventDraft,
  type EventFilter,
  EventMachine,
  EventPolicy,
  EventStore,
  isInScope,
  type LeaseFilter,
  type LeaseRequest,
  Lookup,
  type Position,
  type TenantAcknowledgement,
  type TenantId,
  Timestamp,
  Uuid
} from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey, type EventRow, isOpen, OPEN, requireTenant } from "./Tables.ts"

/**
 * Durable events in memory, in the order of their ids, which grow with createdAt within a tenant. Reads `EventPolicy` when it
 * is built.
 */
export const layer = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const { run, tables, wake } = yield* MemoryDatabase
    const { events, lastEvents, tenants } = tables
    const policy = yield* EventPolicy

    const put = (row: EventRow): void => events.set(row.event.eventId, row)

    const openOf = (tenantId: TenantId): ReadonlyArray<EventRow> =>
      events.where("openOfTenant", tenantId).toSorted(byId)

    const deliverability = (row: EventRow, now: Timestamp.Timestamp): EventMachine.Deliverability => {
      const { createdAt, expiresAt, status } = row.event
      const facts = { status, createdAt, expiresAt, leasedUntil: row.lease?.until ?? null, lapses: row.lapses }
      return EventMachine.deliverability(facts, now, policy)
    }

    const latest = (tenantId: TenantId): Position | undefined => {
      const last = events.where("tenant", tenantId).toSorted(byId).at(-1)?.event
      return last && { createdAt: last.createdAt, id: last.eventId }
    }

    const replayable = (tenantId: TenantId, now: Timestamp.Timestamp): ReadonlyArray<DurableEvent> =>
      openOf(tenantId)
        .filter((row) => ["deliverable", "failed"].includes(deliverability(row, now)))
        .map((row) => row.event)

    const append = ({ dedupeKey, ...draft }: EventDraft, random: bigint, now: Timestamp.Timestamp) => {
      const { tenantId } = draft
      requireTenant(tables, tenantId)
      if (events.where("dedupeKey", compositeKey(tenantId, dedupeKey)).length > 0) return []
      const last = lastEvents.get(tenantId)
      const createdAt = last !== undefined && last.createdAt > now ? last.createdAt : now
      const event: DurableEvent = {
        ...draft,
        eventId: Uuid.after(last?.eventId, createdAt, random),
        status: "pending",
        createdAt,
        deliveredAt: null,
        acknowledgedAt: null,
        expiresAt: Timestamp.add(createdAt, policy.retention),
        deliveryCount: 0
      }
      lastEvents.set(tenantId, event)
      put({ event, dedupeKey, lease: null, lapses: 0 })
      return [event]
    }

    const lease = (
      { limit, sessionId, tenantId }: LeaseRequest,
      now: Timestamp.Timestamp,
      { except, types }: LeaseFilter = {}
    ): ReadonlyArray<Delivery> => {
      const deliveries: Array<Delivery> = []
      for (const row of openOf(tenantId)) {
        if (deliveries.length >= limit) break
        if (except?.includes(row.event.eventId) === true || types?.includes(row.event.type) === false) continue
        const lapses = row.lapses + (row.lease === null ? 0 : 1)
        const state = deliverability(row, now)
        if (state === "failed") put({ ...row, event: { ...row.event, status: "failed" }, lease: null, lapses })
        if (state === "deliverable") {
          const deliveryCount = row.event.deliveryCount + 1
          const event: DurableEvent = { ...row.event, status: "delivered", deliveredAt: now, deliveryCount }
          const deliveryId = `${event.eventId}.${deliveryCount}`
          const until = Timestamp.add(now, policy.leaseDuration)
          put({ ...row, event, lease: { sessionId, deliveryId, until }, lapses })
          deliveries.push({ deliveryId, event })
        }
      }
      return deliveries
    }

    const liveLeases = (sessionIds: ReadonlyArray<string>, now: Timestamp.Timestamp) =>
      [...new Set(sessionIds)]
        .flatMap((sessionId) => events.where("session", sessionId))
        .flatMap((row) => (isLive(row.lease, now) ? [{ row, lease: row.lease }] : []))

    const setAcknowledged = (row: EventRow, now: Timestamp.Timestamp): void =>
      put({ ...row, event: { ...row.event, status: "acknowledged", acknowledgedAt: now }, lease: null })

    const acknowledge = (
      { deliveryId, eventId, tenantId }: TenantAcknowledgement,
      now: Timestamp.Timestamp
    ): AcknowledgementOutcome => {
      const row = events.get(eventId)
      if (row === undefined || row.event.tenantId !== tenantId) return "missing"
      if (row.event.status === "acknowledged") return "acknowledged"
      const held = isLive(row.lease, now) && row.lease.deliveryId === deliveryId
      if (EventMachine.move(asRead(row, now).status, "Acknowledge") === undefined) return "expired"
      if (deliveryId !== undefined && !held) return "lease_lost"
      setAcknowledged(row, now)
      return "acknowledged"
    }

    /** Ensures that no later event of the tenant gets an earlier createdAt. */
    const endBefore = (tenantId: TenantId, moment: Timestamp.Timestamp): void => {
      const last = lastEvents.get(tenantId)
      if (!tenants.has(tenantId) || (last !== undefined && last.createdAt >= moment)) return
      lastEvents.set(tenantId, { eventId: undefined, ...last, createdAt: moment })
    }

    return EventStore.of({
      append: Effect.fnUntraced(function* (drafts) {
        const random = yield* Effect.forEach(drafts, () => Uuid.randomBits)
        return yield* run((now) => {
          const stored = drafts.flatMap((draft, index) => append(draft, random[index]!, now))
          for (const event of stored) wake(event.tenantId)
          return stored
        })
      }),
      find: (tenantId, eventId) =>
        run((now) => {
          const row = events.get(eventId)
          return Lookup.of(row && asRead(row, now), tenantId)
        }),
      list: (tenantId, filter, after, limit) =>
        run((now) =>
          events
            .where("tenant", tenantId)
            .toSorted(byId)
            .map((row) => asRead(row, now))
            .filter((event) => follows(event, after) && matches(event, filter))
            .slice(0, limit)
        ),
      latest: (tenantId) => run(() => latest(tenantId)),
      latestEach: (tenantIds) =>
        run(() => {
          const found = tenantIds.map((tenantId) => [tenantId, latest(tenantId)] as const)
          return new Map(found.flatMap(([tenantId, last]) => (last === undefined ? [] : [[tenantId, last]])))
        }),
      replayable: (tenantId, limit, after) =>
        run((now) =>
          replayable(tenantId, now)
            .filter((event) => follows(event, after))
            .slice(0, limit)
        ),
      countReplayable: (tenantId, limit) => run((now) => Math.min(limit, replayable(tenantId, now).length)),
      countReplayableEach: (tenantIds, limit) =>
        run((now) => {
          const counts = tenantIds.map((id) => [id, Math.min(limit, replayable(id, now).length)] as const)
          return new Map(counts.filter(([, count]) => count > 0))
        }),
      leaseEach: (requests) => run((now) => requests.map((request) => lease(request, now))),
      lease: (tenantId, sessionId, limit, filter) => run((now) => lease({ tenantId, sessionId, limit }, now, filter)),
      renew: (sessionIds) =>
        run((now) =>
          liveLeases(sessionIds, now).map(({ lease: held, row }) => {
            put({ ...row, lease: { ...held, until: Timestamp.add(now, policy.leaseDuration) } })
            return { sessionId: held.sessionId, eventId: row.event.eventId }
          })
        ),
      release: (sessionIds, reason) =>
        run((now) => {
          for (const { lease: held, row } of liveLeases(sessionIds, now)) {
            const lapses = EventMachine.lapsesAfterRelease({ lapses: row.lapses, leasedUntil: held.until }, reason, now)
            put({ ...row, lease: null, lapses })
            wake(row.event.tenantId)
          }
        }),
      acknowledge: (tenantId, acknowledgements) =>
        run((now) => acknowledgements.map((each) => acknowledge({ ...each, tenantId }, now))),
      acknowledgeEach: (acknowledgements) => run((now) => acknowledgements.map((each) => acknowledge(each, now))),
      acknowledgeAll: (tenantId, { before, service, types }) =>
        run((now) => {
          const rows = events.where("tenant", tenantId).filter((row) => {
            const event = asRead(row, now)
            const isEnded = event.status === "acknowledged" || event.status === "expired"
            return !isEnded && matches(event, { to: before, service, types })
          })
          for (const row of rows) setAcknowledged(row, now)
          endBefore(tenantId, before < now ? before : now)
          return rows.length
        }),
      requeue: (tenantId, eventIds) =>
        run((now) => {
          const failed = eventIds.flatMap((eventId) => {
            const row = events.get(eventId)
            const isOwn = row?.event.tenantId === tenantId && row.event.expiresAt > now
            const status = isOwn ? EventMachine.move(row.event.status, "Requeue") : undefined
            return status === undefined ? [] : [{ ...row!, event: { ...row!.event, status }, lapses: 0 }]
          })
          for (const row of failed) put(row)
          if (failed.length > 0) wake(tenantId)
          return failed.length
        }),
      expire: (limit) =>
        run((now) => {
          const rows = events
            .where("open", OPEN)
            .filter(({ event }) => event.expiresAt <= now)
            .toSorted((a, b) => a.event.expiresAt - b.event.expiresAt)
            .slice(0, limit)
          for (const row of rows) put({ ...row, event: asRead(row, now), lease: null })
          return rows.length
        }),
      expireAgent: (tenantId, agentId) =>
        run((now) => {
          for (const row of openOf(tenantId)) {
            if (row.event.agentId !== agentId) continue
            const expiresAt = row.event.expiresAt < now ? row.event.expiresAt : now
            put({ ...row, event: { ...row.event, status: "expired", expiresAt }, lease: null })
          }
        }),
      remove: (age, limit, scope = {}) =>
        run((now) => {
          const rows = events
            .rows()
            .filter((row) => Timestamp.add(row.event.createdAt, age) <= now && !isOpen({ event: asRead(row, now) }))
            .filter(({ event }) => isInScope(scope, event.tenantId))
            .toSorted(byId)
            .slice(0, limit)
          for (const { event } of rows) events.delete(event.eventId)
          return rows.length
        })
    })
  })
)

const byId = (a: EventRow, b: EventRow): number => (a.event.eventId < b.event.eventId ? -1 : 1)

const isLive = (lease: EventRow["lease"], now: Timestamp.Timestamp): lease is NonNullable<EventRow["lease"]> =>
  lease !== null && lease.until > now

/** Returns the event as it reads at a moment: expired once its time has passed, unless it ended otherwise before. */
const asRead = ({ event }: EventRow, now: Timestamp.Timestamp): DurableEvent => {
  const expired = event.expiresAt <= now ? EventMachine.move(event.status, "Expire") : undefined
  return expired === undefined ? event : { ...event, status: expired }
}

const follows = (event: DurableEvent, after: Position | undefined): boolean =>
  after === undefined ||
  event.createdAt > after.createdAt ||
  (event.createdAt === after.createdAt && event.eventId > after.id)

const matches = (event: DurableEvent, filter: EventFilter): boolean =>
  (filter.statuses === undefined || filter.statuses.includes(event.status)) &&
  (filter.types === undefined || filter.types.includes(event.type)) &&
  (filter.agentId === undefined || event.agentId === filter.agentId) &&
  (filter.service === undefined || event.service === filter.service) &&
  (filter.resourceId === undefined || event.resourceId === filter.resourceId) &&
  (filter.from === undefined || event.createdAt >= filter.from) &&
  (filter.to === undefined || event.createdAt < filter.to)
