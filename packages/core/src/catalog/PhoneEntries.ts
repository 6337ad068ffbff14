import type { CatalogEntry, CatalogInput } from "./CatalogEntry.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"
import { fromDecimal } from "./Usdt.ts"

const NUMBER_ID: CatalogInput = {
  name: "phoneNumberId",
  in: "body",
  required: true,
  description: "Id of a number of yours."
}

const CALL_ID: CatalogInput = { name: "callId", in: "path", required: true, description: "Id of a call of yours." }

const PURCHASE_INPUTS: ReadonlyArray<CatalogInput> = [
  { name: "agentName", in: "body", required: true, description: "What the agent behind the number is called." },
  {
    name: "agentWebhookUrl",
    in: "body",
    required: true,
    description:
      "Where what callers say is sent, and the agent's answer fetched: an https address at port 443 of a public host."
  },
  { name: "areaCode", in: "body", required: false, description: "Three digits, when the area matters." },
  { name: "description", in: "body", required: false, description: "A note of yours on the number." },
  { name: "beginMessage", in: "body", required: false, description: "What a caller hears first." },
  { name: "voice", in: "body", required: false, description: "The voice that speaks for the agent." },
  { name: "language", in: "body", required: false, description: "The language of the calls, as a BCP 47 tag." }
]

const CALL_INPUTS: ReadonlyArray<CatalogInput> = [
  NUMBER_ID,
  { name: "toNumber", in: "body", required: true, description: "Whom to call, in E.164." },
  { name: "initialGreeting", in: "body", required: false, description: "What the called person hears first." }
]

const NUMBER_ERRORS = [...PAID_BEARER_ERRORS, "NUMBER_EXPIRING", "NUMBER_RELEASED"] as const

const AFTER_PURCHASE = [
  { serviceId: "phone.call.inbound.add.10m", why: "Buy minutes, so that the number can be called." },
  { serviceId: "phone.call.outbound.1m", why: "Place a call." }
] as const

export const PHONE_ENTRIES = [
  {
    operationId: "purchaseUsNumber",
    serviceId: "phone.number.us.30d",
    method: "POST",
    path: "/api/v1/phone/purchase-us-number-30-days",
    price: fromDecimal("5.00"),
    authentication: "x402-bootstrap",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Buys a real US number for 30 days and gives the wallet's access token.",
    inputs: PURCHASE_INPUTS,
    errors: PAID_ERRORS,
    nextActions: AFTER_PURCHASE
  },
  {
    operationId: "purchaseCanadaNumber",
    serviceId: "phone.number.ca.30d",
    method: "POST",
    path: "/api/v1/phone/purchase-canada-number-30-days",
    price: fromDecimal("5.00"),
    authentication: "x402-bootstrap",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Buys a real Canadian number for 30 days and gives the wallet's access token.",
    inputs: PURCHASE_INPUTS,
    errors: PAID_ERRORS,
    nextActions: AFTER_PURCHASE
  },
  {
    operationId: "renewNumber",
    serviceId: "phone.number.renew.30d",
    method: "POST",
    path: "/api/v1/phone/renew-number-30-days",
    price: fromDecimal("5.00"),
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Adds 30 days to the end of a number's entitlement.",
    inputs: [NUMBER_ID],
    errors: [...PAID_BEARER_ERRORS, "NUMBER_RELEASED"],
    nextActions: [{ serviceId: "phone.number.list", why: "See the new end." }]
  },
  {
    operationId: "callOneMinute",
    serviceId: "phone.call.outbound.1m",
    method: "POST",
    path: "/api/v1/phone/call-1-minute",
    price: fromDecimal("0.30"),
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#calls",
    purpose: "Places a call of up to 60 connected seconds.",
    inputs: CALL_INPUTS,
    errors: NUMBER_ERRORS,
    nextActions: [
      { serviceId: "phone.call.extend.1m", why: "Make an answered call longer." },
      { serviceId: "phone.call.transcript", why: "Read what was said." }
    ]
  },
  {
    operationId: "callFiveMinutes",
    serviceId: "phone.call.outbound.5m",
    method: "POST",
    path: "/api/v1/phone/call-5-minutes",
    price: fromDecimal("1.50"),
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#calls",
    purpose: "Places a call of up to 300 connected seconds.",
    inputs: CALL_INPUTS,
    errors: NUMBER_ERRORS,
    nextActions: [
      { serviceId: "phone.call.extend.1m", why: "Make an answered call longer." },
      { serviceId: "phone.call.transcript", why: "Read what was said." }
    ]
  },
  {
    operationId: "extendCall",
    serviceId: "phone.call.extend.1m",
    method: "POST",
    path: "/api/v1/phone/extend-call-1-minute",
    price: fromDecimal("0.30"),
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#calls",
    purpose: "Adds exactly 60 seconds to an answered call that is still going on.",
    inputs: [{ ...CALL_ID, in: "body" }],
    errors: [...NUMBER_ERRORS, "ALLOWANCE_EXHAUSTED"],
    nextActions: [{ serviceId: "phone.call.get", why: "See the call's limit." }]
  },
  {
    operationId: "addInboundMinutes",
    serviceId: "phone.call.inbound.add.10m",
    method: "POST",
    path: "/api/v1/phone/add-inbound-minutes-10",
    price: fromDecimal("3.00"),
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#inbound-minutes",
    purpose: "Adds 600 seconds to what a number may be called for.",
    inputs: [NUMBER_ID],
    errors: NUMBER_ERRORS,
    nextActions: [{ serviceId: "phone.number.list", why: "See what is left." }]
  },
  {
    operationId: "releaseNumber",
    serviceId: "phone.number.release",
    method: "POST",
    path: "/api/v1/phone/release-number",
    price: null,
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Gives a number back, for ever.",
    inputs: [
      NUMBER_ID,
      { name: "confirmRelease", in: "body", required: true, description: "Must be true: this can't be undone." }
    ],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "NUMBER_RELEASED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.number.us.30d", why: "Buy another number." }]
  },
  {
    operationId: "listNumbers",
    serviceId: "phone.number.list",
    method: "GET",
    path: "/api/v1/phone/numbers",
    price: null,
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Lists your numbers with their entitlement and what is left of their inbound minutes.",
    inputs: [],
    errors: [...BEARER_ERRORS, "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.number.renew.30d", why: "Renew a number before its end." }]
  },
  {
    operationId: "getCall",
    serviceId: "phone.call.get",
    method: "GET",
    path: "/api/v1/phone/calls/{callId}",
    price: null,
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#calls",
    purpose: "Returns one call.",
    inputs: [CALL_ID],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.call.transcript", why: "Read what was said." }]
  },
  {
    operationId: "getTranscript",
    serviceId: "phone.call.transcript",
    method: "GET",
    path: "/api/v1/phone/calls/{callId}/transcript",
    price: null,
    authentication: "bearer",
    capability: "phone",
    guide: "/docs#calls",
    purpose: "Returns what was said in a call. There is never a recording.",
    inputs: [CALL_ID],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.call.outbound.1m", why: "Call again." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
