import { type AvailableNumber, type OwnedNumber, type ProviderCall, Timestamp } from "@agentos/core"
import { Schema } from "effect"
import { callReportOf } from "./CallReportOf.ts"

/*
 * Twilio's resources as far as they are used (https://www.twilio.com/docs/voice/api). Every other field of a
 * response is dropped when it is read: prices, links, and everything about recordings.
 */

const Available = Schema.Struct({ phone_number: Schema.String })
const Incoming = Schema.Struct({
  sid: Schema.String,
  phone_number: Schema.String,
  friendly_name: Schema.NullOr(Schema.String)
})
const CallResource = Schema.Struct({
  sid: Schema.String,
  status: Schema.String,
  /** RFC 2822, in whole seconds. */
  date_created: Schema.optionalKey(Schema.NullOr(Schema.String)),
  end_time: Schema.optionalKey(Schema.NullOr(Schema.String)),
  duration: Schema.optionalKey(Schema.NullOr(Schema.String)),
  answered_by: Schema.optionalKey(Schema.NullOr(Schema.String))
})
/** The account: `active`, `suspended` or `closed`. */
export const Account = Schema.fromJsonString(Schema.Struct({ status: Schema.String }))
export type IncomingNumber = typeof Incoming.Type
export type TwilioCallResource = typeof CallResource.Type

export const AvailablePage = Schema.fromJsonString(Schema.Struct({ available_phone_numbers: Schema.Array(Available) }))
export const IncomingNumber = Schema.fromJsonString(Incoming)
export const IncomingPage = Schema.fromJsonString(
  Schema.Struct({
    incoming_phone_numbers: Schema.Array(Incoming),
    next_page_uri: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
)
export const OneCall = Schema.fromJsonString(CallResource)
export const CallPage = Schema.fromJsonString(Schema.Struct({ calls: Schema.Array(CallResource) }))

/** Returns the number for sale, if it belongs to the North American Numbering Plan. */
export const toAvailable = ({ phone_number: number }: typeof Available.Type): ReadonlyArray<AvailableNumber> =>
  /^\+1[2-9]\d{9}$/.test(number) ? [{ number, areaCode: number.slice(2, 5) }] : []

export const toOwned = ({ phone_number: number, sid }: IncomingNumber): OwnedNumber => ({
  providerNumberId: sid,
  number
})

/** Parses a time of Twilio; undefined if it is missing or invalid. */
export const momentOf = (text: string | null | undefined): Timestamp.Timestamp | undefined => {
  const millis = text === null || text === undefined ? Number.NaN : Date.parse(text)
  return millis >= 0 ? Timestamp.Timestamp.make(millis) : undefined
}

/** Converts the current state of a call. A call that is not ringing yet counts as ringing. */
export const toProviderCall = (call: TwilioCallResource, now: Timestamp.Timestamp): ProviderCall => {
  const { answered_by: answeredBy, duration, end_time: endTime, sid, status } = call
  return {
    providerCallId: sid,
    report: callReportOf({ status, duration, endedAt: momentOf(endTime), answeredBy }, now) ?? { _tag: "Ringing" }
  }
}
