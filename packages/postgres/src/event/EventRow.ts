import { type DurableEvent, EventStatus, EventType } from "@agentos/core"
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

export const toEvent: (row: EventRow) => DurableEvent = WITH_STATUS.toRecord
