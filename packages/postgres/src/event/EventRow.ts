import { type DurableEvent, EventStatus, EventType } from "@agentos/core"
import * as Row from "../Row.ts"

/** The columns of an event without its status, which depends on the moment of reading. */
export const EVENT_COLUMNS = `
  event_id, tenant_id, type, source, service, resource_id, agent_id, payload, created_at, expires_at,
  delivered_at, acknowledged_at, delivery_count`

export interface EventRow {
  readonly event_id: string
  readonly tenant_id: string
  readonly type: string
  readonly source: string
  readonly service: string
  readonly resource_id: string
  readonly agent_id: string
  readonly payload: string
  readonly status: string
  readonly created_at: bigint
  readonly expires_at: bigint
  readonly delivered_at: bigint | null
  readonly acknowledged_at: bigint | null
  readonly delivery_count: number
}

const toType = Row.literalOf(EventType)
const toStatus = Row.literalOf(EventStatus)

export const toEvent = (row: EventRow): DurableEvent => {
  const payload: DurableEvent["payload"] = JSON.parse(row.payload)
  return {
    eventId: row.event_id,
    tenantId: row.tenant_id,
    type: toType(row.type),
    source: row.source,
    service: row.service,
    resourceId: row.resource_id,
    agentId: row.agent_id,
    payload,
    status: toStatus(row.status),
    createdAt: Row.toMoment(row.created_at),
    deliveredAt: Row.toMomentOrNull(row.delivered_at),
    acknowledgedAt: Row.toMomentOrNull(row.acknowledged_at),
    expiresAt: Row.toMoment(row.expires_at),
    deliveryCount: row.delivery_count
  }
}
