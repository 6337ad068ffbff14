import type { RetentionScope } from "@agentos/core"
import { Effect } from "effect"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import { inScope } from "../Retention.ts"
import type { EventDatabase } from "./EventDatabase.ts"

/** Events of a deleted agent that expire in the transaction that deletes it. A job expires the others. */
const AT_ONCE = 1_000

/**
 * Makes `expire`, `expireAgent` and `remove`. All skip locked rows, so they hold no lock while waiting, and their lock
 * order does not matter. And `requeue`, which undoes an end.
 */
export const makeEnding = ({ announcements, clock, sql, transact }: EventDatabase) => {
  const count = (rows: ReadonlyArray<{ readonly count: bigint }>) => Number(rows[0]?.count ?? 0n)

  /** Reads `events_expiring` from its beginning. */
  const expire = (limit: number) => sql<{ readonly count: bigint }>`
    with ${clock()}, over as materialized (
      select event_id from events
      where open_tenant_id = tenant_id and expires_at <= (select now from clock)
      order by expires_at limit ${Parameter.unseen(sql, Parameter.integer(limit))}
      for update skip locked
    ), changed as (
      update events set status = 'expired', session_id = null, delivery_id = null, leased_until = null
      where event_id = any(array(select event_id from over))
      returning 1
    )
    select count(*) as count from changed`

  /** Expires the oldest open events of an agent. An event that a session acknowledges meanwhile is left to the next call. */
  const expireOf = (tenantId: string, agentId: string, limit: number) => sql<{ readonly count: bigint }>`
    with ${clock()}, over as materialized (
      select event_id from events
      where open_tenant_id = ${Parameter.uuid(tenantId)} and agent_id = ${Parameter.text(agentId)}
      order by created_at, event_id limit ${Parameter.unseen(sql, Parameter.integer(limit))}
      for update skip locked
    ), changed as (
      update events set
        status = 'expired', expires_at = least(expires_at, (select now from clock)),
        session_id = null, delivery_id = null, leased_until = null
      where event_id = any(array(select event_id from over))
      returning 1
    )
    select count(*) as count from changed`

  const expireAgent = Effect.fnUntraced(function* (tenantId: string, agentId: string) {
    const expired = count(yield* expireOf(tenantId, agentId, AT_ONCE))
    const [open] = yield* sql`
      select 1 from events where open_tenant_id = ${Parameter.uuid(tenantId)} and agent_id = ${Parameter.text(agentId)}
      limit 1`
    if (expired < AT_ONCE && open === undefined) return
    yield* sql`
      insert into deleted_agents (tenant_id, agent_id)
      values (${Parameter.uuid(tenantId)}, ${Parameter.text(agentId)})
      on conflict do nothing`
  })

  /** Expires events of deleted agents, and forgets each agent that has no open event left. */
  const expireDeleted = Effect.fnUntraced(function* (limit: number) {
    let total = 0
    while (total < limit) {
      const [agent] = yield* sql<{ readonly tenant_id: string; readonly agent_id: string }>`
        select tenant_id, agent_id from deleted_agents limit 1 for update skip locked`
      if (agent === undefined) break
      const expired = count(yield* expireOf(agent.tenant_id, agent.agent_id, limit - total))
      total += expired
      if (expired > 0) continue
      yield* sql`
        delete from deleted_agents
        where tenant_id = ${Parameter.uuid(agent.tenant_id)} and agent_id = ${Parameter.text(agent.agent_id)}
          and not exists (
            select 1 from events
            where open_tenant_id = ${Parameter.uuid(agent.tenant_id)} and agent_id = ${Parameter.text(agent.agent_id)}
          )`
      // Events that a session has locked: the next run expires them.
      break
    }
    return total
  })

  const expireAll = Effect.fnUntraced(function* (limit: number) {
    const expired = count(yield* expire(limit))
    return expired >= limit ? expired : expired + (yield* expireDeleted(limit - expired))
  })

  /** An event's id begins with its creation time, so the oldest events are at the beginning of `events_key`. */
  const remove = (age: number, limit: number, scope: RetentionScope) => sql<{ readonly count: bigint }>`
    with ${clock()}, cutoff as materialized (
      select now - ${Parameter.integer(age)} as created_at from clock
    ), found as materialized (
      select event_id from events
      where event_id < (
          select (lpad(to_hex(greatest(created_at + 1, 0)), 12, '0') || repeat('0', 20))::uuid from cutoff
        )
        and created_at <= (select created_at from cutoff)
        and (open_tenant_id is null or expires_at <= (select now from clock)) ${inScope(sql, scope)}
      order by event_id limit ${Parameter.unseen(sql, Parameter.integer(limit))}
      for update skip locked
    ), removed as (
      delete from events where event_id = any(array(select event_id from found))
      returning 1
    )
    select count(*) as count from removed`

  const requeue = Effect.fnUntraced(function* (tenantId: string, eventIds: ReadonlyArray<string>) {
    const rows = yield* sql`
      with ${clock()}, failed as materialized (
        select event_id from events
        where event_id = any(${Parameter.uuids(eventIds)}) and failed_tenant_id = ${Parameter.uuid(tenantId)}
          and expires_at > (select now from clock)
        order by created_at, event_id for update
      )
      update events set status = 'pending', lapses = 0
      where event_id = any(array(select event_id from failed)) returning event_id`
    if (rows.length > 0) yield* announcements.announce([tenantId])
    return rows.length
  })

  return {
    requeue: (tenantId: string, eventIds: ReadonlyArray<string>): Effect.Effect<number> =>
      transact(orDie(requeue(tenantId, eventIds))),
    expire: (limit: number): Effect.Effect<number> => transact(orDie(expireAll(limit))),
    expireAgent: (tenantId: string, agentId: string): Effect.Effect<void> =>
      transact(orDie(expireAgent(tenantId, agentId))),
    remove: (age: number, limit: number, scope: RetentionScope = {}): Effect.Effect<number> =>
      Effect.map(orDie(remove(age, limit, scope)), count)
  }
}
