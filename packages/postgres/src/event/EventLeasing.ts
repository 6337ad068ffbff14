import type { Delivery, EventMachine, HeldLease, LeaseFilter, LeaseRequest } from "@agentos/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import { EVENTS, type EventRow, toEvent } from "./EventRow.ts"

/** Limit of expired or failed events that one statement updates. */
const SWEEP = 5_000

interface TakenRow extends EventRow {
  readonly delivery_id: string | null
  /** The index of the request that the row answers, from 1 on. */
  readonly place: bigint
}

/** A request with the deliveries taken for it. */
interface Open {
  readonly request: LeaseRequest
  readonly taken: Array<Delivery>
}

export const makeLeasing = ({ sql, announcements, transact, policy, clock }: EventDatabase) => {
  const columns = sql.literal(EVENTS.qualified)

  /**
   * For each request, selects and locks the oldest open events of the tenant that no session holds, and the
   * outcome of each. It reads `events_open` of each tenant from its beginning, skips rows that another
   * transaction has locked, and visits at most the request's limit of other rows. Rows locked by this
   * transaction are not skipped, so no two requests may be of one tenant.
   */
  const candidates = (requests: ReadonlyArray<LeaseRequest>, { except, types }: LeaseFilter) => sql`
    request as materialized (
      select * from unnest(
        ${Parameter.uuids(requests.map(({ tenantId }) => tenantId))},
        ${Parameter.texts(requests.map(({ sessionId }) => sessionId))},
        ${Parameter.integers(requests.map(({ limit }) => limit))}
      ) with ordinality as request (tenant_id, session_id, room, place)
    ), candidate as materialized (
      select request.place, request.session_id, found.event_id, found.outcome
      from request cross join lateral (
        select
          event_id,
          case
            when expires_at <= (select now from clock) then 'expired'
            when lapses + (leased_until is not null)::integer >= ${Parameter.integer(policy.maxLapses)}
              and (select now from clock) - created_at >= ${Parameter.integer(policy.minFailAge)} then 'failed'
            else 'delivered'
          end as outcome
        from events
        where open_tenant_id = request.tenant_id
          and (leased_until is null or leased_until <= (select now from clock))
          ${types === undefined ? sql`` : sql`and type = any(${Parameter.texts(types)})`}
          ${except === undefined ? sql`` : sql`and event_id <> all(${Parameter.uuids(except)})`}
        order by created_at, event_id limit request.room
        for update skip locked
      ) found
    )`

  /** The condition is stated twice: the array shows the planner that the rows are found by their ids. */
  const isCandidate = sql`
    events.event_id = any(array(select event_id from candidate)) and events.event_id = candidate.event_id`

  /** Leases the oldest events that can be delivered, and marks the others among them as expired or failed. */
  const take = (requests: ReadonlyArray<LeaseRequest>, filter: LeaseFilter) => sql<TakenRow>`
    with ${clock()}, ${candidates(requests, filter)}
    update events set
      status = outcome,
      lapses = lapses + (leased_until is not null)::integer,
      delivered_at = case outcome when 'delivered' then (select now from clock) else delivered_at end,
      delivery_count = delivery_count + (outcome = 'delivered')::integer,
      session_id = case outcome when 'delivered' then candidate.session_id end,
      delivery_id = case outcome when 'delivered' then gen_random_uuid() end,
      leased_until = case outcome
        when 'delivered' then (select now from clock) + ${Parameter.integer(policy.leaseDuration)}
      end
    from candidate where ${isCandidate}
    returning ${columns}, events.status, events.delivery_id, candidate.place`

  /** Marks many events as expired or failed, without leasing any. */
  const sweep = (requests: ReadonlyArray<LeaseRequest>, filter: LeaseFilter) => sql`
    with ${clock()}, ${candidates(
      requests.map((request) => ({ ...request, limit: SWEEP })),
      filter
    )}
    update events set
      status = outcome, lapses = lapses + (leased_until is not null)::integer,
      session_id = null, delivery_id = null, leased_until = null
    from candidate where ${isCandidate} and outcome <> 'delivered'`

  const leaseEach = Effect.fnUntraced(function* (
    requests: ReadonlyArray<LeaseRequest>,
    filter: LeaseFilter = {}
  ): Effect.fn.Return<ReadonlyArray<ReadonlyArray<Delivery>>, SqlError.SqlError> {
    const all = requests.map((request): Open => ({ request, taken: [] }))
    let open: ReadonlyArray<Open> = all
    for (;;) {
      open = open.filter(({ request, taken }) => taken.length < request.limit)
      if (open.length === 0) break
      const { first: wave, rest } = firstOfEachTenant(open)
      const asked = wave.map(({ request, taken }) => ({ ...request, limit: request.limit - taken.length }))
      const rows = Map.groupBy(yield* take(asked, filter), ({ place }) => Number(place))
      const again: Array<Open> = []
      wave.forEach((each, index) => {
        const found = rows.get(index + 1) ?? []
        for (const row of found) {
          if (row.delivery_id !== null) each.taken.push({ deliveryId: row.delivery_id, event: toEvent(row) })
        }
        if (found.length === asked[index]!.limit) again.push(each)
      })
      // Expired or failed events used up the limit, and there may be many more of them.
      const short = again.filter(({ request, taken }) => taken.length < request.limit)
      if (short.length > 0)
        yield* sweep(
          short.map(({ request }) => request),
          filter
        )
      open = [...again, ...rest]
    }
    return all.map(({ taken }) => taken.toSorted((a, b) => compare(a.event, b.event)))
  })

  /** The leases of sessions, locked in the order in which events are always locked. */
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

  const release = Effect.fnUntraced(function* (sessionIds: ReadonlyArray<string>, reason: EventMachine.ReleaseReason) {
    const rows = yield* sql<{ readonly tenant_id: string }>`
      with ${clock()}, ${held(sessionIds)}, freed as (
        update events set
          lapses = lapses + (lapsed or ${Parameter.boolean(reason === "unacknowledged")})::integer,
          session_id = null, delivery_id = null, leased_until = null
        from held where events.event_id = held.event_id
        returning events.tenant_id
      )
      select distinct tenant_id from freed`
    yield* announcements.announce(rows.map((row) => row.tenant_id))
  })

  return {
    lease: (
      tenantId: string,
      sessionId: string,
      limit: number,
      filter?: LeaseFilter
    ): Effect.Effect<ReadonlyArray<Delivery>> =>
      Effect.map(orDie(leaseEach([{ tenantId, sessionId, limit }], filter)), ([deliveries = []]) => deliveries),
    leaseEach: (requests: ReadonlyArray<LeaseRequest>) => orDie(leaseEach(requests)),
    renew: (sessionIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<HeldLease>> =>
      sessionIds.length === 0
        ? Effect.succeed([])
        : Effect.map(orDie(renew(sessionIds)), (rows) =>
            rows.map((row) => ({ sessionId: row.session_id, eventId: row.event_id }))
          ),
    release: (sessionIds: ReadonlyArray<string>, reason: EventMachine.ReleaseReason): Effect.Effect<void> =>
      sessionIds.length === 0 ? Effect.void : transact(orDie(release(sessionIds, reason)))
  }
}

/** Splits off the first request of each tenant, in the given order. */
const firstOfEachTenant = (open: ReadonlyArray<Open>) => {
  const tenantIds = new Set<string>()
  const first: Array<Open> = []
  const rest: Array<Open> = []
  for (const each of open) {
    const isFirst = !tenantIds.has(each.request.tenantId)
    tenantIds.add(each.request.tenantId)
    ;(isFirst ? first : rest).push(each)
  }
  return { first, rest }
}

const compare = (a: Delivery["event"], b: Delivery["event"]): number =>
  a.createdAt - b.createdAt || (a.eventId < b.eventId ? -1 : 1)
