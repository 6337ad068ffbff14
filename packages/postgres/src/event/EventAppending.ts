import { type DurableEvent, type EventDraft, Timestamp, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"

/** Where the events of a tenant end. */
interface Head {
  readonly createdAt: number
  readonly eventId: string | undefined
}

interface HeadRow {
  readonly tenant_id: string
  readonly last_event_at: bigint | null
  readonly last_event_id: string | null
  readonly now: bigint
}

/** A draft with its place in the order. */
interface Placed {
  readonly dedupeKey: string
  readonly event: DurableEvent
}

/** Makes `EventStore.append`. */
export const makeAppend = ({ sql, announcements, transact, policy, clock }: EventDatabase) => {
  /** The ends of the tenants' events, which stay the ends until the transaction is over. */
  const lockHeads = Effect.fnUntraced(function* (tenantIds: ReadonlyArray<string>) {
    const rows = yield* sql<HeadRow>`
      with ${clock()}
      select tenant_id, last_event_at, last_event_id, (select now from clock) as now
      from tenants where tenant_id = any(${Parameter.uuids(tenantIds)})
      order by tenant_id for no key update`
    if (rows.length !== tenantIds.length) {
      return yield* Effect.die(new Error("events of a tenant that does not exist"))
    }
    return rows
  })

  /** Gives each draft the later of its tenant's last moment and now, and an id after the last one. */
  const place = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>, rows: ReadonlyArray<HeadRow>) {
    const heads = new Map<string, Head>(
      rows.map((row) => [
        row.tenant_id,
        {
          createdAt: Math.max(Number(row.last_event_at ?? row.now), Number(row.now)),
          eventId: row.last_event_id ?? undefined
        }
      ])
    )
    const placed: Array<Placed> = []
    for (const { dedupeKey, ...draft } of drafts) {
      const head = heads.get(draft.tenantId)!
      const createdAt = Timestamp.Timestamp.make(head.createdAt)
      const eventId = Uuid.after(head.eventId, createdAt, yield* Uuid.randomBits)
      heads.set(draft.tenantId, { createdAt, eventId })
      placed.push({
        dedupeKey,
        event: {
          ...draft,
          eventId,
          status: "pending",
          createdAt,
          deliveredAt: null,
          acknowledgedAt: null,
          expiresAt: Timestamp.add(createdAt, policy.retention),
          deliveryCount: 0
        }
      })
    }
    return { placed, heads }
  })

  /** Stores what is new and moves the tenants' ends; answers the ids stored. */
  const store = (placed: ReadonlyArray<Placed>, heads: ReadonlyMap<string, Head>) => {
    const texts = (of: (event: DurableEvent) => string) => Parameter.texts(placed.map(({ event }) => of(event)))
    const moved = [...heads]
    return sql<{ readonly event_id: string }>`
      with stored as (
        insert into events (
          event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at, expires_at
        )
        select * from unnest(
          ${Parameter.uuids(placed.map(({ event }) => event.eventId))},
          ${Parameter.uuids(placed.map(({ event }) => event.tenantId))},
          ${texts((event) => event.type)},
          ${texts((event) => event.source)},
          ${texts((event) => event.service)},
          ${texts((event) => event.resourceId)},
          ${texts((event) => event.agentId)},
          ${texts((event) => JSON.stringify(event.payload))},
          ${Parameter.texts(placed.map(({ dedupeKey }) => dedupeKey))},
          ${Parameter.integers(placed.map(({ event }) => event.createdAt))},
          ${Parameter.integers(placed.map(({ event }) => event.expiresAt))}
        )
        on conflict (dedupe_key, tenant_id) do nothing
        returning event_id
      ), moved as (
        update tenants set last_event_at = head.created_at, last_event_id = head.event_id
        from unnest(
          ${Parameter.uuids(moved.map(([tenantId]) => tenantId))},
          ${Parameter.integers(moved.map(([, head]) => head.createdAt))},
          ${Parameter.uuids(moved.map(([, head]) => head.eventId ?? null))}
        ) as head (tenant_id, created_at, event_id)
        where tenants.tenant_id = head.tenant_id
      )
      select event_id from stored`
  }

  const append = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>) {
    const { placed, heads } = yield* place(
      drafts,
      yield* lockHeads([...new Set(drafts.map(({ tenantId }) => tenantId))])
    )
    const stored = new Set((yield* store(placed, heads)).map((row) => row.event_id))
    const events = placed.flatMap(({ event }) => (stored.has(event.eventId) ? [event] : []))
    yield* announcements.announce([...new Set(events.map(({ tenantId }) => tenantId))])
    return events
  })

  return (drafts: ReadonlyArray<EventDraft>): Effect.Effect<ReadonlyArray<DurableEvent>> =>
    drafts.length === 0 ? Effect.succeed([]) : transact(orDie(append(drafts)))
}
