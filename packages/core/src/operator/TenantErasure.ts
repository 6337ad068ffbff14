import { Context, Effect, Layer } from "effect"
import { Conflict, type ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { TenantId, WalletAddress } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { recordBeginning, recordChange } from "./Audit.ts"
import { suspensionOf } from "./TenantAdministration.ts"
import { requireNamedTenant } from "./TenantDirectory.ts"
import { type ErasureObstacles, type TenantContents, TenantErasureStore } from "./TenantErasureStore.ts"

/** The reason of the suspension of an erased tenant. */
export const ERASED = "Erased."

/** Rows of each kind that one transaction erases. */
const BATCH = 500
/** How long another server may continue to admit a tenant after its suspension. */
const SUSPENSION_DELAY = 5 * Timestamp.SECOND

/** The result of an erasure, or of a dry run. */
export interface ErasureReport {
  readonly tenantId: TenantId
  readonly wallet: WalletAddress
  readonly erased: boolean
  readonly contents: TenantContents
  readonly obstacles: ErasureObstacles
}

/** Erases the content and the personal data of tenants, and keeps the ledger. */
export class TenantErasure extends Context.Service<
  TenantErasure,
  {
    /** Returns what an erasure would erase, and what prevents it. Changes nothing. */
    readonly preview: (tenant: string) => Effect.Effect<ErasureReport, ResourceNotFound>
    /**
     * Suspends a tenant, revokes its tokens, and erases it in bounded transactions. It is permanent. Fails with `Conflict`, and
     * erases nothing more, while money, numbers, calls or mail are under way; a repeated call continues.
     */
    readonly erase: (tenant: string) => Effect.Effect<ErasureReport, ResourceNotFound | Conflict>
  }
>()("@agentos/core/operator/TenantErasure") {
  static readonly layer = Layer.effect(
    TenantErasure,
    Effect.gen(function* () {
      const store = yield* TenantErasureStore
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const preview = Effect.fnUntraced(function* (name: string) {
        const { tenantId, wallet } = yield* requireNamedTenant(tenants, name)
        const contents = yield* store.countContents(tenantId)
        return { tenantId, wallet, erased: false, contents, obstacles: yield* store.findObstacles(tenantId) }
      })

      const requireNone = (tenantId: TenantId) =>
        Effect.flatMap(store.findObstacles(tenantId), (obstacles) => {
          const message = describe(obstacles)
          return message === undefined ? Effect.void : Effect.fail(new Conflict({ message }))
        })

      return TenantErasure.of({
        preview,
        erase: Effect.fnUntraced(function* (name) {
          const before = yield* preview(name)
          const { tenantId, wallet } = before
          yield* requireNone(tenantId)
          const suspended = yield* transact(
            Effect.gen(function* () {
              const [tenant] = yield* tenants.lock([tenantId])
              const at = tenant?.suspension?.at ?? (yield* Timestamp.now)
              yield* tenants.revokeTokens(tenantId)
              const suspension = { at, reason: ERASED }
              yield* tenants.setSuspension(tenantId, suspension)
              yield* recordBeginning("tenant.begin-erasure", suspensionOf(tenant?.suspension), {
                ...suspensionOf(suspension),
                tokens: "revoked"
              })
              return at
            })
          )
          yield* Effect.sleep(Math.max(0, suspended + SUSPENSION_DELAY - (yield* Timestamp.now)))
          const batch = transact(
            Effect.gen(function* () {
              const [tenant] = yield* tenants.lock([tenantId])
              if (tenant?.suspension === undefined) return yield* new Conflict({ message: RESUMED })
              yield* requireNone(tenantId)
              const rows = yield* store.erase({ tenantId, wallet }, BATCH)
              if (rows === 0) yield* recordChange(before.contents, { erased: true })
              return rows
            })
          )
          yield* Effect.repeat(batch, { until: (rows) => rows === 0 })
          yield* Effect.logWarning(`tenant ${tenantId} erased by the operator`)
          return { ...before, erased: true }
        })
      })
    })
  )
}

const RESUMED = "The tenant was resumed during its erasure. Repeat the erasure to continue it."

const describe = ({ liveCalls, numbers, openOperations, waitingMails }: ErasureObstacles): string | undefined => {
  const parts = [
    ...(openOperations > 0 ? [`${openOperations} open operations`] : []),
    ...(numbers > 0 ? [`${numbers} numbers that are not released`] : []),
    ...(liveCalls > 0 ? [`${liveCalls} live calls`] : []),
    ...(waitingMails > 0 ? [`${waitingMails} mails that are not delivered`] : [])
  ]
  if (parts.length === 0) return undefined
  return `The tenant has ${parts.join(", ")}. Suspend it, wait until these have ended, then repeat the erasure.`
}
