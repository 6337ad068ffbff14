import { Effect } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Call } from "./Call.ts"
import { CallStore, type DeclinedCalls, type DeclinedKey } from "./CallStore.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** The time in which the declined calls of one caller to one number are reported once. */
export const DECLINED_WINDOW = 60 * Timestamp.SECOND
/** The maximum number of callers to one number that are reported separately within the window. */
export const DECLINED_CALLERS = 20
/** The caller under which the calls of all further callers are counted together. */
export const FURTHER_CALLERS = "multiple"
/** The length to which callers are cut. A telephone number has at most 16 characters. */
const CALLER_LIMIT = 64

/**
 * Returns the record after another declined call, and whether this call is reported immediately. `known` are the records
 * of the number. Returns undefined if the carrier has announced the call before.
 */
export const declined = (
  known: ReadonlyArray<DeclinedCalls>,
  { phoneNumberId, tenantId }: Pick<PhoneNumber, "phoneNumberId" | "tenantId">,
  { from, providerCallId }: { readonly from: string; readonly providerCallId: string },
  now: Timestamp.Timestamp
): { readonly record: DeclinedCalls; readonly isReported: boolean } | undefined => {
  const own = from.slice(0, CALLER_LIMIT)
  const isFurther = known.length >= DECLINED_CALLERS && !known.some(({ caller }) => caller === own)
  const caller = isFurther ? FURTHER_CALLERS : own
  const before = known.find((record) => record.caller === caller)
  if (before?.providerCallId === providerCallId) return undefined
  const dueAt = before?.dueAt ?? Timestamp.add(now, DECLINED_WINDOW)
  const count = before === undefined ? 0 : before.count + 1
  const record = { tenantId, phoneNumberId, caller, count, providerCallId, declinedAt: now, dueAt }
  return { record, isReported: before === undefined }
}

/** Counts declined calls, and reports them by call records and events. */
export const makeDeclinedCalls = Effect.gen(function* () {
  const calls = yield* CallStore
  const numbers = yield* PhoneNumberStore
  const tenants = yield* TenantStore
  const events = yield* EventStore
  const transactor = yield* Transactor
  const { name: source } = yield* TelephonyProvider

  const report = Effect.fnUntraced(function* (number: PhoneNumber, record: DeclinedCalls, count: number) {
    const call = declinedCall(yield* Uuid.next, number, record)
    if (yield* calls.create(call)) yield* events.append([PhoneEvent.callsDeclined(call, count, source)])
  })

  /** Records a declined call. Must run in a transaction that holds the tenant's lock. */
  const decline = Effect.fnUntraced(function* (
    number: PhoneNumber,
    inbound: { readonly from: string; readonly providerCallId: string },
    now: Timestamp.Timestamp
  ) {
    const next = declined(yield* calls.declinedOf(number.phoneNumberId), number, inbound, now)
    if (next === undefined) return
    yield* calls.putDeclined(next.record)
    if (next.isReported) yield* report(number, next.record, 1)
  })

  /** Reports the calls of an ended window and begins the next one, or forgets the caller if the window had no calls. */
  const reportDue = ({ caller, phoneNumberId, tenantId }: DeclinedKey) =>
    transactor.transact(
      Effect.gen(function* () {
        yield* tenants.lock([tenantId])
        const now = yield* Timestamp.now
        const known = yield* calls.declinedOf(phoneNumberId)
        const due = known.find((record) => record.caller === caller && record.dueAt <= now)
        if (due === undefined) return
        const number = yield* numbers.find(tenantId, phoneNumberId)
        if (due.count === 0 || number._tag !== "Owned") return yield* calls.forgetDeclined(due)
        yield* report(number.value, due, due.count)
        yield* calls.putDeclined({ ...due, count: 0, dueAt: Timestamp.add(now, DECLINED_WINDOW) })
      })
    )

  return { decline, reportDue }
})

const declinedCall = (
  callId: string,
  { agentId, number, phoneNumberId, tenantId }: PhoneNumber,
  { caller, declinedAt, providerCallId }: DeclinedCalls
): Call => ({
  callId,
  tenantId,
  phoneNumberId,
  agentId,
  direction: "inbound",
  fromNumber: caller,
  toNumber: number,
  state: "ended",
  providerCallId,
  greeting: null,
  authorizedSeconds: 0,
  extendedSeconds: 0,
  hangUpReason: null,
  answeredBy: null,
  endReason: "allowance_exhausted",
  connectedSeconds: 0,
  watchAt: null,
  createdAt: declinedAt,
  answeredAt: null,
  endedAt: declinedAt
})
