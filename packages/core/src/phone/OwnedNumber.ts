import { Effect } from "effect"
import { orFail } from "../kernel/Lookup.ts"
import {
  NumberExpiring,
  NumberReleased,
  type ResourceNotFound,
  type ResourceNotOwned
} from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { ResourceGone } from "../payment/PaidService.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import * as Entitlement from "./Entitlement.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import type { PhoneNumberStore } from "./PhoneNumberStore.ts"

type Store = PhoneNumberStore["Service"]

/** Returns the tenant's own number in any state. A paid service on a number is never offered without a tenant. */
export const ownedNumber = (
  store: Store,
  tenant: Tenant | null,
  phoneNumberId: string
): Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a number was called without a tenant"))
    : Effect.flatMap(store.find(tenant.tenantId, phoneNumberId), (found) => orFail(found, "number", phoneNumberId))

/** Returns the tenant's own number if it is usable now and for the next `seconds` seconds. */
export const usableNumber = Effect.fnUntraced(function* (
  store: Store,
  tenant: Tenant | null,
  phoneNumberId: string,
  seconds = 0
): Effect.fn.Return<PhoneNumber, ResourceNotFound | ResourceNotOwned | NumberReleased | NumberExpiring> {
  const number = yield* ownedNumber(store, tenant, phoneNumberId)
  const now = yield* Timestamp.now
  if (!Entitlement.isUsable(number, now)) return yield* new NumberReleased({ phoneNumberId })
  return Entitlement.outlasts(number, now, seconds * Timestamp.SECOND)
    ? number
    : yield* new NumberExpiring({ phoneNumberId })
})

/**
 * Returns the number that was paid for, or fails with `ResourceGone`. The number counts as available until it is
 * suspended: an operation that was paid in time is performed even if the entitlement ends during the payment.
 */
export const remainingNumber = Effect.fnUntraced(function* (
  store: Store,
  tenant: Tenant,
  phoneNumberId: string
): Effect.fn.Return<PhoneNumber, ResourceGone> {
  const number = yield* Effect.mapError(ownedNumber(store, tenant, phoneNumberId), gone)
  return number.state === "active" ? number : yield* gone()
})

const gone = () =>
  new ResourceGone({ message: "The number was given back, or its time was over, before this could be done." })
