import {
  isInScope,
  type RetentionScope,
  type AcknowledgeAllFilter,
  type Acknowledgement,
  type AcknowledgementOutcome,
  type Delivery,
  type DurableEvent,
  type EventDraft,
  type EventFilter,
  EventMachine,
  EventPolicy,
  EventStore,
  type HeldLease,
  type LeaseFilter,
  Lookup,
  type Position,
  type TenantId,
  Timestamp,
  Uuid
} from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey, type EventRow, isOpen, OPEN, requireTenant, type Tables } from "./Tables.ts"

/** Durable events in memory. Reads `EventPolicy` when it is built. */
export const layer = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const { run, tables, wake } = yield* MemoryDatabase
    const policy = yield* EventPolicy
    const inbox = new EventTable(tables, policy)

    return EventStore.of({
      append: Effect.fnUntraced(function* (drafts) {
        const random = yield* Effect.forEach(drafts, () => Uuid.randomBits)
        return yield* run((now) => {
          const stored = drafts.flatMap((draft, index) => inbox.append(draft, random[index]!, now) ?? [])
          for (const event of stored) wake(event.tenantId)
          return stored
        })
      }),
      find: (tenantId, eventId) => run((now) => inbox.find(tenantId, eventId, now)),
      list: (tenantId, filter, after, limit) => run((now) => inbox.list(tenantId, filter, after, now).slice(0, limit)),
      latest: (tenantId) => run(() => inbox.latest(tenantId)),
      latestEach: (tenantIds) =>
        run(
          () =>
            new Map(
              tenantIds.flatMap((tenantId) => {
                const latest = inbox.latest(tenantId)
                return latest === undefined ? [] : [[tenantId, latest] as const]
              })
            )
        ),
      replayable: (tenantId, limit, after) =>
        run((now) =>
          inbox
            .replayable(tenantId, now)
            .filter((event) => follows(event, after))
            .slice(0, limit)
        ),
      countReplayable: (tenantId, limit) => run((now) => Math.min(limit, inbox.replayable(tenantId, now).length)),
      countReplayableEach: (tenantIds, limit) =>
        run((now) => {
          const counts = tenantIds.map((id) => [id, Math.min(limit, inbox.replayable(id, now).length)] as const)
          return new Map(counts.filter(([, count]) => count > 0))
        }),
      leaseEach: (requests) =>
        run((now) => requests.map(({ limit, sessionId, tenantId }) => inbox.lease(tenantId, sessionId, limit, now))),
      lease: (tenantId, sessionId, limit, filter) => run((now) => inbox.lease(tenantId, sessionId, limit, now, filter)),
      renew: (sessionIds) => run((now) => inbox.renew(sessionIds, now)),
      release: (sessionIds, reason) =>
        run((now) => {
          for (const tenantId of inbox.release(sessionIds, reason, now)) wake(tenantId)
        }),
      acknowledge: (tenantId, acknowledgements) =>
        run((now) => acknowledgements.map((each) => inbox.acknowledge(tenantId, each, now))),
      acknowledgeEach: (acknowledgements) =>
        run((now) => acknowledgements.map((each) => inbox.acknowledge(each.tenantId, each, now))),
      acknowledgeAll: (tenantId, filter) => run((now) => inbox.acknowledgeAll(tenantId, filter, now)),
      requeue: (tenantId, eventIds) =>
        run((now) => {
          const count = inbox.requeue(tenantId, eventIds, now)
          if (count > 0) wake(tenantId)
          return count
        }),
      expire: (limit) => run((now) => inbox.expire(limit, now)),
      expireAgent: (tenantId, agentId) => run((now) => inbox.expireAgent(tenantId, agentId, now)),
      remove: (age, limit, scope = {}) => run((now) => inbox.remove(age, limit, scope, now))
    })
  })
)

const byId = (a: EventRow, b: EventRow): number => (a.event.eventId < b.event.eventId ? -1 : 1)

/** The statements on the table of events. They order by eventId, which grows with createdAt within a tenant. */
class EventTable {
  readonly #tables: Tables
  readonly #policy: EventPolicy

  constructor(tables: Tables, policy: EventPolicy) {
    this.#tables = tables
    this.#policy = policy
  }

