/** The fields of Twilio's resources that the carrier returns, from Twilio's OpenAPI document. */
export type Check = (value: unknown) => boolean

const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const text: Check = (value) => typeof value === "string"
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === "string" && pattern.test(value)
const oneOf =
  (...values: ReadonlyArray<unknown>): Check =>
  (value) =>
    values.includes(value)
const sid = (kind: string): Check => matches(new RegExp(`^${kind}[0-9a-fA-F]{32}$`))
const uri: Check = (value) => typeof value === "string" && URL.canParse(value)
const method = oneOf("GET", "POST")
const number: Check = (value) => typeof value === "number"
const boolean: Check = (value) => typeof value === "boolean"
const phoneNumber = matches(/^\+[1-9]\d{6,14}$/)
/** RFC 2822, in UTC. */
const date = matches(
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d \+0000$/
)
const capabilities: Check = (value) =>
  typeof value === "object" &&
  value !== null &&
  ["voice", "sms", "mms", "fax"].every((name) => boolean(Reflect.get(value, name)))

export type Shape = Readonly<Record<string, Check>>

export const availableNumber: Shape = {
  friendly_name: text,
  phone_number: phoneNumber,
  lata: nullable(text),
  locality: text,
  rate_center: text,
  latitude: number,
  longitude: number,
  region: matches(/^[A-Z]{2}$/),
  postal_code: nullable(text),
  iso_country: oneOf("US", "CA"),
  address_requirements: oneOf("none", "any", "local", "foreign"),
  beta: boolean,
  capabilities
}

export const incomingNumber: Shape = {
  sid: sid("PN"),
  account_sid: sid("AC"),
  address_requirements: oneOf("none", "any", "local", "foreign"),
  address_sid: nullable(sid("AD")),
  api_version: text,
  beta: boolean,
  bundle_sid: nullable(sid("BU")),
  capabilities,
  date_created: date,
  date_updated: date,
  emergency_address_sid: nullable(sid("AD")),
  emergency_address_status: oneOf("registered", "unregistered"),
  emergency_status: oneOf("Active", "Inactive"),
  friendly_name: text,
  identity_sid: nullable(sid("RI")),
  origin: text,
  phone_number: phoneNumber,
  sms_application_sid: nullable(sid("AP")),
  sms_fallback_method: nullable(method),
  sms_fallback_url: nullable(uri),
  sms_method: nullable(method),
  sms_url: nullable(uri),
  status: text,
  status_callback: nullable(uri),
  status_callback_method: nullable(method),
  trunk_sid: nullable(sid("TK")),
  type: text,
  uri: text,
  voice_application_sid: nullable(sid("AP")),
  voice_caller_id_lookup: boolean,
  voice_fallback_method: nullable(method),
  voice_fallback_url: nullable(uri),
  voice_method: nullable(method),
  voice_receive_mode: oneOf("voice", "fax"),
  voice_url: nullable(uri)
}

export const call: Shape = {
  sid: sid("CA"),
  account_sid: sid("AC"),
  answered_by: nullable(text),
  api_version: text,
  caller_name: nullable(text),
  date_created: date,
  date_updated: date,
  direction: oneOf("inbound", "outbound-api"),
  duration: nullable(matches(/^\d+$/)),
  end_time: nullable(date),
  forwarded_from: nullable(text),
  from: phoneNumber,
  from_formatted: text,
  group_sid: nullable(sid("GP")),
  parent_call_sid: nullable(sid("CA")),
  phone_number_sid: nullable(sid("PN")),
  price: nullable(text),
  price_unit: text,
  queue_time: text,
  start_time: nullable(date),
  status: oneOf("queued", "ringing", "in-progress", "completed", "busy", "failed", "no-answer", "canceled"),
  subresource_uris: (value) => typeof value === "object" && value !== null && Object.values(value).every(text),
  to: phoneNumber,
  to_formatted: text,
  trunk_sid: nullable(sid("TK")),
  uri: text
}

export const page: Shape = {
  end: number,
  first_page_uri: text,
  next_page_uri: nullable(text),
  page: number,
  page_size: number,
  previous_page_uri: nullable(text),
  start: number,
  uri: text
}

export const error: Shape = { code: number, message: text, more_info: uri, status: number }

/** Returns the missing, unknown and invalid fields of a value. */
export const mismatches = (value: unknown, shape: Shape): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return ["not an object"]
  const names = new Set([...Object.keys(shape), ...Object.keys(value)])
  return [...names]
    .filter((name) => !(shape[name]?.(Reflect.get(value, name)) ?? false))
    .map((name) => `${name}: ${JSON.stringify(Reflect.get(value, name))}`)
}
