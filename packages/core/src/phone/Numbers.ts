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

/** When a client is told to ask again whose release the carrier has not confirmed. */
const RELEASE_RETRY_SECONDS = 5

/** What a tenant does with its numbers for free. */
export class Numbers extends Context.Service<
  Numbers,
  {
    readonly list: (tenant: Tenant) => Effect.Effect<ReadonlyArray<PhoneNumber>>
    /**
     * Gives a number back, for good: its live calls are ended first. It is out of use from the first moment on; where
     * the carrier does not confirm, it fails with `ProviderUnwell`, may be repeated, and is done in the background.
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
