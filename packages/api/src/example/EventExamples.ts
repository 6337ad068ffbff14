import { type EventRecord, type EventType, INTERNAL_SOURCE } from "@agentos/core"
import { CALL, MAILBOX, OPERATION_ID, PHONE_NUMBER, RECEIVED } from "./ResourceExamples.ts"

type RecordOf<Type extends EventType> = Extract<EventRecord, { readonly type: Type }>

const AT = "2026-01-31T12:00:00.000Z"
/** 30 days later. */
const EXPIRES_AT = "2026-03-02T12:00:00.000Z"
const WEBHOOK_ID = "019ab1c2-6a4b-7c3d-8e2f-1a2b3c4d5e6f"

/** Returns the record of a delivered event. */
const record = <Type extends EventType>(
  type: Type,
  {
    payload,
    ...about
  }: Pick<RecordOf<Type>, "eventId" | "source" | "service" | "resourceId" | "agentId"> & {
    readonly payload: Omit<RecordOf<Type>["payload"], "type" | "eventId">
  }
) => ({
  eventId: about.eventId,
  type,
  status: "delivered" as const,
  source: about.source,
  service: about.service,
  resourceId: about.resourceId,
  agentId: about.agentId,
  createdAt: AT,
  deliveredAt: "2026-01-31T12:00:00.050Z",
  acknowledgedAt: null,
  expiresAt: EXPIRES_AT,
  deliveryCount: 1,
  payload: { type, eventId: about.eventId, ...payload }
})

const ofNumber = {
  source: INTERNAL_SOURCE,
  service: "phone",
  resourceId: PHONE_NUMBER.phoneNumberId,
  agentId: PHONE_NUMBER.agentId
}
const { number, phoneNumberId } = PHONE_NUMBER

const ofCall = { source: "twilio", service: "phone", resourceId: CALL.callId, agentId: PHONE_NUMBER.agentId }
const call = {
  callId: CALL.callId,
  phoneNumberId,
  direction: "inbound",
  fromNumber: CALL.toNumber,
  fromWithheld: null,
  toNumber: number
} as const

const PAYER = "0x8ba1f109551bd432803012645ac136ddd64dba72"
const ofPayment = { source: INTERNAL_SOURCE, service: "payment", resourceId: OPERATION_ID, agentId: PAYER }
const payment = {
  operationId: OPERATION_ID,
  serviceId: "email.mailbox.create",
  endpoint: "POST /api/v1/email/mailboxes",
  requestId: "019ab1c0-5f3e-7d12-9a41-7e0f4c2b1a55",
  price: { amount: "0.25", asset: "USDT" },
  baseUnits: "250000",
  network: "eip155:196",
  token: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
  symbol: "USDT",
  payer: PAYER,
  payTo: "0x52908400098527886e0f7030069857d2e4169ee7",
  transaction: "0x6fd1b0a4c7d3e8f2915a4b6c8d0e2f4a6b8c0d2e4f6a8b0c2d4e6f8a0b2c4d6e"
} as const

