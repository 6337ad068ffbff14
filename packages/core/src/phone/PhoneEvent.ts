import { type EventDraft, INTERNAL_SOURCE } from "../events/DurableEvent.ts"
import { serviceEntry } from "../catalog/Catalog.ts"
import * as Usdt from "../catalog/Usdt.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Call } from "./Call.ts"
import type { Notice } from "./Allowance.ts"
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

/** The event that a number was renewed: one for each operation. */
export const renewed = (number: PhoneNumber, operationId: string): EventDraft =>
  ofNumber(number, "phone.number.renewed", operationId, {
    expiresAt: Timestamp.toIso(number.expiresAt),
    operationId
  })

/** The event that a number's end is near, with all data needed to renew it: one for each notice of each end. */
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
      `Unless it is renewed by then, ${number.number} is suspended and released to the carrier permanently: ` +
      `calls no longer reach its agent, and the number may be sold to others.`
  })
}

/** The event that a number was suspended because its entitlement is over. */
export const suspended = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.suspended", "", { expiresAt: Timestamp.toIso(number.expiresAt) })

/** The event that the carrier has released a number, at its tenant's request or because its entitlement is over. */
export const released = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.released", "", {
    reason: number.suspension,
    releasedAt: Timestamp.toIsoOrNull(number.releasedAt)
  })

/** The event that the carrier no longer has a number that was never released. */
export const reconciled = (number: PhoneNumber): EventDraft =>
  ofNumber(number, "phone.number.reconciled", "", {
    finding: "The carrier no longer has this number under the account of the service.",
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

/** The event that a call was answered. `source` is the carrier that reported it. */
export const callStarted = (call: Call, source: string): EventDraft =>
  ofCall(call, "phone.call.started", source, { answeredAt: Timestamp.toIsoOrNull(call.answeredAt) })

const ending = (call: Call): EventDraft["payload"] => ({
  endReason: call.endReason,
  connectedSeconds: call.connectedSeconds,
  answeredAt: Timestamp.toIsoOrNull(call.answeredAt),
  endedAt: Timestamp.toIsoOrNull(call.endedAt)
})

/** The event that a call has ended. `source` is the carrier that reported it. */
export const callEnded = (call: Call, source: string): EventDraft =>
  ofCall(call, "phone.call.ended", source, ending(call))

/** The event that `declinedCalls` calls of one caller were declined; `call` stands for all of them. */
export const callsDeclined = (call: Call, declinedCalls: number, source: string): EventDraft =>
  ofCall(call, "phone.call.ended", source, { ...ending(call), declinedCalls })
