import type { EventType } from "@agentos/core"

const CALL_FIELDS = "callId, phoneNumberId, direction, fromNumber, toNumber, answeredAt"
const PAYMENT_FIELDS =
  "operationId, serviceId, endpoint, requestId, price, baseUnits, network, token, payer, payTo, transaction (null where nothing was paid), paymentState"

/** When each event occurs, and the fields of its payload besides type and eventId. */
export const EVENT_TEXTS: Readonly<Record<EventType, readonly [string, string]>> = {
  "email.received": [
    "mail arrived at an active mailbox",
    "mailboxId, emailId, from, subject, receivedAt, authentication (spf, dkim, dmarc and domain, the proven domain of from or null; null for mail that could not be parsed); never the body"
  ],
  "phone.call.started": ["a call was answered", CALL_FIELDS],
  "phone.call.ended": ["a call ended", `${CALL_FIELDS}, endedAt, endReason, connectedSeconds`],
  "phone.number.expiring": [
    "5, 3 and 1 days before a number expires",
    "phoneNumberId, number, daysBefore, expiresAt, renewalDeadline, price, renewalEndpoint, requestBody, releaseWarning"
  ],
  "phone.number.renewed": ["a number was renewed", "phoneNumberId, number, expiresAt, operationId"],
  "phone.number.suspended": ["a number expired", "phoneNumberId, number, expiresAt"],
  "phone.number.released": [
    "a number was released",
    "phoneNumberId, number, reason (expired or release_requested), releasedAt"
  ],
  "phone.number.reconciled": [
    "the carrier no longer has a number that was not released here",
    "phoneNumberId, number, finding, releasedAt"
  ],
  "payment.completed": ["a paid operation was fulfilled", PAYMENT_FIELDS],
  "payment.failed": [
    "an operation ended unpaid, or its payment is being refunded",
    `${PAYMENT_FIELDS}, reason (kind, message)`
  ],
  "payment.refunded": [
    "a refund has arrived on the chain",
    `${PAYMENT_FIELDS}, amount; transaction is that of the refund, paymentTransaction that of the payment`
  ],
  "events.webhook.paused": [
    "your event webhook did not accept an event for three days, and is paused",
    "webhookId, url, pausedAt, undeliveredEventId, error"
  ]
}
