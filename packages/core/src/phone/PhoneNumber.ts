import { Schema, Struct } from "effect"
import { IsoTimestamp, Timestamp, toIso, toIsoOrNull } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import * as Allowance from "./Allowance.ts"
import { NumberState, Suspension } from "./PhoneState.ts"

/** A telephone number in E.164: `+`, then 7 to 15 digits of which the first is not 0. */
export const E164 = Schema.String.check(
  Schema.isPattern(/^\+[1-9][0-9]{6,14}$/u, { expected: "a phone number in E.164 format, for example +14155550123" })
)

/** The countries in which numbers can be bought. */
export const NumberCountry = Schema.Literals(["US", "CA"])
export type NumberCountry = typeof NumberCountry.Type

const optionalText = Schema.NullOr(Schema.String)

/** The fields that clients see as they are stored. Those that were not set are null. */
const shared = {
  phoneNumberId: Uuid,
  /** Identifies the agent behind the number, made at purchase. */
  agentId: Uuid,
  number: E164,
  country: NumberCountry,
  agentName: Schema.String,
  agentWebhookUrl: Schema.String,
  description: optionalText,
  beginMessage: optionalText,
  voice: optionalText,
  language: optionalText
}
const SHARED = Struct.keys(shared)

/** A number of a tenant and its agent. */
export const PhoneNumber = Schema.Struct({
  ...shared,
  tenantId: Uuid,
  /** The carrier's id of the number. */
  providerNumberId: Schema.String,
  state: NumberState,
  /** Why the number is suspended, or was suspended before its release; null while it is active. */
  suspension: Schema.NullOr(Suspension),
  startedAt: Timestamp,
  expiresAt: Timestamp,
  /** The next notice of the end; null when all notices were sent. */
  nextNotice: Schema.NullOr(Allowance.Notice),
  allowance: Allowance.InboundAllowance,
  /** The callback secret is derived from these two and the phoneNumberId. */
  callbackKeyId: Schema.Int,
  callbackVersion: Schema.Int,
  createdAt: Timestamp,
  releasedAt: Schema.NullOr(Timestamp)
})
export type PhoneNumber = typeof PhoneNumber.Type

/**
 * A number as clients see it. `expiring` means 5 days or less before the end; `suspended` means that the number can't
 * be used and is being released.
 */
export const PhoneNumberRecord = Schema.Struct({
  ...shared,
  status: Allowance.NumberStatus,
  entitlement: Schema.Struct({
    startedAt: IsoTimestamp,
    expiresAt: IsoTimestamp,
    secondsRemaining: Schema.Int
  }),
  inboundAllowance: Schema.Struct({
    purchasedSeconds: Schema.Int,
    usedSeconds: Schema.Int,
    remainingSeconds: Schema.Int
  }),
  createdAt: IsoTimestamp,
  releasedAt: Schema.NullOr(IsoTimestamp)
}).annotate({ identifier: "PhoneNumber" })
export type PhoneNumberRecord = typeof PhoneNumberRecord.Type

export const toPhoneNumberRecord = (number: PhoneNumber, now: Timestamp): PhoneNumberRecord => ({
  ...Struct.pick(number, SHARED),
  status: Allowance.statusAt(number, now),
  entitlement: {
    startedAt: toIso(number.startedAt),
    expiresAt: toIso(number.expiresAt),
    secondsRemaining: Allowance.secondsRemaining(number, now)
  },
  inboundAllowance: { ...number.allowance, remainingSeconds: Allowance.remaining(number.allowance) },
  createdAt: toIso(number.createdAt),
  releasedAt: toIsoOrNull(number.releasedAt)
})
