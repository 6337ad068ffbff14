import { type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import { serviceEntry } from "../catalog/Catalog.ts"
import * as Usdt from "../catalog/Usdt.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Call } from "./Call.ts"
import type { Notice } from "./Entitlement.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"

const ofNumber = (
  { agentId, number, phoneNumberId, tenantId }: PhoneNumber,
  type: EventDraft["type"],
  once: string,
  payload: EventDraft["payload"]
): EventDraft => ({
  tenantId,
  type,
  source: INTERNAL_SOURCE,
  service: "phone",
  resourceId: phoneNumberId,
  agentId,
  dedupeKey: `${type}:${phoneNumberId}:${once}`,
  payload: { phoneNumberId, number, ...payload }
})

/** A number's time grew. One for each operation that paid for it. */
export const renewed = (number: PhoneNumber, operationId: string): EventDraft =>
  ofNumber(number, "phone.number.renewed", operationId, {
    expiresAt: Timestamp.toIso(number.expiresAt),
    operationId
  })

/** A number's time is nearly over, with all that is needed to renew it. One for each notice of each end. */
export const expiring = (number: PhoneNumber, { daysBefore }: Notice): EventDraft => {
  const { method, path, price } = serviceEntry("phone.number.renew.30d")
  const expiresAt = Timestamp.toIso(number.expiresAt)
  return ofNumber(number, "phone.number.expiring", `${number.expiresAt}:${daysBefore}`, {
    daysBefore,
    expiresAt,
    renewalDeadline: expiresAt,
    price: price === null ? null : { ...Usdt.toPrice(price) },
    renewalEndpoint: { method, path },
    requestBody: { phoneNumberId: number.phoneNumberId },
    releaseWarning:
      `Unless it is renewed by then, ${number.number} is suspended and given back to the carrier, for good: ` +
      `nobody reaches its agent any more, and somebody else may get the number.`
  })
}

/** A number is not to be used any more, because its time is over. */
export const suspended = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.suspended", "", { expiresAt: Timestamp.toIso(number.expiresAt) })

/** The carrier has taken a number back, because its tenant or its end wanted it so. */
export const released = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.released", "", {
    reason: number.suspension,
    releasedAt: Timestamp.toIsoOrNull(number.releasedAt)
  })

/** The carrier does not have a number any more that nobody gave back. */
export const reconciled = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.reconciled", "", {
    finding: "The carrier no longer has this number for us.",
    releasedAt: Timestamp.toIsoOrNull(number.releasedAt)
  })

const ofCall = (call: Call, type: EventDraft["type"], source: string, payload: EventDraft["payload"]): EventDraft => ({
  tenantId: call.tenantId,
  type,
  source,
  service: "phone",
  resourceId: call.callId,
  agentId: call.agentId,
  dedupeKey: `${type}:${call.callId}`,
  payload: {
    callId: call.callId,
    phoneNumberId: call.phoneNumberId,
    direction: call.direction,
    fromNumber: call.fromNumber,
    toNumber: call.toNumber,
    ...payload
  }
})

/** A call was answered. `source` is the carrier that said so. */
export const callStarted = (call: Call, source: string): EventDraft =>
  ofCall(call, "phone.call.started", source, { answeredAt: Timestamp.toIsoOrNull(call.answeredAt) })

/** A call has ended. `source` is the carrier that said so. */
export const callEnded = (call: Call, source: string): EventDraft =>
  ofCall(call, "phone.call.ended", source, {
    endReason: call.endReason,
    connectedSeconds: call.connectedSeconds,
    answeredAt: Timestamp.toIsoOrNull(call.answeredAt),
    endedAt: Timestamp.toIsoOrNull(call.endedAt)
  })
