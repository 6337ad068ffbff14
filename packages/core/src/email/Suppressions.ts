import { Context, Effect, Layer } from "effect"
import type { Page, PageRequest } from "../kernel/Page.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { foldAddress } from "./EmailAddress.ts"
import { DEFAULT_SUPPRESSION_LIMIT } from "./EmailInput.ts"
import { MessageStore, type Suppression } from "./MessageStore.ts"

/** The addresses that a tenant may no longer write to, for the tenant and the operator. */
export class Suppressions extends Context.Service<
  Suppressions,
  {
    /** Returns the suppressions by address. The cursor of a page is its last address. */
    readonly list: (tenantId: TenantId, page: PageRequest) => Effect.Effect<Page<Suppression>>
    /**
     * Lifts the suppression of an address, in any case, and returns whether it was suppressed. Later mail to it may
     * bounce again, which suppresses it again. What counts towards a pause stays counted.
     */
    readonly lift: (tenantId: TenantId, address: string) => Effect.Effect<boolean>
  }
>()("@agentos/core/email/Suppressions") {
  static readonly layer = Layer.effect(
    Suppressions,
    Effect.gen(function* () {
      const messages = yield* MessageStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      return Suppressions.of({
        list: Effect.fnUntraced(function* (tenantId, { cursor, limit = DEFAULT_SUPPRESSION_LIMIT }) {
          const found = yield* messages.listSuppressions(tenantId, cursor, limit + 1)
          const items = found.slice(0, limit)
          return { items, nextCursor: found.length > limit ? (items.at(-1)?.address ?? null) : null }
        }),
        // Under the lock, so that a report that is being applied does not suppress by state that it read before.
        lift: (tenantId, address) =>
          transactor.transact(
            Effect.andThen(tenants.lock([tenantId]), messages.liftSuppression(tenantId, foldAddress(address)))
          )
      })
    })
  )
}
