import { type Call } from "@agentos/core"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

export interface CallRow extends Record<"call_id" | "tenant_id" | "phone_number_id" | "agent_id", string> {
  readonly direction: Call["direction"]
  readonly from_number: string
  readonly to_number: string
  readonly state: Call["state"]
  readonly provider_call_id: string | null
  readonly greeting: string | null
  readonly authorized_seconds: number
  readonly extended_seconds: number
  readonly hang_up_reason: Call["hangUpReason"]
  readonly end_reason: Call["endReason"]
  readonly connected_seconds: number
  readonly watch_at: bigint | null
  readonly created_at: bigint
  readonly answered_at: bigint | null
  readonly ended_at: bigint | null
}

export const CALL_COLUMNS = `call_id, tenant_id, phone_number_id, agent_id, direction, from_number, to_number, state,
  provider_call_id, greeting, authorized_seconds, extended_seconds, hang_up_reason, end_reason, connected_seconds,
  watch_at, created_at, answered_at, ended_at`

export const toCall = (row: CallRow): Call => ({
  callId: row.call_id,
  tenantId: row.tenant_id,
  phoneNumberId: row.phone_number_id,
  agentId: row.agent_id,
  direction: row.direction,
  fromNumber: row.from_number,
  toNumber: row.to_number,
  state: row.state,
  providerCallId: row.provider_call_id,
  greeting: row.greeting,
  authorizedSeconds: row.authorized_seconds,
  extendedSeconds: row.extended_seconds,
  hangUpReason: row.hang_up_reason,
  endReason: row.end_reason,
  connectedSeconds: row.connected_seconds,
  watchAt: Row.toMomentOrNull(row.watch_at),
  createdAt: Row.toMoment(row.created_at),
  answeredAt: Row.toMomentOrNull(row.answered_at),
  endedAt: Row.toMomentOrNull(row.ended_at)
})

/** The columns that never change: the call's identity, owner and parties. */
export const fixed = (call: Call) => ({
  call_id: Parameter.uuid(call.callId),
  tenant_id: Parameter.uuid(call.tenantId),
  phone_number_id: Parameter.uuid(call.phoneNumberId),
  agent_id: Parameter.uuid(call.agentId),
  direction: Parameter.text(call.direction),
  from_number: Parameter.text(call.fromNumber),
  to_number: Parameter.text(call.toNumber),
  created_at: Parameter.integer(call.createdAt)
})

export const changing = (call: Call) => ({
  state: Parameter.text(call.state),
  provider_call_id: Parameter.text(call.providerCallId),
  greeting: Parameter.text(call.greeting),
  authorized_seconds: Parameter.integer(call.authorizedSeconds),
  extended_seconds: Parameter.integer(call.extendedSeconds),
  hang_up_reason: Parameter.text(call.hangUpReason),
  end_reason: Parameter.text(call.endReason),
  connected_seconds: Parameter.integer(call.connectedSeconds),
  watch_at: Parameter.integer(call.watchAt),
  answered_at: Parameter.integer(call.answeredAt),
  ended_at: Parameter.integer(call.endedAt)
})
