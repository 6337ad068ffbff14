import { Schema } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import * as Usdt from "../catalog/Usdt.ts"
import { declareEvent, draftEvent, type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import { PriceRecord } from "../payment/PaymentTerms.ts"
import { NOTICE_DAYS, type Notice } from "./Allowance.ts"
import { AnsweredBy, type Call, CallDirection, CallEndReason } from "./Call.ts"
import { fromOf } from "./CallRecord.ts"
import { WithheldReason } from "./CallerId.ts"
import { E164, type PhoneNumber } from "./PhoneNumber.ts"
import { Suspension } from "./PhoneState.ts"

const { IsoTimestamp } = Timestamp

/** The payload that all events of numbers have. */
const number = {
  phoneNumberId: Uuid.annotateKey({ description: "Id of the number." }),
  number: E164.annotateKey({ description: "The number in E.164 format." })
}

const releasedAt = Schema.NullOr(IsoTimestamp).annotateKey({
  description: "When the number ended here; null if it is not known."
})

export const NUMBER_RENEWED = declareEvent("phone.number.renewed", "One of your numbers was renewed.", {
  ...number,
  expiresAt: IsoTimestamp.annotateKey({ description: "The new end of the paid time." }),
  operationId: Uuid.annotateKey({ description: "Id of the operation that renewed the number." })
})

export const NUMBER_EXPIRING = declareEvent(
  "phone.number.expiring",
  "One of your numbers expires in 5, 3 or 1 days. The payload has all data needed to renew it.",
  {
    ...number,
    daysBefore: Schema.Literals(NOTICE_DAYS).annotateKey({
      description: "Days until the end when the event was made."
    }),
    expiresAt: IsoTimestamp.annotateKey({ description: "When the paid time ends." }),
    renewalDeadline: IsoTimestamp.annotateKey({ description: "The same time as `expiresAt`." }),
    price: Schema.NullOr(PriceRecord).annotateKey({ description: "Price of a renewal; null if it is not for sale." }),
    renewalEndpoint: Schema.Struct({
      method: Schema.Literals(["GET", "POST", "DELETE"]).annotateKey({ description: "Method of the request." }),
      path: Schema.String.annotateKey({ description: "Path of the request." })
    }).annotateKey({ description: "The request that renews the number." }),
    requestBody: Schema.Struct({
      phoneNumberId: Uuid.annotateKey({ description: "Id of the number." })
    }).annotateKey({ description: "The body of the request that renews the number." }),
    releaseWarning: Schema.String.annotateKey({ description: "What happens without a renewal, as a sentence." })
  }
)

export const NUMBER_SUSPENDED = declareEvent(
  "phone.number.suspended",
  "One of your numbers expired. It can't be used again, and is being released to the carrier.",
  { ...number, expiresAt: IsoTimestamp.annotateKey({ description: "When the paid time ended." }) }
)

export const NUMBER_RELEASED = declareEvent(
  "phone.number.released",
  "The carrier released one of your numbers, because it expired or at your request.",
  {
    ...number,
    reason: Schema.NullOr(Suspension).annotateKey({
      description: "expired: the paid time ended. release_requested: you released the number. Null if it is not known."
    }),
    releasedAt
  }
)

export const NUMBER_RECONCILED = declareEvent(
  "phone.number.reconciled",
  "The carrier no longer has one of your numbers, although it was not released here. The number can't be used again.",
  {
    ...number,
    finding: Schema.String.annotateKey({ description: "The finding, as a sentence." }),
    releasedAt
  }
)

/** The payload that all events of calls have. */
const call = {
  callId: Uuid.annotateKey({ description: "Id of the call." }),
  phoneNumberId: Uuid.annotateKey({ description: "Id of your number in the call." }),
  direction: CallDirection.annotateKey({
    description: "inbound: a person called your number. outbound: you placed the call."
  }),
  fromNumber: Schema.NullOr(Schema.String).annotateKey({
    description:
      "Number that calls, in E.164 format, or an address such as sip:alice@example.com; null if the caller's number is withheld. Of declined calls, `multiple` stands for several callers."
  }),
  fromWithheld: Schema.optionalKey(Schema.NullOr(WithheldReason)).annotateKey({
    description:
      "Why an inbound call has no caller's number, as in the record of a call. Missing in events of 0.1.0 and earlier."
  }),
  toNumber: Schema.String.annotateKey({ description: "Number that is called, in E.164 format." })
}

const answeredAt = Schema.NullOr(IsoTimestamp).annotateKey({
  description: "When the call was answered; null if it was not."
})

export const CALL_STARTED = declareEvent("phone.call.started", "A call was answered.", {
  ...call,
  answeredAt
})

export const CALL_ENDED = declareEvent(
  "phone.call.ended",
  "A call ended, or an inbound call was declined because its number had no inbound minutes left.",
  {
    ...call,
    endReason: Schema.NullOr(CallEndReason).annotateKey({
      description: "Why the call ended; null if it is not known."
    }),
    answeredBy: Schema.optionalKey(Schema.NullOr(AnsweredBy)).annotateKey({
      description: "Who answered, as in the record of a call. Missing in events of 0.1.0 and earlier."
    }),
    connectedSeconds: Schema.Int.annotateKey({
      description: "Seconds from the answer to the end; 0 without an answer."
    }),
    answeredAt,
    endedAt: Schema.NullOr(IsoTimestamp).annotateKey({ description: "When the call ended; null if it is not known." }),
    declinedCalls: Schema.optionalKey(Schema.Int).annotateKey({
      description:
        "Number of declined calls of this caller that the event reports. Only for calls that were declined because the number had no inbound minutes left."
    })
  }
)

export const PHONE_EVENTS = [
  CALL_STARTED,
  CALL_ENDED,
  NUMBER_EXPIRING,
  NUMBER_RENEWED,
  NUMBER_RELEASED,
  NUMBER_SUSPENDED,
  NUMBER_RECONCILED
] as const

const ofNumber = ({ agentId, phoneNumberId, tenantId }: PhoneNumber, once: string) => ({
  tenantId,
  source: INTERNAL_SOURCE,
  service: "phone",
  resourceId: phoneNumberId,
  agentId,
  once: `${phoneNumberId}:${once}`
})

const numberOf = ({ number: e164, phoneNumberId }: PhoneNumber) => ({ phoneNumberId, number: e164 })

/** The event that a number was renewed: one for each operation. */
export const renewed = (self: PhoneNumber, operationId: string): EventDraft =>
  draftEvent(NUMBER_RENEWED, {
    ...ofNumber(self, operationId),
    payload: { ...numberOf(self), expiresAt: Timestamp.toIso(self.expiresAt), operationId }
  })

/** The event that a number's end is near, with all data needed to renew it: one for each notice of each end. */
export const expiring = (self: PhoneNumber, { daysBefore }: Notice): EventDraft => {
  const { method, path, price } = serviceEntry("phone.number.renew.30d")
  const expiresAt = Timestamp.toIso(self.expiresAt)
  return draftEvent(NUMBER_EXPIRING, {
    ...ofNumber(self, `${self.expiresAt}:${daysBefore}`),
    payload: {
      ...numberOf(self),
      daysBefore,
      expiresAt,
      renewalDeadline: expiresAt,
      price: price === null ? null : Usdt.toPrice(price),
      renewalEndpoint: { method, path },
      requestBody: { phoneNumberId: self.phoneNumberId },
      releaseWarning:
        `Unless it is renewed by then, ${self.number} is suspended and released to the carrier permanently: ` +
        `calls no longer reach its agent, and the number may be sold to others.`
    }
  })
}

/** The event that a number was suspended because its entitlement is over. */
export const suspended = (self: PhoneNumber): EventDraft =>
  draftEvent(NUMBER_SUSPENDED, {
    ...ofNumber(self, ""),
    payload: { ...numberOf(self), expiresAt: Timestamp.toIso(self.expiresAt) }
  })

/** The event that the carrier has released a number, at its tenant's request or because its entitlement is over. */
export const released = (self: PhoneNumber): EventDraft =>
  draftEvent(NUMBER_RELEASED, {
    ...ofNumber(self, ""),
    payload: { ...numberOf(self), reason: self.suspension, releasedAt: Timestamp.toIsoOrNull(self.releasedAt) }
  })

/** The event that the carrier no longer has a number that was never released. */
export const reconciled = (self: PhoneNumber): EventDraft =>
  draftEvent(NUMBER_RECONCILED, {
    ...ofNumber(self, ""),
    payload: {
      ...numberOf(self),
      finding: "The carrier no longer has this number under the account of the service.",
      releasedAt: Timestamp.toIsoOrNull(self.releasedAt)
    }
  })

const ofCall = ({ agentId, callId, tenantId }: Call, source: string) => ({
  tenantId,
  source,
  service: "phone",
  resourceId: callId,
  agentId,
  once: callId
})

const callOf = ({ callId, direction, fromNumber, phoneNumberId, toNumber }: Call) => ({
  callId,
  phoneNumberId,
  direction,
  ...fromOf({ direction, fromNumber }),
  toNumber
})

/** The event that a call was answered. `source` is the carrier that reported it. */
export const callStarted = (self: Call, source: string): EventDraft =>
  draftEvent(CALL_STARTED, {
    ...ofCall(self, source),
    payload: { ...callOf(self), answeredAt: Timestamp.toIsoOrNull(self.answeredAt) }
  })

const endedOf = (self: Call) => ({
  ...callOf(self),
  endReason: self.endReason,
  answeredBy: self.answeredBy,
  connectedSeconds: self.connectedSeconds,
  answeredAt: Timestamp.toIsoOrNull(self.answeredAt),
  endedAt: Timestamp.toIsoOrNull(self.endedAt)
})

/** The event that a call has ended. `source` is the carrier that reported it. */
export const callEnded = (self: Call, source: string): EventDraft =>
  draftEvent(CALL_ENDED, { ...ofCall(self, source), payload: endedOf(self) })

/** The event that `declinedCalls` calls of one caller were declined; `self` stands for all of them. */
export const callsDeclined = (self: Call, declinedCalls: number, source: string): EventDraft =>
  draftEvent(CALL_ENDED, {
    ...ofCall(self, source),
    payload: { ...endedOf(self), declinedCalls }
  })
