import { type DurableEvent, type EventDraft, Timestamp, Uuid } from "@agentos/core"
import { Effect, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import { type Appended, groupAppends, isEvent } from "./AppendGroups.ts"
import type { EventDatabase } from "./EventDatabase.ts"

/** Whether to wait for tenants that another transaction has locked, or to leave their drafts. */
type Locked = "wait" | "leave"

/** What became of one draft. */
interface PlacedRow {
  /** Null where the draft is not stored because its tenant is not there, or is locked and left. */
  readonly created_at: bigint | null
  /** Null too where an event of its key is known. */
  readonly event_id: string | null
}

/** Makes `EventStore.append`. What is no part of a transaction goes by `delivery`, all that comes at one time together. */
export const makeAppend = ({ sql, delivery, announcements, transact, policy, clock }: EventDatabase) => {
  /**
   * Locks the tenants, gives each draft the later of its tenant's last moment and now, and an id that
   * follows the last one, stores what is new, and moves the tenants' ends: answers what became of each.
   *
   * The ids are those of `Uuid.after`: the n-th of a tenant is n more than the tenant's last one or, once
   * the clock has passed that, than the first of the moment with the random part that the call brings.
   * A call that waits stores all or nothing: it has to find as many tenants as it names.
   */
  const store = (on: SqlClient.SqlClient, drafts: ReadonlyArray<EventDraft>, seeds: Seeds, locked: Locked) => {
    const texts = (of: (draft: EventDraft) => string) => Parameter.texts(drafts.map(of))
    const tenantIds = Parameter.uuids([...seeds.keys()])
    return on<PlacedRow>`
      with ${clock()}, draft as materialized (
        select *, row_number() over (partition by tenant_id order by place) as turn from unnest(
          ${Parameter.uuids(drafts.map(({ tenantId }) => tenantId))},
          ${texts(({ type }) => type)},
          ${texts(({ source }) => source)},
          ${texts(({ service }) => service)},
          ${texts(({ resourceId }) => resourceId)},
          ${texts(({ agentId }) => agentId)},
          ${texts(({ payload }) => JSON.stringify(payload))},
          ${texts(({ dedupeKey }) => dedupeKey)}
        ) with ordinality as draft (
          tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, place
        )
      ), locked as materialized (
        select tenant_id, last_event_id, greatest(last_event_at, (select now from clock)) as created_at
        from tenants where tenant_id = any(${tenantIds})
        order by tenant_id for no key update ${locked === "wait" ? sql`` : sql`skip locked`}
      ), head as materialized (
        select tenant_id, created_at, case
          when last_event_id >= (lpad(to_hex(created_at), 12, '0') || repeat('0', 20))::uuid
            then replace(last_event_id::text, '-', '')
          else lpad(to_hex(created_at), 12, '0') || seed
        end as last
        from locked join unnest(${tenantIds}, ${Parameter.texts([...seeds.values()])}) as seed (tenant_id, seed)
          using (tenant_id)
        ${locked === "wait" ? sql`where (select count(*) from locked) = ${Parameter.integer(seeds.size)}` : sql``}
      ), placed as materialized (
        select draft.*, created_at, (
          left(last, 16) || to_hex(('x' || right(last, 16))::bit(64)::bigint + turn)
        )::uuid as event_id
        from draft left join head using (tenant_id)
      ), stored as (
        insert into events (
          event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at, expires_at
        )
        select
          event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at,
          created_at + ${Parameter.integer(policy.retention)}
        from placed where created_at is not null order by place
        on conflict (dedupe_key, tenant_id) do nothing
        returning event_id, tenant_id, created_at
      ), moved as (
        update tenants set last_event_at = newest.created_at, last_event_id = newest.event_id
        from (select distinct on (tenant_id) * from stored order by tenant_id, event_id desc) newest
        where tenants.tenant_id = newest.tenant_id
      )
      select placed.created_at, stored.event_id
      from placed left join stored on stored.event_id = placed.event_id order by place`
  }

  const append = Effect.fnUntraced(function* (
    on: SqlClient.SqlClient,
    drafts: ReadonlyArray<EventDraft>,
    locked: Locked
  ): Effect.fn.Return<ReadonlyArray<Appended>, SqlError.SqlError> {
    const seeds = yield* makeSeeds(drafts)
    const rows = yield* store(on, drafts, seeds, locked)
    const appended = rows.map((row, index) => toAppended(row, drafts[index]!, policy.retention))
    yield* announcements.announce([...new Set(appended.filter(isEvent).map(({ tenantId }) => tenantId))])
    return appended
  })

  const appendWaiting = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>) {
    const appended = yield* append(sql, drafts, "wait")
    if (appended.includes("left")) return yield* Effect.die(new Error("events of a tenant that does not exist"))
    return appended.filter(isEvent)
  })

  const grouped = groupAppends({
    together: (drafts) => append(delivery, drafts, "leave"),
    alone: (drafts) => transact(orDie(appendWaiting(drafts)))
  })

  return (drafts: ReadonlyArray<EventDraft>): Effect.Effect<ReadonlyArray<DurableEvent>> =>
    drafts.length === 0
      ? Effect.succeed([])
      : Effect.flatMap(Effect.serviceOption(sql.transactionService), (open) =>
          Option.isSome(open) ? orDie(appendWaiting(drafts)) : grouped(drafts)
        )
}

/** Of each tenant the last 20 digits of a fresh UUID: what follows the moment. */
type Seeds = ReadonlyMap<string, string>

const makeSeeds = (drafts: ReadonlyArray<EventDraft>): Effect.Effect<Seeds> =>
  Effect.map(
    Effect.forEach(new Set(drafts.map(({ tenantId }) => tenantId)), (tenantId) =>
      Effect.map(
        Uuid.randomBits,
        (random) => [tenantId, Uuid.fromParts(0, random).replaceAll("-", "").slice(12)] as const
      )
    ),
    (seeds) => new Map(seeds)
  )

const toAppended = (row: PlacedRow, { dedupeKey: _, ...draft }: EventDraft, retention: number): Appended => {
  if (row.created_at === null) return "left"
  if (row.event_id === null) return "known"
  const createdAt = Timestamp.Timestamp.make(Number(row.created_at))
  return {
    ...draft,
    eventId: row.event_id,
    status: "pending",
    createdAt,
    deliveredAt: null,
    acknowledgedAt: null,
    expiresAt: Timestamp.add(createdAt, retention),
    deliveryCount: 0
  }
}
