import type { Call } from "@agentos/core"
import * as Table from "./Table.ts"

/** The fields that never change: the call's identity, owner and parties. */
const FIXED = {
  callId: Table.uuid("call_id"),
  tenantId: Table.uuid("tenant_id"),
  phoneNumberId: Table.uuid("phone_number_id"),
  agentId: Table.uuid("agent_id"),
  direction: Table.textOf<Call["direction"]>().column("direction"),
  fromNumber: Table.text("from_number"),
  toNumber: Table.text("to_number"),
  createdAt: Table.moment("created_at")
}

export const CHANGING = {
  state: Table.textOf<Call["state"]>().column("state"),
  providerCallId: Table.textOrNull("provider_call_id"),
  greeting: Table.textOrNull("greeting"),
  authorizedSeconds: Table.integer("authorized_seconds"),
  extendedSeconds: Table.integer("extended_seconds"),
  hangUpReason: Table.textOf<NonNullable<Call["hangUpReason"]>>().orNull("hang_up_reason"),
  endReason: Table.textOf<NonNullable<Call["endReason"]>>().orNull("end_reason"),
  answeredBy: Table.textOf<NonNullable<Call["answeredBy"]>>().orNull("answered_by"),
  connectedSeconds: Table.integer("connected_seconds"),
  watchAt: Table.momentOrNull("watch_at"),
  answeredAt: Table.momentOrNull("answered_at"),
  endedAt: Table.momentOrNull("ended_at")
}

export const CALLS = Table.table("calls", { ...FIXED, ...CHANGING })

export type CallRow = Table.Stored<typeof CALLS>

export const toCall: (row: CallRow) => Call = CALLS.toRecord
