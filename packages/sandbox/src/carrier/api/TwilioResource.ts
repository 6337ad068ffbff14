import { randomBytes } from "node:crypto"
import type { CallRecord, OwnedNumber } from "../CarrierStore.ts"
import { type AvailableNumber, nationalFormat } from "../PhoneNumbers.ts"
import { badParameter, type TwilioForm } from "./TwilioRequest.ts"

/** Creates an id: two letters for the type of resource, and 32 hexadecimal digits. */
export const newSid = (kind: "PN" | "CA" | "VX"): string => `${kind}${randomBytes(16).toString("hex")}`

export const apiVersion = "2010-04-01"

export const accountPath = (accountSid: string): string => `/${apiVersion}/Accounts/${accountSid}`

/** Formats a time as RFC 2822 in UTC, as this version of the API does. */
export const twilioDate = (millis: number): string => new Date(millis).toUTCString().replace("GMT", "+0000")

const twilioDateOrNull = (millis: number | null): string | null => (millis === null ? null : twilioDate(millis))

const capabilities = { voice: true, sms: true, mms: true, fax: false }

/** Latitude and longitude are numbers, as in the OpenAPI document. */
export const toAvailableNumber = ({ area, phoneNumber }: AvailableNumber) => ({
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

/** The account, without its token. */
export const toAccount = (accountSid: string) => ({
  sid: accountSid,
  owner_account_sid: accountSid,
  friendly_name: "AgentOS sandbox",
  status: "active",
  type: "Full",
  uri: `${accountPath(accountSid)}.json`
})

export const toIncomingNumber = (accountSid: string, number: OwnedNumber) => ({
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

/** The subresources of a call. The sandbox serves none of them. */
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

export const toCallResource = (accountSid: string, call: CallRecord) => {
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
    end_time: twilioDateOrNull(call.endedAt),
    forwarded_from: null,
    from: call.from,
    from_formatted: nationalFormat(call.from),
    group_sid: null,
    parent_call_sid: null,
    phone_number_sid: call.numberSid,
    price: null,
    price_unit: "USD",
    queue_time: "0",
    start_time: twilioDateOrNull(call.startedAt),
    status: call.status,
    subresource_uris: Object.fromEntries(subresources.map((name) => [name, `${path}/${camel(name)}.json`])),
    to: call.to,
    to_formatted: nationalFormat(call.to),
    trunk_sid: null,
    uri: `${path}.json`
  }
}

export const pageParameters = ["PageSize", "Page", "PageToken"] as const

const pageSizeDefault = 50
const pageSizeMax = 1_000

/**
 * Returns one page of a list in Twilio's shape, under `key`. A page token names the last resource of the previous page, so
 * concurrent changes neither repeat nor skip a resource. `Page` has no effect on it, as Twilio documents.
 */
export const toPage = <Resource extends { readonly sid: string }, Item>(options: {
  readonly key: string
  readonly path: string
  readonly query: URLSearchParams
  readonly form: TwilioForm
  /** In order. */
  readonly resources: ReadonlyArray<Resource>
  readonly toItem: (resource: Resource) => Item
}): Readonly<Record<string, unknown>> => {
  const { form, key, path, query, resources, toItem } = options
  const size = form.integer("PageSize", 1, pageSizeMax) ?? pageSizeDefault
  const page = form.integer("Page", 0, 999_999_999) ?? 0
  const token = form.text("PageToken")
  const previous = token === undefined ? -1 : resources.findIndex(({ sid }) => token === `PA${sid}`)
  if (token !== undefined && previous < 0) throw badParameter("Sandbox: PageToken does not match this list")
  const start = token === undefined ? page * size : previous + 1
  const items = resources.slice(start, start + size)

  const uri = (number: number, after?: string): string => {
    const params = new URLSearchParams(query)
    params.delete("PageToken")
    params.set("PageSize", String(size))
    params.set("Page", String(number))
    if (after !== undefined) params.set("PageToken", `PA${after}`)
    return `${path}?${params.toString()}`
  }
  const last = items.at(-1)
  const hasMore = last !== undefined && start + size < resources.length
  return {
    [key]: items.map(toItem),
    page,
    page_size: size,
    start: page * size,
    end: page * size + Math.max(0, items.length - 1),
    uri: uri(page, token?.slice(2)),
    first_page_uri: uri(0),
    next_page_uri: hasMore ? uri(page + 1, last.sid) : null,
    previous_page_uri: page > 0 ? uri(page - 1, resources[start - size - 1]?.sid) : null
  }
}
