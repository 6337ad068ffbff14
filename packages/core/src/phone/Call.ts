import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso, toIsoOrNull } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { callerOf, fromWithheld } from "./CallerId.ts"
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

/** A call as clients see it. */
export const CallRecord = Schema.Struct({
  callId: Uuid.annotateKey({ description: "Id of the call." }),
  phoneNumberId: Uuid.annotateKey({ description: "Id of your number in the call." }),
  direction: CallDirection.annotateKey({
    description: "inbound: a person called your number. outbound: you placed the call."
  }),
  fromNumber: Schema.NullOr(Schema.String).annotateKey({
    description:
      "Number that calls, in E.164 format, or an address such as sip:alice@example.com; null if the caller's number is withheld. Of a declined call, `multiple` stands for several callers."
  }),
  fromWithheld,
  toNumber: Schema.String.annotateKey({ description: "Number that is called, in E.164 format." }),
  status: CallState.annotateKey({ description: "State of the call. It moves forward only." }),
  endReason: Schema.NullOr(CallEndReason).annotateKey({ description: "Why the call ended; null before its end." }),
  authorizedSeconds: Schema.Int.annotateKey({ description: "Limit of the call, in seconds from its answer." }),
  connectedSeconds: Schema.Int.annotateKey({ description: "Seconds from the answer to the end; 0 before the end." }),
  createdAt: IsoTimestamp.annotateKey({ description: "When the call was placed or announced." }),
  answeredAt: Schema.NullOr(IsoTimestamp).annotateKey({
    description: "When the call was answered; null if it was not."
  }),
  endedAt: Schema.NullOr(IsoTimestamp).annotateKey({ description: "When the call ended; null before." })
}).annotate({ identifier: "Call" })
export type CallRecord = typeof CallRecord.Type

/** The caller as records and events have it. */
export const fromOf = (
  call: Pick<Call, "direction" | "fromNumber">
): Pick<CallRecord, "fromNumber" | "fromWithheld"> => {
  const { from, withheld } = callerOf(call)
  return { fromNumber: from, fromWithheld: withheld }
}

export const toCallRecord = (call: Call): CallRecord => ({
  callId: call.callId,
  phoneNumberId: call.phoneNumberId,
  direction: call.direction,
  ...fromOf(call),
  toNumber: call.toNumber,
  status: call.state,
  endReason: call.endReason,
  authorizedSeconds: call.authorizedSeconds,
  connectedSeconds: call.connectedSeconds,
  createdAt: toIso(call.createdAt),
  answeredAt: toIsoOrNull(call.answeredAt),
  endedAt: toIsoOrNull(call.endedAt)
})
