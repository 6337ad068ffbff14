import type { DurableEvent, EventFilter, EventStatus, Lookup, Position } from "@agentos/core"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import { EVENTS, type EventRow, toEvent } from "./EventRow.ts"
import * as Row from "../Row.ts"

/** The column of an event's owner, which decides the index that is used: see `createEvents`. */
type Owner = "tenant_id" | "open_tenant_id" | "failed_tenant_id"

/** Returns the owner column of the smallest index that contains all events of these statuses. */
const ownerOf = (statuses: ReadonlyArray<EventStatus> | undefined): Owner => {
  if (statuses?.every((status) => status === "pending" || status === "delivered")) return "open_tenant_id"
  return statuses?.every((status) => status === "failed") ? "failed_tenant_id" : "tenant_id"
}

export const makeReading = ({ sql, clock }: EventDatabase) => {
  const columns = sql.literal(EVENTS.columns)
  const expired = sql`expires_at <= (select now from clock)`
  const status = sql`case when open_tenant_id is not null and ${expired} then 'expired' else status end as status`
  const replayable = sql`
    not ${expired} and (leased_until is null or leased_until <= (select now from clock))`

  const hasStatus = (wanted: EventStatus): Statement.Fragment => {
    switch (wanted) {
      case "pending":
      case "delivered":
        return sql`(status = ${Parameter.text(wanted)} and not ${expired})`
      case "expired":
        return sql`(status = 'expired' or open_tenant_id is not null and ${expired})`
      case "acknowledged":
      case "failed":
        return sql`status = ${Parameter.text(wanted)}`
    }
  }

  const conditionsOf = (filter: EventFilter): ReadonlyArray<Statement.Fragment> => {
    const conditions: Array<Statement.Fragment> = []
    const { agentId, from, resourceId, service, statuses, to, types } = filter
    if (statuses !== undefined) conditions.push(statuses.length === 0 ? sql`false` : sql.or(statuses.map(hasStatus)))
    if (types !== undefined) conditions.push(sql`type = any(${Parameter.texts(types)})`)
    if (agentId !== undefined) conditions.push(sql`agent_id = ${Parameter.text(agentId)}`)
    if (service !== undefined) conditions.push(sql`service = ${Parameter.text(service)}`)
    if (resourceId !== undefined) conditions.push(sql`resource_id = ${Parameter.text(resourceId)}`)
    if (from !== undefined) conditions.push(sql`created_at >= ${Parameter.integer(from)}`)
    if (to !== undefined) conditions.push(sql`created_at < ${Parameter.integer(to)}`)
    return conditions
  }

  const select = (
    owner: Owner,
    tenantId: string,
    conditions: ReadonlyArray<Statement.Fragment>,
    after: Position | undefined,
    limit: number
  ) => {
    const parts = [sql`${sql.literal(owner)} = ${Parameter.uuid(tenantId)}`, ...conditions]
    if (after !== undefined) {
      parts.push(sql`(created_at, event_id) > (${Parameter.integer(after.createdAt)}, ${Parameter.uuid(after.id)})`)
    }
    return Row.all(toEvent)(sql<EventRow>`
      with ${clock()}
      select ${columns}, ${status} from events where ${sql.and(parts)}
      order by created_at, event_id limit ${Parameter.unseen(sql, Parameter.integer(limit))}`)
  }

  const countEach = (tenantIds: ReadonlyArray<string>, limit: number): Effect.Effect<ReadonlyMap<string, number>> =>
    Effect.map(
      orDie(sql<{ readonly tenant_id: string; readonly count: bigint }>`
        with ${clock()}
        select wanted.tenant_id, counted.count
        from unnest(${Parameter.uuids(tenantIds)}) as wanted (tenant_id) cross join lateral (
          select count(*) as count from (
            select 1 from events where open_tenant_id = wanted.tenant_id and ${replayable}
            order by created_at, event_id limit ${Parameter.unseen(sql, Parameter.integer(limit))}
          ) found
        ) counted
        where counted.count > 0`),
      (rows) => new Map(rows.map(({ count, tenant_id }) => [tenant_id, Number(count)]))
    )

  const latestEach = (tenantIds: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, Position>> =>
    Effect.map(
      orDie(sql<Pick<EventRow, "tenant_id" | "created_at" | "event_id">>`
        select wanted.tenant_id, newest.created_at, newest.event_id
        from unnest(${Parameter.uuids(tenantIds)}) as wanted (tenant_id) cross join lateral (
          select created_at, event_id from events where tenant_id = wanted.tenant_id
          order by created_at desc, event_id desc limit 1
        ) newest`),
      (rows) => new Map(rows.map((row) => [row.tenant_id, { createdAt: Number(row.created_at), id: row.event_id }]))
    )

  return {
    find: (tenantId: string, eventId: string): Effect.Effect<Lookup.Lookup<DurableEvent>> =>
      Row.lookup(
        tenantId,
        toEvent
      )(sql<EventRow>`
          with ${clock()} select ${columns}, ${status} from events where event_id = ${Parameter.uuid(eventId)}`),
    list: (tenantId: string, filter: EventFilter, after: Position | undefined, limit: number) =>
      select(ownerOf(filter.statuses), tenantId, conditionsOf(filter), after, limit),
    latest: (tenantId: string) => Effect.map(latestEach([tenantId]), (latest) => latest.get(tenantId)),
    latestEach,
    replayable: (tenantId: string, limit: number, after?: Position) =>
      select("open_tenant_id", tenantId, [replayable], after, limit),
    countReplayable: (tenantId: string, limit: number) =>
      Effect.map(countEach([tenantId], limit), (counts) => counts.get(tenantId) ?? 0),
    countReplayableEach: countEach
  }
}
