import { Effect, Option, Schema } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import { EventStore } from "../events/EventStore.ts"
import { ProviderError } from "../kernel/ProviderError.ts"
import { AllowanceExhausted, Conflict, NumberExpiring } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { OperationContext, PaidService } from "../payment/PaidService.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import { toCallRecord } from "./CallRecord.ts"
import { reserveAllowance, sendLimit } from "./CallLimits.ts"
import { CallStore } from "./CallStore.ts"
import { ownedCall, remainingNumber, requireAttended, usableNumber } from "./PhoneChecks.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import { CallIdInput, NumberIdInput } from "./PhoneInput.ts"
import { type PhoneNumber, toPhoneNumberRecord } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

type NumberExtension = PaidService<NumberIdInput, null, void>

/**
 * Changes a number that is usable for the next `seconds` seconds. The carrier is not asked: it bills the service
 * monthly. `follow` runs in the same transaction.
 */
const extendsNumber = (
  numbers: PhoneNumberStore["Service"],
  calls: CallStore["Service"],
  serviceId: ServiceId,
  seconds: number,
  extend: (number: PhoneNumber) => PhoneNumber,
  follow: (number: PhoneNumber, operationId: string, now: Timestamp.Timestamp) => Effect.Effect<unknown>
): NumberExtension => {
  const usable = (tenant: Tenant | null, { phoneNumberId }: NumberIdInput) =>
    usableNumber(numbers, tenant, phoneNumberId, seconds)
  return {
    serviceId,
    input: NumberIdInput,
    plan: Schema.Null,
    retryFor: Timestamp.HOUR,
    check: (tenant, input) => Effect.asVoid(usable(tenant, input)),
    prepare: ({ tenant }, input) => Effect.as(usable(tenant, input), null),
    abandon: () => Effect.void,
    revalidate: ({ tenant }, _plan, { phoneNumberId }) =>
      Effect.asVoid(remainingNumber(numbers, tenant, phoneNumberId)),
    record: Effect.fnUntraced(function* ({ operationId, tenant }, _plan, { phoneNumberId }) {
      const number = extend(yield* remainingNumber(numbers, tenant, phoneNumberId))
      const now = yield* Timestamp.now
      yield* numbers.update(number)
      yield* follow(number, operationId, now)
      const live = yield* calls.live(phoneNumberId)
      return { created: false, data: { phoneNumber: toPhoneNumberRecord(number, now, live) } }
    })
  }
}

/** Adds 30 days to the end of a number's entitlement. */
export const numberRenewal = Effect.gen(function* () {
  const events = yield* EventStore
  return extendsNumber(
    yield* PhoneNumberStore,
    yield* CallStore,
    "phone.number.renew.30d",
    0,
    (number) => ({ ...number, ...Allowance.extendEntitlement(number.expiresAt) }),
    (number, operationId) => events.append([PhoneEvent.renewed(number, operationId)])
  )
})

/** Adds 10 minutes of inbound call time to a number. Calls in progress share the new seconds immediately. */
export const inboundMinutes = Effect.zipWith(PhoneNumberStore, CallStore, (numbers, calls) =>
  extendsNumber(
    numbers,
    calls,
    "phone.call.inbound.add.10m",
    Allowance.INBOUND_SECONDS,
    (number) => ({ ...number, allowance: Allowance.extendInbound(number.allowance) }),
    (number, _operationId, now) => reserveAllowance(calls, number, now)
  )
)

/**
 * Adds exactly 60 seconds to a call that is in progress, inbound or outbound. The seconds of an inbound call belong to it
 * alone, beside the allowance that it shares with the other calls of its number.
 *
 * The limit is first extended in the store, once for each operation. Then the carrier receives the limit, and the limit
 * is read again afterwards. So of two concurrent extensions, neither overwrites the other.
 */
export const callExtension = Effect.gen(function* () {
  const calls = yield* CallStore
  const numbers = yield* PhoneNumberStore
  const provider = yield* TelephonyProvider
  const tenants = yield* TenantStore
  const transactor = yield* Transactor

  const check = Effect.fnUntraced(function* (tenant: Tenant | null, { callId }: CallIdInput) {
    const call = yield* ownedCall(calls, tenant, callId)
    const { phoneNumberId } = call
    const endReason = call.endReason ?? call.hangUpReason
    if (endReason === "allowance_exhausted") {
      // No minutes can be bought for a number that is gone.
      yield* usableNumber(numbers, tenant, phoneNumberId)
      return yield* new AllowanceExhausted({ phoneNumberId })
    }
    const deadline = Allowance.deadlineOf(call)
    if (deadline === null || call.hangUpReason !== null) {
      const why = call.state === "ended" || call.hangUpReason !== null ? "has ended" : "is not answered yet"
      return yield* new Conflict({
        message: `The call ${callId} ${why}. Only a call in progress can be extended.`,
        read: { kind: "call", id: callId }
      })
    }
    const number = yield* usableNumber(numbers, tenant, phoneNumberId)
    if (!Allowance.lasts(number, deadline, Allowance.EXTENSION_SECONDS)) {
      return yield* new NumberExpiring({ phoneNumberId })
    }
  })

  const rejected = () =>
    new ProviderError({
      provider: provider.name,
      reason: "Rejected",
      message: "The call ended before it could be extended."
    })

  const extend = ({ operationId, tenant }: OperationContext, callId: string) =>
    transactor.transact(
      Effect.andThen(tenants.lock([tenant.tenantId]), calls.extend(callId, operationId, Allowance.EXTENSION_SECONDS))
    )

  const send = (call: Call) =>
    call.providerCallId === null ? rejected() : sendLimit(calls, provider, call, call.providerCallId)

  const service: PaidService<CallIdInput, null, Call> = {
    serviceId: "phone.call.extend.1m",
    input: CallIdInput,
    plan: Schema.Null,
    // Only a live call can be extended. After 60 s of failures, no time is left to extend.
    retryFor: Allowance.EXTENSION_SECONDS * Timestamp.SECOND,
    check,
    prepare: ({ tenant }, input) => Effect.as(check(tenant, input), null),
    abandon: ({ operationId }) => calls.revokeExtension(operationId),
    perform: Effect.fnUntraced(function* (context, _plan, { callId }) {
      const before = yield* calls.extended(context.operationId)
      if (Option.isSome(before)) return yield* send(before.value)
      yield* requireAttended(context, provider.name, "The extension")
      const extended = yield* extend(context, callId)
      return yield* Option.isSome(extended) ? send(extended.value) : rejected()
    }),
    record: (_context, _plan, _input, call) =>
      Effect.map(Timestamp.now, (now) => ({ created: false, data: { call: toCallRecord(call, now) } }))
  }
  return service
})
