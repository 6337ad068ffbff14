import { type EventFilter, type EventStatus, Lookup, type Position, Timestamp } from "@agentos/core"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { orDie } from "../DatabaseFailure.ts"
import * as Parameter from "../Parameter.ts"
import type { EventDatabase } from "./EventDatabase.ts"
import { EVENT_COLUMNS, type EventRow, toEvent } from "./EventRow.ts"

/** Makes what only reads: `find`, `list`, `latest`, `replayable` and `countReplayable`. */
export const makeReading = ({ sql, clock }: EventDatabase) => {
  const columns = sql.literal(EVENT_COLUMNS)
  const open = sql.literal("status in ('pending', 'delivered')")
  const expired = sql`expires_at <= (select now from clock)`
  const status = sql`case when ${open} and ${expired} then 'expired' else status end as status`
  const replayable = sql`
    ${open} and not ${expired} and (leased_until is null or leased_until <= (select now from clock))`

  const conditionOf = (wanted: EventStatus): Statement.Fragment => {
    switch (wanted) {
      case "pending":
      case "delivered":
        return sql`status = ${sql.literal(`'${wanted}'`)} and not ${expired}`
      case "expired":
        return sql`(status = 'expired' or ${open} and ${expired})`
      case "acknowledged":
      case "failed":
        return sql`status = ${sql.literal(`'${wanted}'`)}`
    }
  }

  const conditionsOf = (filter: EventFilter, after: Position | undefined): ReadonlyArray<Statement.Fragment> => {
    const conditions: Array<Statement.Fragment> = []
    if (filter.statuses !== undefined) {
      conditions.push(filter.statuses.length === 0 ? sql`false` : sql.or(filter.statuses.map(conditionOf)))
    }
    if (filter.types !== undefined) conditions.push(sql`type = any(${Parameter.texts(filter.types)})`)
    if (filter.agentId !== undefined) conditions.push(sql`agent_id = ${Parameter.text(filter.agentId)}`)
    if (filter.service !== undefined) conditions.push(sql`service = ${Parameter.text(filter.service)}`)
    if (filter.resourceId !== undefined) conditions.push(sql`resource_id = ${Parameter.text(filter.resourceId)}`)
    if (filter.from !== undefined) conditions.push(sql`created_at >= ${Parameter.integer(filter.from)}`)
    if (filter.to !== undefined) conditions.push(sql`created_at < ${Parameter.integer(filter.to)}`)
    if (after !== undefined) {
      conditions.push(
        sql`(created_at, event_id) > (${Parameter.integer(after.createdAt)}, ${Parameter.uuid(after.id)})`
      )
    }
    return conditions
  }

  const select = (tenantId: string, conditions: ReadonlyArray<Statement.Fragment>, limit: number) =>
    Effect.map(
      orDie(sql<EventRow>`
        with ${clock()}
        select ${columns}, ${status} from events
        where ${sql.and([sql`tenant_id = ${Parameter.uuid(tenantId)}`, ...conditions])}
        order by created_at, event_id limit ${Parameter.integer(limit)}`),
      (rows) => rows.map(toEvent)
    )

  return {
    find: (tenantId: string, eventId: string) =>
      Effect.map(
        orDie(sql<EventRow>`
          with ${clock()} select ${columns}, ${status} from events where event_id = ${Parameter.uuid(eventId)}`),
        ([row]) => {
          if (row === undefined) return Lookup.missing
          return row.tenant_id === tenantId ? Lookup.owned(toEvent(row)) : Lookup.foreign
        }
      ),
    list: (tenantId: string, filter: EventFilter, after: Position | undefined, limit: number) =>
      select(tenantId, conditionsOf(filter, after), limit),
    latest: (tenantId: string) =>
      Effect.map(
        orDie(sql<Pick<EventRow, "created_at" | "event_id">>`
          select created_at, event_id from events where tenant_id = ${Parameter.uuid(tenantId)}
          order by created_at desc, event_id desc limit 1`),
        ([row]): Position | undefined =>
          row && { createdAt: Timestamp.Timestamp.make(Number(row.created_at)), id: row.event_id }
      ),
    replayable: (tenantId: string, limit: number) => select(tenantId, [replayable], limit),
    countReplayable: (tenantId: string, limit: number) =>
      Effect.map(
        orDie(sql<{ readonly count: bigint }>`
          with ${clock()}
          select count(*) as count from (
            select 1 from events where tenant_id = ${Parameter.uuid(tenantId)} and ${replayable}
            limit ${Parameter.integer(limit)}
          ) found`),
        ([row]) => Number(row?.count ?? 0n)
      )
  }
}
