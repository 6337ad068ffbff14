import { Schema } from "effect"
import { Timestamp } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { CallState } from "./PhoneState.ts"

export const CallDirection = Schema.Literals(["inbound", "outbound"])
export type CallDirection = typeof CallDirection.Type

export const CallEndReason = Schema.Literals([
  "completed",
  "hangup_agent",
  "time_limit",
  "no_answer",
  "busy",
  "failed",
  "allowance_exhausted"
])
export type CallEndReason = typeof CallEndReason.Type

/** The reason why this service ended a call. */
export const HangUpReason = Schema.Literals(["hangup_agent", "time_limit", "allowance_exhausted"])
export type HangUpReason = typeof HangUpReason.Type

/** Who answered a call, as the carrier recognized it. */
export const AnsweredBy = Schema.Literals(["person", "machine", "fax"])
export type AnsweredBy = typeof AnsweredBy.Type

export const Call = Schema.Struct({
  callId: Uuid,
  tenantId: Uuid,
  phoneNumberId: Uuid,
  /** The agent behind the number. */
  agentId: Uuid,
  direction: CallDirection,
  /** Of an inbound call, in the form of `storedCaller`. */
  fromNumber: Schema.String,
  toNumber: Schema.String,
  state: CallState,
  /** The carrier's id of the call; null until the carrier has reported it. */
  providerCallId: Schema.NullOr(Schema.String),
  /** The first text that is spoken after the answer. */
  greeting: Schema.NullOr(Schema.String),
  /** The limit of the call, in seconds from its answer. */
  authorizedSeconds: Schema.Int,
  /** The part of the limit that extensions have added. */
  extendedSeconds: Schema.Int,
  /** Set when this service decides to end the call, before it asks the carrier to hang up. */
  hangUpReason: Schema.NullOr(HangUpReason),
  endReason: Schema.NullOr(CallEndReason),
  /** Of an outbound call, once the carrier has recognized it; null if it does not say. */
  answeredBy: Schema.NullOr(AnsweredBy),
  connectedSeconds: Schema.Int,
  /**
   * When the call watch polls the call next, whether or not the carrier reports anything before; null once it has
   * ended.
   */
  watchAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  answeredAt: Schema.NullOr(Timestamp),
  endedAt: Schema.NullOr(Timestamp)
})
export type Call = typeof Call.Type
