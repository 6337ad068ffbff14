import type { CatalogEntry, CatalogInput } from "./CatalogEntry.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"
import { fromDecimal } from "./Usdt.ts"

const NUMBER_ID: CatalogInput = {
  name: "phoneNumberId",
  in: "body",
  required: true,
  description: "Id of your number."
}

const CALL_ID: CatalogInput = { name: "callId", in: "path", required: true, description: "Id of your call." }

const PURCHASE_INPUTS: ReadonlyArray<CatalogInput> = [
  { name: "agentName", in: "body", required: true, description: "Name of the agent that answers the number." },
  {
    name: "agentWebhookUrl",
    in: "body",
    required: true,
    description:
      "URL that receives what callers say and returns the agent's replies: https at port 443 of a public host."
  },
  { name: "areaCode", in: "body", required: false, description: "Preferred area code of three digits." },
  { name: "description", in: "body", required: false, description: "Your note about the number." },
  { name: "beginMessage", in: "body", required: false, description: "Greeting that callers hear first." },
  { name: "voice", in: "body", required: false, description: "Voice that speaks the agent's replies." },
  { name: "language", in: "body", required: false, description: "Language of the calls as a BCP 47 tag." }
]

const CALL_INPUTS: ReadonlyArray<CatalogInput> = [
  NUMBER_ID,
  { name: "toNumber", in: "body", required: true, description: "Number to call, in E.164 format." },
  { name: "initialGreeting", in: "body", required: false, description: "Greeting that the called person hears first." }
]

const NUMBER_ERRORS = [...PAID_BEARER_ERRORS, "NUMBER_EXPIRING", "NUMBER_RELEASED"] as const

const AFTER_PURCHASE = [
  { serviceId: "phone.call.inbound.add.10m", why: "Buy minutes, so that the number can receive calls." },
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
    purpose: "Buys a real US number for 30 days and returns the wallet's access token.",
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
    purpose: "Buys a real Canadian number for 30 days and returns the wallet's access token.",
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
    purpose: "Extends a number's entitlement by 30 days.",
    inputs: [NUMBER_ID],
    errors: [...PAID_BEARER_ERRORS, "NUMBER_RELEASED"],
    nextActions: [{ serviceId: "phone.number.list", why: "Check the new expiry." }]
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
      { serviceId: "phone.call.extend.1m", why: "Extend an answered call." },
      { serviceId: "phone.call.transcript", why: "Read the transcript." }
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
      { serviceId: "phone.call.extend.1m", why: "Extend an answered call." },
      { serviceId: "phone.call.transcript", why: "Read the transcript." }
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
    purpose: "Adds exactly 60 seconds to an answered call in progress.",
    inputs: [{ ...CALL_ID, in: "body" }],
    errors: [...NUMBER_ERRORS, "ALLOWANCE_EXHAUSTED"],
    nextActions: [{ serviceId: "phone.call.get", why: "Check the call's time limit." }]
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
    purpose: "Adds 10 minutes of inbound call time to a number.",
    inputs: [NUMBER_ID],
    errors: NUMBER_ERRORS,
    nextActions: [{ serviceId: "phone.number.list", why: "Check the remaining minutes." }]
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
    purpose: "Releases a number permanently.",
    inputs: [
      NUMBER_ID,
      { name: "confirmRelease", in: "body", required: true, description: "Must be true. A release can't be undone." }
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
    purpose: "Lists your numbers with their entitlement and remaining inbound minutes.",
    inputs: [],
    errors: [...BEARER_ERRORS, "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.number.renew.30d", why: "Renew a number before it expires." }]
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
    nextActions: [{ serviceId: "phone.call.transcript", why: "Read the transcript." }]
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
    purpose: "Returns the transcript of a call. Calls are never recorded.",
    inputs: [CALL_ID],
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.call.outbound.1m", why: "Call again." }]
  }
] as const satisfies ReadonlyArray<CatalogEntry>
