import type { Delivery, HeldLease } from "@agentos/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import { EVENT_COLUMNS, type EventRow, toEvent } from "./EventRow.ts"

/** How many events that are over are written down as such at a time. */
const SWEEP = 5_000

interface TakenRow extends EventRow {
  readonly delivery_id: string | null
}

/** Makes `lease`, `renew` and `release`. */
export const makeDelivery = ({ sql, announcements, transact, policy, clock }: EventDatabase) => {
  const columns = sql.literal(EVENT_COLUMNS.replaceAll(/\w+/g, (column) => `events.${column}`))

  /**
   * The oldest of a tenant's open events that nobody holds, locked, and what each is to become. It
   * reads `events_open` from its beginning, passes over what another transaction holds, and looks
   * at no more than `limit` rows that it does not pass over.
   */
  const candidates = (tenantId: string, limit: number) => sql`
    candidate as materialized (
      select
        event_id,
        case
          when expires_at <= (select now from clock) then 'expired'
          when lapses + (leased_until is not null)::integer >= ${Parameter.integer(policy.maxLapses)}
            and (select now from clock) - created_at >= ${Parameter.integer(policy.minFailAge)} then 'failed'
          else 'delivered'
        end as outcome
      from events
      where open_tenant_id = ${Parameter.uuid(tenantId)}
        and (leased_until is null or leased_until <= (select now from clock))
      order by created_at, event_id limit ${Parameter.integer(limit)}
      for update skip locked
    )`

  /** Takes what can be delivered of the oldest `limit`, and writes down of the others that they are over. */
  const take = (tenantId: string, sessionId: string, limit: number) => sql<TakenRow>`
    with ${clock()}, ${candidates(tenantId, limit)}
    update events set
      status = outcome,
      lapses = lapses + (leased_until is not null)::integer,
      delivered_at = case outcome when 'delivered' then (select now from clock) else delivered_at end,
      delivery_count = delivery_count + (outcome = 'delivered')::integer,
      session_id = case outcome when 'delivered' then ${Parameter.text(sessionId)} end,
      delivery_id = case outcome when 'delivered' then gen_random_uuid() end,
      leased_until = case outcome
        when 'delivered' then (select now from clock) + ${Parameter.integer(policy.leaseDuration)}
      end
    from candidate where events.event_id = candidate.event_id
    returning ${columns}, events.status, events.delivery_id`

  /** Writes down of many that they are over, without taking any. */
  const sweep = (tenantId: string) => sql`
    with ${clock()}, ${candidates(tenantId, SWEEP)}
    update events set
      status = outcome, lapses = lapses + (leased_until is not null)::integer,
      session_id = null, delivery_id = null, leased_until = null
    from candidate where events.event_id = candidate.event_id and outcome <> 'delivered'`

  const lease = Effect.fnUntraced(function* (
    tenantId: string,
    sessionId: string,
    limit: number
  ): Effect.fn.Return<ReadonlyArray<Delivery>, SqlError.SqlError> {
    const deliveries: Array<Delivery> = []
    while (deliveries.length < limit) {
      const asked = limit - deliveries.length
      const rows = yield* take(tenantId, sessionId, asked)
      const taken = rows.flatMap((row) =>
        row.delivery_id === null ? [] : [{ deliveryId: row.delivery_id, event: toEvent(row) }]
      )
      deliveries.push(...taken)
      if (rows.length < asked) break
      // What was over took the place of what can be delivered: there may be much of it.
      if (taken.length < rows.length) yield* sweep(tenantId)
    }
    return deliveries.toSorted((a, b) => compare(a.event, b.event))
  })

  /** The leases of sessions, locked in the one order in which events are locked. */
  const held = (sessionIds: ReadonlyArray<string>) => sql`
    held as materialized (
      select event_id, leased_until <= (select now from clock) as lapsed from events
      where session_id = any(${Parameter.texts(sessionIds)})
      order by tenant_id, created_at, event_id
      for update
    )`

  const renew = (sessionIds: ReadonlyArray<string>) => sql<{ readonly session_id: string; readonly event_id: string }>`
    with ${clock()}, ${held(sessionIds)}
    update events set leased_until = (select now from clock) + ${Parameter.integer(policy.leaseDuration)}
    from held where events.event_id = held.event_id and not lapsed
    returning events.session_id, events.event_id`

  const release = Effect.fnUntraced(function* (sessionIds: ReadonlyArray<string>) {
    const rows = yield* sql<{ readonly tenant_id: string }>`
      with ${clock()}, ${held(sessionIds)}, freed as (
        update events set
          lapses = lapses + lapsed::integer, session_id = null, delivery_id = null, leased_until = null
        from held where events.event_id = held.event_id
        returning events.tenant_id
      )
      select distinct tenant_id from freed`
    yield* announcements.announce(rows.map((row) => row.tenant_id))
  })

  return {
    lease: (tenantId: string, sessionId: string, limit: number) => orDie(lease(tenantId, sessionId, limit)),
    renew: (sessionIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<HeldLease>> =>
      sessionIds.length === 0
        ? Effect.succeed([])
        : Effect.map(orDie(renew(sessionIds)), (rows) =>
            rows.map((row) => ({ sessionId: row.session_id, eventId: row.event_id }))
          ),
    release: (sessionIds: ReadonlyArray<string>): Effect.Effect<void> =>
      sessionIds.length === 0 ? Effect.void : transact(orDie(release(sessionIds)))
  }
}

const compare = (a: Delivery["event"], b: Delivery["event"]): number =>
  a.createdAt - b.createdAt || (a.eventId < b.eventId ? -1 : 1)
