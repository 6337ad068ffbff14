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

/** The tenant's own number, whatever has become of it. A paid service that needs one is never offered without a tenant. */
export const ownedNumber = (
  store: Store,
  tenant: Tenant | null,
  phoneNumberId: string
): Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned> =>
  tenant === null
    ? Effect.die(new Error("a service on a number was called without a tenant"))
    : Effect.flatMap(store.find(tenant.tenantId, phoneNumberId), (found) => orFail(found, "number", phoneNumberId))

/** The tenant's own number, which can be used now for something that takes so many seconds. */
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
 * The number that was paid for, or `ResourceGone`. It counts as there as long as nobody has suspended it: what was paid
 * for in time is done, even where the time runs out over the payment.
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
