import { Schema, Struct } from "effect"
import { NumberCountry } from "../catalog/NumberCountry.ts"
import { IsoTimestamp, Timestamp, toIso, toIsoOrNull } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import { NumberState, Suspension } from "./PhoneState.ts"

/** A telephone number in E.164: `+`, then 7 to 15 digits of which the first is not 0. */
export const E164 = Schema.String.check(
  Schema.isPattern(/^\+[1-9][0-9]{6,14}$/u, { expected: "a phone number in E.164 format, for example +14155550150" })
)

const optionalText = Schema.NullOr(Schema.String)

/** The fields that clients see as they are stored. Those that were not set are null. */
const shared = {
  phoneNumberId: Uuid.annotateKey({ description: "Id of the number." }),
  agentId: Uuid.annotateKey({
    description: "Id of the agent behind the number, made at its purchase. Events of the number have it."
  }),
  number: E164.annotateKey({ description: "The number in E.164 format." }),
  country: NumberCountry.annotateKey({ description: "Country of the number." }),
  agentName: Schema.String.annotateKey({ description: "Name of the agent that answers the number." }),
  agentWebhookUrl: Schema.String.annotateKey({
    description:
      "URL that receives what callers say. A host under .invalid stands for an agent that answers over its socket."
  }),
  description: optionalText.annotateKey({ description: "Your note about the number; null if none is set." }),
  beginMessage: optionalText.annotateKey({ description: "Greeting that callers hear first; null if none is set." }),
  voice: optionalText.annotateKey({
    description: "Voice that speaks the agent's replies; null for the carrier's choice."
  }),
  language: optionalText.annotateKey({
    description: "Language of the calls as a BCP 47 tag; null for the carrier's choice."
  })
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
  status: Allowance.NumberStatus.annotateKey({
    description:
      "active; expiring: 5 days or less before the end; suspended: it can't be used and is being released; released."
  }),
  entitlement: Schema.Struct({
    startedAt: IsoTimestamp.annotateKey({ description: "When the paid time began." }),
    expiresAt: IsoTimestamp.annotateKey({ description: "When the paid time ends. Then the number is suspended." }),
    secondsRemaining: Schema.Int.annotateKey({ description: "Seconds until `expiresAt`; 0 afterwards." })
  }).annotateKey({ description: "The time for which the number is paid." }),
  inboundAllowance: Schema.Struct({
    purchasedSeconds: Schema.Int.annotateKey({ description: "Seconds bought so far." }),
    usedSeconds: Schema.Int.annotateKey({ description: "Seconds that calls used, also those in progress." }),
    remainingSeconds: Schema.Int.annotateKey({ description: "Seconds that are left." })
  }).annotateKey({ description: "The seconds that inbound calls may use." }),
  createdAt: IsoTimestamp.annotateKey({ description: "When the number was bought." }),
  releasedAt: Schema.NullOr(IsoTimestamp).annotateKey({
    description: "When the carrier confirmed the release; null before."
  })
}).annotate({ identifier: "PhoneNumber" })
export type PhoneNumberRecord = typeof PhoneNumberRecord.Type

/** Returns the record of a number at `now`, given its live calls; those of other numbers are ignored. */
export const toPhoneNumberRecord = (
  number: PhoneNumber,
  now: Timestamp,
  live: ReadonlyArray<Call> = []
): PhoneNumberRecord => ({
  ...Struct.pick(number, SHARED),
  status: Allowance.statusAt(number, now),
  entitlement: {
    startedAt: toIso(number.startedAt),
    expiresAt: toIso(number.expiresAt),
    secondsRemaining: Allowance.secondsRemaining(number, now)
  },
  inboundAllowance: allowanceOf(number, now, live),
  createdAt: toIso(number.createdAt),
  releasedAt: toIsoOrNull(number.releasedAt)
})

const allowanceOf = ({ allowance, phoneNumberId }: PhoneNumber, now: Timestamp, live: ReadonlyArray<Call>) => {
  const own = live.filter((call) => call.phoneNumberId === phoneNumberId)
  const used = Allowance.usedAt(allowance, own, now)
  return { ...used, remainingSeconds: Allowance.remaining(used) }
}
