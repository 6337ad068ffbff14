import { randomBytes } from "node:crypto"
import type { CallRecord, OwnedNumber } from "../CarrierStore.ts"
import type { OfferedNumber } from "../number/Inventory.ts"
import { nationalFormat } from "../number/Telephone.ts"

/** A new identifier: two letters that name the kind of resource, and 32 hexadecimal digits. */
export const newSid = (kind: "PN" | "CA" | "VX"): string => `${kind}${randomBytes(16).toString("hex")}`

export const apiVersion = "2010-04-01"

export const accountPath = (accountSid: string): string => `/${apiVersion}/Accounts/${accountSid}`

/** RFC 2822 in UTC, which is how this version of the interface writes moments. */
export const twilioDate = (millis: number): string => new Date(millis).toUTCString().replace("GMT", "+0000")

const twilioDateIfAny = (millis: number | null): string | null => (millis === null ? null : twilioDate(millis))

const capabilities = { voice: true, sms: true, mms: true, fax: false }

/** A number for sale, as a search shows it. Latitude and longitude are numbers, as the document types them. */
export const showOffered = ({ area, phoneNumber }: OfferedNumber) => ({
  friendly_name: nationalFormat(phoneNumber),
  phone_number: phoneNumber,
  lata: null,
  locality: area.locality,
  rate_center: area.locality.toUpperCase(),
  latitude: area.latitude,
  longitude: area.longitude,
  region: area.region,
  postal_code: null,
  iso_country: area.country,
  address_requirements: "none",
  beta: false,
  capabilities
})

/** A number that is owned. */
export const showNumber = (accountSid: string, number: OwnedNumber) => ({
  sid: number.sid,
  account_sid: accountSid,
  address_requirements: "none",
  address_sid: null,
  api_version: apiVersion,
  beta: false,
  bundle_sid: null,
  capabilities,
  date_created: twilioDate(number.createdAt),
  date_updated: twilioDate(number.updatedAt),
  emergency_address_sid: null,
  emergency_address_status: "unregistered",
  emergency_status: "Inactive",
  friendly_name: number.friendlyName,
  identity_sid: null,
  origin: "twilio",
  phone_number: number.phoneNumber,
  sms_application_sid: null,
  sms_fallback_method: "POST",
  sms_fallback_url: null,
  sms_method: "POST",
  sms_url: null,
  status: "in-use",
  status_callback: number.statusCallback,
  status_callback_method: number.statusCallbackMethod,
  trunk_sid: null,
  type: "local",
  uri: `${accountPath(accountSid)}/IncomingPhoneNumbers/${number.sid}.json`,
  voice_application_sid: null,
  voice_caller_id_lookup: false,
  voice_fallback_method: number.voiceFallbackMethod,
  voice_fallback_url: number.voiceFallbackUrl,
  voice_method: number.voiceMethod,
  voice_receive_mode: "voice",
  voice_url: number.voiceUrl
})

/** The lists that belong to a call. None has anything here. */
const subresources = [
  "notifications",
  "recordings",
  "payments",
  "events",
  "siprec",
  "streams",
  "transcriptions",
  "user_defined_message_subscriptions",
  "user_defined_messages"
] as const

const camel = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const showCall = (accountSid: string, call: CallRecord) => {
  const path = `${accountPath(accountSid)}/Calls/${call.sid}`
  return {
    sid: call.sid,
    account_sid: accountSid,
    answered_by: call.answeredBy,
    api_version: apiVersion,
    caller_name: null,
    date_created: twilioDate(call.createdAt),
    date_updated: twilioDate(call.updatedAt),
    direction: call.direction,
    duration: call.durationSeconds === null ? null : String(call.durationSeconds),
    end_time: twilioDateIfAny(call.endedAt),
    forwarded_from: null,
    from: call.from,
    from_formatted: nationalFormat(call.from),
    group_sid: null,
    parent_call_sid: null,
    phone_number_sid: call.numberSid,
    price: null,
    price_unit: "USD",
    queue_time: "0",
    start_time: twilioDateIfAny(call.startedAt),
    status: call.status,
    subresource_uris: Object.fromEntries(subresources.map((name) => [name, `${path}/${camel(name)}.json`])),
    to: call.to,
    to_formatted: nationalFormat(call.to),
    trunk_sid: null,
    uri: `${path}.json`
  }
}