  append({ dedupeKey, ...draft }: EventDraft, random: bigint, now: Timestamp.Timestamp): DurableEvent | undefined {
    const { events, lastEvents } = this.#tables
    const { tenantId } = draft
    requireTenant(this.#tables, tenantId)
    if (events.where("dedupeKey", compositeKey(tenantId, dedupeKey)).length > 0) return undefined
    const last = lastEvents.get(tenantId)
    const createdAt = last !== undefined && last.createdAt > now ? last.createdAt : now
    const event: DurableEvent = {
      ...draft,
      eventId: Uuid.after(last?.eventId, createdAt, random),
      status: "pending",
      createdAt,
      deliveredAt: null,
      acknowledgedAt: null,
      expiresAt: Timestamp.add(createdAt, this.#policy.retention),
      deliveryCount: 0
    }
    lastEvents.set(tenantId, event)
    this.#put({ event, dedupeKey, lease: null, lapses: 0 })
    return event
  }

  find(tenantId: TenantId, eventId: string, now: Timestamp.Timestamp): Lookup.Lookup<DurableEvent> {
    const row = this.#tables.events.get(eventId)
    return Lookup.of(row && asRead(row, now), tenantId)
  }

  list(
    tenantId: TenantId,
    filter: EventFilter,
    after: Position | undefined,
    now: Timestamp.Timestamp
  ): ReadonlyArray<DurableEvent> {
    return this.#tables.events
      .where("tenant", tenantId)
      .toSorted(byId)
      .map((row) => asRead(row, now))
      .filter((event) => follows(event, after) && matches(event, filter))
  }

  latest(tenantId: TenantId): Position | undefined {
    const last = this.#tables.events.where("tenant", tenantId).toSorted(byId).at(-1)?.event
    return last && { createdAt: last.createdAt, id: last.eventId }
  }

  replayable(tenantId: TenantId, now: Timestamp.Timestamp): ReadonlyArray<DurableEvent> {
    return this.#open(tenantId)
      .filter((row) => ["deliverable", "failed"].includes(this.#deliverability(row, now)))
      .map((row) => row.event)
  }

  lease(
    tenantId: TenantId,
    sessionId: string,
    limit: number,
    now: Timestamp.Timestamp,
    { except, types }: LeaseFilter = {}
  ): ReadonlyArray<Delivery> {
    const deliveries: Array<Delivery> = []
    for (const row of this.#open(tenantId)) {
      if (deliveries.length >= limit) break
      if (except?.includes(row.event.eventId) === true || types?.includes(row.event.type) === false) continue
      const lapses = row.lapses + (row.lease === null ? 0 : 1)
      const deliverability = this.#deliverability(row, now)
      if (deliverability === "failed") {
        this.#put({ ...row, event: { ...row.event, status: "failed" }, lease: null, lapses })
      }
      if (deliverability === "deliverable") {
        const deliveryCount = row.event.deliveryCount + 1
        const event: DurableEvent = { ...row.event, status: "delivered", deliveredAt: now, deliveryCount }
        const deliveryId = `${event.eventId}.${deliveryCount}`
        const until = Timestamp.add(now, this.#policy.leaseDuration)
        this.#put({ ...row, event, lease: { sessionId, deliveryId, until }, lapses })
        deliveries.push({ deliveryId, event })
      }
    }
    return deliveries
  }

  renew(sessionIds: ReadonlyArray<string>, now: Timestamp.Timestamp): ReadonlyArray<HeldLease> {
    return this.#liveLeases(sessionIds, now).map(({ lease, row }) => {
      this.#put({ ...row, lease: { ...lease, until: Timestamp.add(now, this.#policy.leaseDuration) } })
      return { sessionId: lease.sessionId, eventId: row.event.eventId }
    })
  }

  /** Releases the leases of sessions; returns the tenants whose events became free. */
  release(
    sessionIds: ReadonlyArray<string>,
    reason: EventMachine.ReleaseReason,
    now: Timestamp.Timestamp
  ): ReadonlyArray<TenantId> {
    const released = this.#liveLeases(sessionIds, now)
    for (const { lease, row } of released) {
      const lapses = EventMachine.lapsesAfterRelease({ lapses: row.lapses, leasedUntil: lease.until }, reason, now)
      this.#put({ ...row, lease: null, lapses })
    }
    return released.map(({ row }) => row.event.tenantId)
  }

  acknowledge(
    tenantId: TenantId,
    { deliveryId, eventId }: Acknowledgement,
    now: Timestamp.Timestamp
  ): AcknowledgementOutcome {
    const row = this.#tables.events.get(eventId)
    if (row === undefined || row.event.tenantId !== tenantId) return "missing"
    if (row.event.status === "acknowledged") return "acknowledged"
    const held = isLive(row.lease, now) && row.lease.deliveryId === deliveryId
    if (EventMachine.move(asRead(row, now).status, "Acknowledge") === undefined) return "expired"
    if (deliveryId !== undefined && !held) return "lease_lost"
    this.#acknowledge(row, now)
    return "acknowledged"
  }

  acknowledgeAll(tenantId: TenantId, filter: AcknowledgeAllFilter, now: Timestamp.Timestamp): number {
    const rows = this.#tables.events.where("tenant", tenantId).filter((row) => {
      const event = asRead(row, now)
      const { before: to, service, types } = filter
      return event.status !== "acknowledged" && event.status !== "expired" && matches(event, { to, service, types })
    })
    for (const row of rows) this.#acknowledge(row, now)
    this.#endBefore(tenantId, filter.before < now ? filter.before : now)
    return rows.length
  }

  requeue(tenantId: TenantId, eventIds: ReadonlyArray<string>, now: Timestamp.Timestamp): number {
    const failed = eventIds.flatMap((eventId) => {
      const row = this.#tables.events.get(eventId)
      const isOwn = row?.event.tenantId === tenantId && row.event.expiresAt > now
      const status = isOwn ? EventMachine.move(row.event.status, "Requeue") : undefined
      return status === undefined ? [] : [{ ...row!, event: { ...row!.event, status }, lapses: 0 }]
    })
    for (const row of failed) this.#put(row)
    return failed.length
  }

  expire(limit: number, now: Timestamp.Timestamp): number {
    const rows = this.#tables.events
      .where("open", OPEN)
      .filter(({ event }) => event.expiresAt <= now)
      .toSorted((a, b) => a.event.expiresAt - b.event.expiresAt)
      .slice(0, limit)
    for (const row of rows) this.#put({ ...row, event: asRead(row, now), lease: null })
    return rows.length
  }

  expireAgent(tenantId: TenantId, agentId: string, now: Timestamp.Timestamp): void {
    for (const row of this.#open(tenantId)) {
      if (row.event.agentId !== agentId) continue
      const expiresAt = row.event.expiresAt < now ? row.event.expiresAt : now
      this.#put({ ...row, event: { ...row.event, status: "expired", expiresAt }, lease: null })
    }
  }

  remove(age: number, limit: number, scope: RetentionScope, now: Timestamp.Timestamp): number {
    const rows = this.#tables.events
      .rows()
      .filter((row) => Timestamp.add(row.event.createdAt, age) <= now && !isOpen({ event: asRead(row, now) }))
      .filter(({ event }) => isInScope(scope, event.tenantId))
      .toSorted(byId)
      .slice(0, limit)
    for (const { event } of rows) this.#tables.events.delete(event.eventId)
    return rows.length
  }

  /** Ensures that no later event of the tenant gets an earlier createdAt. */
  #endBefore(tenantId: TenantId, moment: Timestamp.Timestamp): void {
    const { lastEvents, tenants } = this.#tables
    const last = lastEvents.get(tenantId)
    if (!tenants.has(tenantId) || (last !== undefined && last.createdAt >= moment)) return
    lastEvents.set(tenantId, { eventId: undefined, ...last, createdAt: moment })
  }

  #acknowledge(row: EventRow, now: Timestamp.Timestamp): void {
    this.#put({ ...row, event: { ...row.event, status: "acknowledged", acknowledgedAt: now }, lease: null })
  }

  #put(row: EventRow): void {
    this.#tables.events.set(row.event.eventId, row)
  }

  #open(tenantId: TenantId): ReadonlyArray<EventRow> {
    return this.#tables.events.where("openOfTenant", tenantId).toSorted(byId)
  }

  #liveLeases(sessionIds: ReadonlyArray<string>, now: Timestamp.Timestamp) {
    return [...new Set(sessionIds)]
      .flatMap((sessionId) => this.#tables.events.where("session", sessionId))
      .flatMap((row) => (isLive(row.lease, now) ? [{ row, lease: row.lease }] : []))
  }

  #deliverability(row: EventRow, now: Timestamp.Timestamp): EventMachine.Deliverability {
    const { createdAt, expiresAt, status } = row.event
    const facts = { status, createdAt, expiresAt, leasedUntil: row.lease?.until ?? null, lapses: row.lapses }
    return EventMachine.deliverability(facts, now, this.#policy)
  }
}

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
