import { Context, Effect, Layer } from "effect"
import { ProviderUnwell } from "../kernel/ProviderError.ts"
import { NumberReleased, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import * as Entitlement from "./Entitlement.ts"
import * as NumberRelease from "./NumberRelease.ts"
import { ownedNumber } from "./OwnedNumber.ts"
import type { PhoneNumber } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"

/** The delay after which a client may retry a release that the carrier has not confirmed. */
const RELEASE_RETRY_SECONDS = 5

/** The free operations of a tenant on its numbers. */
export class Numbers extends Context.Service<
  Numbers,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /**
     * Releases a number permanently, after ending its live calls. The number can't be used from the start of the
     * release. If the carrier does not confirm, fails with `ProviderUnwell`; the client may retry, and a job completes
     * the release.
     */
    readonly release: (
      tenant: Tenant,
      phoneNumberId: string
    ) => Effect.Effect<PhoneNumber, ResourceNotFound | ResourceNotOwned | NumberReleased | ProviderUnwell>
  }
>()("@agentos/core/phone/Numbers") {
  static readonly layer = Layer.effect(
    Numbers,
    Effect.gen(function* () {
      const numbers = yield* PhoneNumberStore
      const releasing = yield* NumberRelease.make
      return Numbers.of({
        list: ({ tenantId }) => numbers.list(tenantId),
        release: Effect.fnUntraced(function* (tenant, phoneNumberId) {
          const number = yield* ownedNumber(numbers, tenant, phoneNumberId)
          const isBegun = number.state === "suspended" && number.suspension === "release_requested"
          if (!isBegun && !Entitlement.isUsable(number, yield* Timestamp.now)) {
            return yield* new NumberReleased({ phoneNumberId })
          }
          const [suspended] = isBegun ? [number] : yield* releasing.suspend([number], "release_requested")
          if (suspended === undefined) return yield* new NumberReleased({ phoneNumberId })
          return yield* Effect.mapError(
            releasing.giveBack(suspended),
            ({ message }) =>
              new ProviderUnwell({
                message: `The number is out of use, and the carrier has not taken it back yet: ${message}`,
                retryAfterSeconds: RELEASE_RETRY_SECONDS
              })
          )
        })
      })
    })
  )
}
