import { type DurableEvent, EventStatus, EventType } from "@agentos/core"
import * as Row from "../Row.ts"
import * as Table from "../Table.ts"

/** The columns of an event without its status, which depends on the moment of reading. */
const STORED = {
  eventId: Table.uuid("event_id"),
  tenantId: Table.uuid("tenant_id"),
  type: Table.literal(EventType).column("type"),
  source: Table.text("source"),
  service: Table.text("service"),
  resourceId: Table.text("resource_id"),
  agentId: Table.text("agent_id"),
  payload: Table.json<DurableEvent["payload"]>().column("payload"),
  createdAt: Table.moment("created_at"),
  expiresAt: Table.moment("expires_at"),
  deliveredAt: Table.momentOrNull("delivered_at"),
  acknowledgedAt: Table.momentOrNull("acknowledged_at"),
  deliveryCount: Table.integer("delivery_count")
}

export const EVENTS = Table.table("events", STORED)

const WITH_STATUS = Table.table("events", { ...STORED, status: Table.literal(EventStatus).column("status") })

export type EventRow = Table.Stored<typeof WITH_STATUS>

const toType = Row.literalOf(EventType)
const toStatus = Row.literalOf(EventStatus)

/**
 * Does the same as `WITH_STATUS.toRecord`, written out: that takes 459 ns instead of 175, which is 8 % of the time of a
 * page of 100 events.
 */
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
