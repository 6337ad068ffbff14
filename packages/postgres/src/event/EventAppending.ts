import { type DurableEvent, type EventDraft, Timestamp, Uuid } from "@agentos/core"
import { Effect, Option } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import { type Appended, groupAppends, isEvent } from "./AppendGroups.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import * as Row from "../Row.ts"

/** Whether to wait for tenants that another transaction has locked, or to leave their drafts. */
type Locked = "wait" | "leave"

/** A stored or known draft, whose tenant was found and locked. */
interface PlacedRow {
  /** Counted from 1. */
  readonly place: bigint
  readonly created_at: bigint
  /** Null if an event with its dedupe key already exists. */
  readonly event_id: string | null
}

/** Makes `EventStore.append`. Outside a transaction it uses `delivery`, and groups calls that overlap. */
export const makeAppend = ({ sql, delivery, announcements, transact, policy, now }: EventDatabase) => {
  /**
   * Locks the tenants, gives each draft the later of its tenant's last moment and now, and an id that follows
   * the last one, stores the new events, and updates the tenants' last moment and id. Returns the outcome of
   * each draft whose tenant is locked by it.
   *
   * The ids are those of `Uuid.after`. The n-th id of a tenant is the tenant's last id plus n. If the clock has
   * passed that id, it is the current moment's id with the random part from the call, plus n. A call that waits
   * stores all or nothing: with several tenants it has to find all that it names.
   *
   * The statement is kept as short as possible: planning it costs more than executing it.
   */
  const store = (on: SqlClient.SqlClient, drafts: ReadonlyArray<TurnedDraft>, locked: Locked) => {
    const unseen = (array: ReturnType<typeof Parameter.texts>) => Parameter.unseen(sql, array)
    const texts = (of: (draft: TurnedDraft) => string) => unseen(Parameter.texts(drafts.map(of)))
    const tenantIds = [...new Set(drafts.map(({ tenantId }) => tenantId))]
    const isWhole = locked === "wait" && tenantIds.length > 1
    return on<PlacedRow>`
      with locked as materialized (
        select tenant_id, last_event_id, greatest(last_event_at, ${now()}) as created_at
        from tenants where tenant_id = any(${unseen(Parameter.uuids(tenantIds))}::uuid[])
        order by tenant_id for no key update ${locked === "wait" ? sql`` : sql`skip locked`}
      ), placed as materialized (
        select begun.*, (left(last, 16) || to_hex(('x' || right(last, 16))::bit(64)::bigint + turn))::uuid as event_id
        from (
          select draft.*, created_at, case
            when last_event_id >= (lpad(to_hex(created_at), 12, '0') || repeat('0', 20))::uuid
              then replace(last_event_id::text, '-', '')
            else lpad(to_hex(created_at), 12, '0') || seed
          end as last
          from unnest(
            ${unseen(Parameter.uuids(drafts.map(({ tenantId }) => tenantId)))},
            ${texts(({ type }) => type)},
            ${texts(({ source }) => source)},
            ${texts(({ service }) => service)},
            ${texts(({ resourceId }) => resourceId)},
            ${texts(({ agentId }) => agentId)},
            ${texts(({ payload }) => JSON.stringify(payload))},
            ${texts(({ dedupeKey }) => dedupeKey)},
            ${texts(({ seed }) => seed)},
            ${unseen(Parameter.integers(drafts.map(({ turn }) => turn)))},
            ${unseen(Parameter.booleans(drafts.map(({ isLast }) => isLast)))}
          ) with ordinality as draft (
            tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, seed, turn, is_last, place
          ) join locked using (tenant_id)
          ${isWhole ? sql`where (select count(*) from locked) = ${Parameter.integer(tenantIds.length)}` : sql``}
          offset 0
        ) begun
      ), stored as (
        insert into events (
          event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at, expires_at
        )
        select
          event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at,
          created_at + ${Parameter.integer(policy.retention)}
        from placed order by place
        on conflict (dedupe_key, tenant_id) do nothing
        returning event_id
      ), moved as (
        update tenants set last_event_at = placed.created_at, last_event_id = event_id
        from placed where tenants.tenant_id = placed.tenant_id and is_last
      )
      select placed.place, placed.created_at, stored.event_id from placed left join stored using (event_id)`
  }

  const append = Effect.fnUntraced(function* (
    on: SqlClient.SqlClient,
    drafts: ReadonlyArray<EventDraft>,
    locked: Locked
  ): Effect.fn.Return<ReadonlyArray<Appended>, SqlError.SqlError> {
    const rows = yield* store(on, yield* takeTurns(drafts), locked)
    const placed = new Map(rows.map((row) => [Number(row.place), row]))
    const appended = drafts.map((draft, index) => toAppended(placed.get(index + 1), draft, policy.retention))
    yield* announcements.announce([...new Set(appended.filter(isEvent).map(({ tenantId }) => tenantId))])
    return appended
  })

  const appendWaiting = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>) {
    const appended = yield* append(sql, drafts, "wait")
    if (appended.includes("left")) return yield* Effect.die(new Error("the tenant of an event does not exist"))
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

/** A draft with its place among those of its tenant. */
interface TurnedDraft extends EventDraft {
  /** Per tenant: the last 20 hexadecimal digits of a new UUID, which follow the timestamp. */
  readonly seed: string
  /** Counted from 1. */
  readonly turn: number
  readonly isLast: boolean
}

const takeTurns = Effect.fnUntraced(function* (drafts: ReadonlyArray<EventDraft>) {
  const counts = new Map<string, number>()
  for (const { tenantId } of drafts) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1)
  const seeds = new Map<string, string>()
  for (const tenantId of counts.keys()) {
    seeds.set(
      tenantId,
      Uuid.fromParts(0, yield* Uuid.randomBits)
        .replaceAll("-", "")
        .slice(12)
    )
  }
  const turns = new Map<string, number>()
  return drafts.map((draft): TurnedDraft => {
    const turn = (turns.get(draft.tenantId) ?? 0) + 1
    turns.set(draft.tenantId, turn)
    return { ...draft, seed: seeds.get(draft.tenantId)!, turn, isLast: turn === counts.get(draft.tenantId) }
  })
})

const toAppended = (
  row: PlacedRow | undefined,
  { dedupeKey: _, ...draft }: EventDraft,
  retention: number
): Appended => {
  if (row === undefined) return "left"
  if (row.event_id === null) return "known"
  const createdAt = Row.toMoment(row.created_at)
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