export const EVENT_EXAMPLES: { readonly [Type in EventType]: RecordOf<Type> } = {
  "email.received": record("email.received", {
    eventId: "019ab1c4-0d7b-7a10-8b44-2f6d3c9e0a01",
    source: "smtp",
    service: "email",
    resourceId: RECEIVED.messageId,
    agentId: MAILBOX.mailboxId,
    payload: {
      mailboxId: MAILBOX.mailboxId,
      emailId: RECEIVED.messageId,
      from: "bob@example.com",
      subject: "Your code",
      authentication: { spf: "pass", dkim: "pass", dmarc: "pass", domain: "example.com" },
      automatic: "auto_generated",
      receivedAt: AT
    }
  }),
  "phone.call.started": record("phone.call.started", {
    eventId: "019ab1cb-1c5d-7a10-8b44-2f6d3c9e0a02",
    ...ofCall,
    payload: { ...call, answeredAt: AT }
  }),
  "phone.call.ended": record("phone.call.ended", {
    eventId: "019ab1cb-1c5d-7a10-8b44-2f6d3c9e0a03",
    ...ofCall,
    payload: {
      ...call,
      endReason: "completed",
      connectedSeconds: 42,
      answeredAt: AT,
      endedAt: "2026-01-31T12:00:42.000Z"
    }
  }),
  "phone.number.expiring": record("phone.number.expiring", {
    eventId: "019ab1c8-8d52-7a10-8b44-2f6d3c9e0a04",
    ...ofNumber,
    payload: {
      phoneNumberId,
      number,
      daysBefore: 5,
      expiresAt: EXPIRES_AT,
      renewalDeadline: EXPIRES_AT,
      price: { amount: "5.00", asset: "USDT" },
      renewalEndpoint: { method: "POST", path: "/api/v1/phone/renew-number-30-days" },
      requestBody: { phoneNumberId },
      releaseWarning: `Unless it is renewed by then, ${number} is suspended and released to the carrier permanently: calls no longer reach its agent, and the number may be sold to others.`
    }
  }),
  "phone.number.renewed": record("phone.number.renewed", {
    eventId: "019ab1c8-8d52-7a10-8b44-2f6d3c9e0a05",
    ...ofNumber,
    payload: { phoneNumberId, number, expiresAt: "2026-04-01T12:00:00.000Z", operationId: OPERATION_ID }
  }),
  "phone.number.released": record("phone.number.released", {
    eventId: "019ab1c8-8d52-7a10-8b44-2f6d3c9e0a06",
    ...ofNumber,
    payload: { phoneNumberId, number, reason: "release_requested", releasedAt: AT }
  }),
  "phone.number.suspended": record("phone.number.suspended", {
    eventId: "019ab1c8-8d52-7a10-8b44-2f6d3c9e0a07",
    ...ofNumber,
    payload: { phoneNumberId, number, expiresAt: AT }
  }),
  "phone.number.reconciled": record("phone.number.reconciled", {
    eventId: "019ab1c8-8d52-7a10-8b44-2f6d3c9e0a08",
    ...ofNumber,
    payload: {
      phoneNumberId,
      number,
      finding: "The carrier no longer has this number under the account of the service.",
      releasedAt: AT
    }
  }),
  "payment.completed": record("payment.completed", {
    eventId: "019ab1c0-5f3e-7a10-8b44-2f6d3c9e0a09",
    ...ofPayment,
    payload: { ...payment, paymentState: "settled" }
  }),
  "payment.failed": record("payment.failed", {
    eventId: "019ab1c0-5f3e-7a10-8b44-2f6d3c9e0a0a",
    ...ofPayment,
    payload: {
      ...payment,
      paymentState: "refund_due",
      reason: { kind: "rejected", message: "The provider refused the request permanently." }
    }
  }),
  "payment.refunded": record("payment.refunded", {
    eventId: "019ab1c0-5f3e-7a10-8b44-2f6d3c9e0a0b",
    ...ofPayment,
    payload: {
      ...payment,
      transaction: "0x9ac1d4e7f0a3b6c9d2e5f8a1b4c7d0e3f6a9b2c5d8e1f4a7b0c3d6e9f2a5b8c1",
      paymentState: "refunded",
      amount: { amount: "0.25", asset: "USDT" },
      paymentTransaction: payment.transaction
    }
  }),
  "events.webhook.paused": record("events.webhook.paused", {
    eventId: "019ab1c2-6a4b-7a10-8b44-2f6d3c9e0a0c",
    source: INTERNAL_SOURCE,
    service: "events",
    resourceId: WEBHOOK_ID,
    agentId: WEBHOOK_ID,
    payload: {
      webhookId: WEBHOOK_ID,
      url: "https://agent.example/events",
      pausedAt: AT,
      undeliveredEventId: "019ab1c4-0d7b-7a10-8b44-2f6d3c9e0a01",
      error: "The endpoint answered with status 503."
    }
  })
}
