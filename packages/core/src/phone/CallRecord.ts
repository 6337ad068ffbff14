import { Schema } from "effect"
import { IsoTimestamp, type Timestamp, toIso, toIsoOrNull } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import * as Allowance from "./Allowance.ts"
import { AnsweredBy, type Call, CallDirection, CallEndReason } from "./Call.ts"
import { callerOf, fromWithheld } from "./CallerId.ts"
import { CallState } from "./PhoneState.ts"

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
  answeredBy: Schema.NullOr(AnsweredBy).annotateKey({
    description:
      "Who answered a call that you placed, as the carrier recognized it by the voice: usually some seconds after the answer. Null if it did not say, or the service does not ask it."
  }),
  authorizedSeconds: Schema.Int.annotateKey({ description: "Limit of the call, in seconds from its answer." }),
  connectedSeconds: Schema.Int.annotateKey({
    description: "Seconds since the answer, until the end; 0 before the answer."
  }),
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

/** Returns the record of a call at `now`: the seconds of a live call count until then. */
export const toCallRecord = (call: Call, now: Timestamp): CallRecord => ({
  callId: call.callId,
  phoneNumberId: call.phoneNumberId,
  direction: call.direction,
  ...fromOf(call),
  toNumber: call.toNumber,
  status: call.state,
  endReason: call.endReason,
  answeredBy: call.answeredBy,
  authorizedSeconds: call.authorizedSeconds,
  connectedSeconds: Allowance.connectedSecondsAt(call, now),
  createdAt: toIso(call.createdAt),
  answeredAt: toIsoOrNull(call.answeredAt),
  endedAt: toIsoOrNull(call.endedAt)
})
