import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS, PAID_BEARER_ERRORS, PAID_ERRORS } from "./CommonErrors.ts"

/** A free operation of a tenant that reads, and a paid one. */
const READ = { method: "GET", price: null, authentication: "bearer", capability: "phone" } as const
const PAID = { method: "POST", authentication: "bearer", capability: "phone" } as const

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
    price: "5.00",
    authentication: "x402-bootstrap",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Buys a real US number for 30 days and returns the wallet's access token.",
    errors: PAID_ERRORS,
    nextActions: AFTER_PURCHASE
  },
  {
    operationId: "purchaseCanadaNumber",
    serviceId: "phone.number.ca.30d",
    method: "POST",
    path: "/api/v1/phone/purchase-canada-number-30-days",
    price: "5.00",
    authentication: "x402-bootstrap",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Buys a real Canadian number for 30 days and returns the wallet's access token.",
    errors: PAID_ERRORS,
    nextActions: AFTER_PURCHASE
  },
  {
    ...PAID,
    operationId: "renewNumber",
    serviceId: "phone.number.renew.30d",
    path: "/api/v1/phone/renew-number-30-days",
    price: "5.00",
    guide: "/docs#numbers",
    purpose: "Extends a number's entitlement by 30 days.",
    errors: [...PAID_BEARER_ERRORS, "NUMBER_RELEASED"],
    nextActions: [{ serviceId: "phone.number.list", why: "Check the new expiry." }]
  },
  {
    ...PAID,
    operationId: "callOneMinute",
    serviceId: "phone.call.outbound.1m",
    path: "/api/v1/phone/call-1-minute",
    price: "0.30",
    guide: "/docs#calls",
    purpose: "Places a call of up to 60 connected seconds.",
    errors: [...NUMBER_ERRORS, "QUOTA_EXCEEDED"],
    nextActions: [
      { serviceId: "phone.call.extend.1m", why: "Extend an answered call." },
      { serviceId: "phone.call.transcript", why: "Read the transcript." }
    ]
  },
  {
    ...PAID,
    operationId: "callFiveMinutes",
    serviceId: "phone.call.outbound.5m",
    path: "/api/v1/phone/call-5-minutes",
    price: "1.50",
    guide: "/docs#calls",
    purpose: "Places a call of up to 300 connected seconds.",
    errors: [...NUMBER_ERRORS, "QUOTA_EXCEEDED"],
    nextActions: [
      { serviceId: "phone.call.extend.1m", why: "Extend an answered call." },
      { serviceId: "phone.call.transcript", why: "Read the transcript." }
    ]
  },
  {
    ...PAID,
    operationId: "extendCall",
    serviceId: "phone.call.extend.1m",
    path: "/api/v1/phone/extend-call-1-minute",
    price: "0.30",
    guide: "/docs#calls",
    purpose: "Adds exactly 60 seconds to an answered call in progress.",
    errors: [...NUMBER_ERRORS, "ALLOWANCE_EXHAUSTED"],
    nextActions: [{ serviceId: "phone.call.get", why: "Check the call's time limit." }]
  },
  {
    ...PAID,
    operationId: "addInboundMinutes",
    serviceId: "phone.call.inbound.add.10m",
    path: "/api/v1/phone/add-inbound-minutes-10",
    price: "3.00",
    guide: "/docs#inbound-minutes",
    purpose: "Adds 10 minutes of inbound call time to a number.",
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
    errors: [
      ...BEARER_ERRORS,
      "RESOURCE_NOT_FOUND",
      "RESOURCE_NOT_OWNED",
      "NUMBER_RELEASED",
      "PROVIDER_TEMPORARY_FAILURE",
      "SERVICE_UNAVAILABLE"
    ],
    nextActions: [{ serviceId: "phone.number.us.30d", why: "Buy another number." }]
  },
  {
    ...READ,
    operationId: "listNumbers",
    serviceId: "phone.number.list",
    path: "/api/v1/phone/numbers",
    guide: "/docs#numbers",
    purpose: "Lists your numbers with their entitlement and remaining inbound minutes.",
    errors: [...BEARER_ERRORS, "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.number.renew.30d", why: "Renew a number before it expires." }]
  },
  {
    ...READ,
    operationId: "getCall",
    serviceId: "phone.call.get",
    path: "/api/v1/phone/calls/{callId}",
    guide: "/docs#calls",
    purpose: "Returns one call.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.call.transcript", why: "Read the transcript." }]
  },
  {
    ...READ,
    operationId: "getTranscript",
    serviceId: "phone.call.transcript",
    path: "/api/v1/phone/calls/{callId}/transcript",
    guide: "/docs#calls",
    purpose: "Returns the transcript of a call. Calls are never recorded.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    nextActions: [{ serviceId: "phone.call.outbound.1m", why: "Call again." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>

/** The operations beyond the specification. */
export const PHONE_EXTENSIONS = [
  {
    ...READ,
    operationId: "listCalls",
    serviceId: "phone.call.list",
    path: "/api/v1/phone/calls",
    guide: "/docs#calls",
    purpose: "Lists your calls, newest first.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED", "SERVICE_UNAVAILABLE"],
    extension: true,
    nextActions: [{ serviceId: "phone.call.transcript", why: "Read the transcript of a call." }]
  },
  {
    operationId: "listVoices",
    serviceId: "phone.voice.list",
    method: "GET",
    path: "/api/v1/phone/voices",
    price: null,
    authentication: "none",
    capability: "phone",
    guide: "/docs#numbers",
    purpose: "Lists the voices and languages that a number can be bought with.",
    errors: ["INVALID_REQUEST", "RATE_LIMITED", "SERVICE_UNAVAILABLE"],
    extension: true,
    nextActions: [{ serviceId: "phone.number.us.30d", why: "Buy a number with one of the voices." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
