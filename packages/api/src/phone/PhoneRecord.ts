import { Timestamp, Uuid } from "@agentos/core"
import { Schema } from "effect"
import { E164 } from "./PhoneInput.ts"

const moment = Schema.NullOr(Timestamp.IsoTimestamp)
const optionalText = Schema.NullOr(Schema.String)

/**
 * A number of a tenant. `expiring` is 5 days or less before the end; `suspended`
 * is after the end, while the number is given back.
 */
export const PhoneNumberRecord = Schema.Struct({
  phoneNumberId: Uuid.Uuid,
  agentId: Uuid.Uuid,
  number: E164,
  country: Schema.Literals(["US", "CA"]),
  agentName: Schema.String,
  agentWebhookUrl: Schema.String,
  description: optionalText,
  beginMessage: optionalText,
  voice: optionalText,
  language: optionalText,
  status: Schema.Literals(["active", "expiring", "suspended", "released"]),
  entitlement: Schema.Struct({
    startedAt: Timestamp.IsoTimestamp,
    expiresAt: Timestamp.IsoTimestamp,
    secondsRemaining: Schema.Int
  }),
  inboundAllowance: Schema.Struct({
    purchasedSeconds: Schema.Int,
    usedSeconds: Schema.Int,
    remainingSeconds: Schema.Int
  }),
  createdAt: Timestamp.IsoTimestamp,
  releasedAt: moment
}).annotate({ identifier: "PhoneNumber" })

/** A call, in or out. */
export const CallRecord = Schema.Struct({
  callId: Uuid.Uuid,
  phoneNumberId: Uuid.Uuid,
  direction: Schema.Literals(["inbound", "outbound"]),
  fromNumber: Schema.String,
  toNumber: Schema.String,
  status: Schema.Literals(["queued", "ringing", "in_progress", "ended"]),
  endReason: Schema.NullOr(
    Schema.Literals(["completed", "hangup_agent", "time_limit", "no_answer", "busy", "failed", "allowance_exhausted"])
  ),
  authorizedSeconds: Schema.Int,
  connectedSeconds: Schema.Int,
  createdAt: Timestamp.IsoTimestamp,
  answeredAt: moment,
  endedAt: moment
}).annotate({ identifier: "Call" })

/** What was said in a call. There is never a recording. */
export const TranscriptRecord = Schema.Struct({
  callId: Uuid.Uuid,
  /** Whether nothing more will be added. */
  complete: Schema.Boolean,
  turns: Schema.Array(
    Schema.Struct({
      role: Schema.Literals(["agent", "caller", "system"]),
      text: Schema.String,
      at: Timestamp.IsoTimestamp
    })
  )
}).annotate({ identifier: "Transcript" })
