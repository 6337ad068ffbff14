import { Effect } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import { ProviderError } from "../kernel/ProviderError.ts"
import {
  NumberExpiring,
  NumberReleased,
  type ResourceNotFound,
  type ResourceNotOwned
} from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type OperationContext, ResourceGone } from "../payment/PaidService.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import * as Allowance from "./Allowance.ts"
import type { Call } from "./Call.ts"
import type { CallStore } from "./CallStore.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import type { PhoneNumberStore } from "./PhoneNumberStore.ts"

type Numbers = PhoneNumberStore["Service"]

/** Returns the tenant's own call. A paid service on a call is never offered without a tenant. */
export const ownedCall = (
  calls: CallStore["Service"],
  tenant: Tenant | null,
  callId: string
): Effect.Effect<Call, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a call was called without a tenant"))
    : Effect.flatMap(calls.find(tenant.tenantId, callId), (found) => orFail(found, "call", callId))

/** Returns the tenant's own number in any state. A paid service on a number is never offered without a tenant. */
export const ownedNumber = (
  numbers: Numbers,
  tenant: Tenant | null,
  phoneNumberId: string
): Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a number was called without a tenant"))
    : Effect.flatMap(numbers.find(tenant.tenantId, phoneNumberId), (found) => orFail(found, "number", phoneNumberId))

/** Returns the tenant's own number if it is usable now and for the next `seconds` seconds. */
export const usableNumber = Effect.fnUntraced(function* (
  numbers: Numbers,
  tenant: Tenant | null,
  phoneNumberId: string,
  seconds = 0
): Effect.fn.Return<PhoneNumber, ResourceNotFound | ResourceNotOwned | NumberReleased | NumberExpiring> {
  const number = yield* ownedNumber(numbers, tenant, phoneNumberId)
  const now = yield* Timestamp.now
  if (!Allowance.isUsable(number, now)) return yield* new NumberReleased({ phoneNumberId, country: number.country })
  return Allowance.lasts(number, now, seconds) ? number : yield* new NumberExpiring({ phoneNumberId })
})

/**
 * Returns the number that was paid for, or fails with `ResourceGone`. The number counts as available until it is
 * suspended: an operation that was paid in time is performed even if the entitlement ends during the payment.
 */
export const remainingNumber = Effect.fnUntraced(function* (
  numbers: Numbers,
  tenant: Tenant,
  phoneNumberId: string
): Effect.fn.Return<PhoneNumber, ResourceGone> {
  const gone = () =>
    new ResourceGone({ message: "The number was released or expired before the operation could complete." })
  const number = yield* Effect.mapError(ownedNumber(numbers, tenant, phoneNumberId), gone)
  return number.state === "active" ? number : yield* gone()
})

/** How long after its claim an operation without a request still waits for the client to retry. */
const RETURN_WITHIN = 30 * Timestamp.SECOND

/**
 * Succeeds if a request is waiting for the operation. Otherwise it fails with `Temporary` while the client may still
 * retry (`RETURN_WITHIN` after the claim), and then with `Rejected`, so that the payment is refunded.
 */
export const requireAttended = Effect.fnUntraced(function* (
  { attended, createdAt }: OperationContext,
  provider: string,
  what: string
): Effect.fn.Return<void, ProviderError> {
  if (attended) return
  const mayReturn = (yield* Timestamp.now) < Timestamp.add(createdAt, RETURN_WITHIN)
  return yield* mayReturn
    ? new ProviderError({
        provider,
        reason: "Temporary",
        message: `${what} waits until its request is repeated.`
      })
    : new ProviderError({
        provider,
        reason: "Rejected",
        message: `${what} was not made, because its request had ended.`
      })
})
